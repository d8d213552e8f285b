package suite

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

func TestCipherVectors(t *testing.T) {
	for _, v := range cipherVectors {
		c, iv, aad := v.new(t), unhex(t, v.iv), unhex(t, v.aad)
		if len(iv) != c.IVLen() {
			t.Errorf("%s: IV of %d octets, want %d", v.name, c.IVLen(), len(iv))
		}
		prefix := []byte("header")
		sealed := c.Seal(prefix, iv, v.plain(t), aad)
		if !bytes.HasPrefix(sealed, prefix) {
			t.Errorf("%s: Seal did not append", v.name)
		}
		sealed = sealed[len(prefix):]
		n := len(sealed) - c.ICVLen()
		wantBytes(t, v.name+": ciphertext", sealed[:n], unhex(t, v.ciphertext))
		if !v.icvIsNotPrinted {
			wantBytes(t, v.name+": ICV", sealed[n:], unhex(t, v.icv))
		}
		opened, err := c.Open(nil, iv, sealed, aad)
		if err != nil {
			t.Errorf("%s: Open: %v", v.name, err)
		}
		wantBytes(t, v.name+": plaintext", opened, v.plain(t))
	}
}

// RFC 7296, 3.14: the ICV of encrypt-then-MAC covers the message from its first octet to the end of the ciphertext. Its
// lengths are those of RFC 2404 and RFC 4868.
func TestEncryptThenMACCoversEverything(t *testing.T) {
	for _, v := range []struct {
		integ  string
		prf    uint16
		octets int
	}{{"sha1", PRFHMACSHA1, 12}, {"sha256", PRFHMACSHA256, 16}, {"sha384", PRFHMACSHA384, 24}, {"sha512", PRFHMACSHA512, 32}} {
		integ := tr(t, v.integ)
		f := mustPRF(t, v.prf)
		ak := NewKey(bytes.Repeat([]byte{9}, f.Size()))
		for _, encr := range []string{"aes256", "aes256ctr"} {
			_, n, _ := lookupEncr(tr(t, encr))
			c, err := NewCipher(tr(t, encr), integ, NewKey(make([]byte, n)), ak)
			if err != nil {
				t.Fatal(err)
			}
			iv, aad := bytes.Repeat([]byte{5}, c.IVLen()), []byte("IKE header and payload header")
			sealed := c.Seal(nil, iv, make([]byte, 32), aad)
			body, icv := sealed[:32], sealed[32:]
			wantBytes(t, encr+"-"+v.integ, icv, f.Sum(ak, aad, iv, body)[:v.octets])
		}
	}
}

func TestOpenRefusesAnyChange(t *testing.T) {
	for _, v := range cipherVectors {
		c, iv, aad := v.new(t), unhex(t, v.iv), []byte("header")
		sealed := c.Seal(nil, iv, v.plain(t), aad)
		flip := func(what string, b []byte) {
			for i := range b {
				b[i] ^= 0x10
				if _, err := c.Open(nil, iv, sealed, aad); !errors.Is(err, ErrICV) {
					t.Errorf("%s: octet %d of %s changed, Open says %v", v.name, i, what, err)
				}
				b[i] ^= 0x10
			}
		}
		flip("the message", sealed)
		flip("the IV", iv)
		flip("the header", aad)
		for n := range sealed {
			if _, err := c.Open(nil, iv, sealed[:n], aad); !errors.Is(err, ErrICV) {
				t.Errorf("%s: cut to %d octets, Open says %v", v.name, n, err)
			}
		}
		if _, err := c.Open(nil, iv[1:], sealed, aad); !errors.Is(err, ErrICV) {
			t.Errorf("%s: short IV: %v", v.name, err)
		}
	}
}

// A peer with the right keys that sends what is no whole number of blocks fails its message, not the process.
func TestCBCOfBrokenLength(t *testing.T) {
	v := cipherVectors[7]
	c := v.new(t).(*cbcCipher)
	iv := unhex(t, v.iv)
	body := []byte("fifteen octets!")
	if _, err := c.Open(nil, iv, append(body, c.sum(nil, iv, body)...), nil); !errors.Is(err, ErrICV) {
		t.Errorf("Open says %v", err)
	}
}

func TestSealAndOpenInPlace(t *testing.T) {
	for _, v := range cipherVectors {
		c, iv := v.new(t), unhex(t, v.iv)
		want := c.Seal(nil, iv, v.plain(t), nil)
		buf := append(make([]byte, 0, 512), v.plain(t)...)
		sealed := c.Seal(buf[:0], iv, buf, nil)
		wantBytes(t, v.name+" sealed", sealed, want)
		opened, err := c.Open(sealed[:0], iv, sealed, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantBytes(t, v.name+" opened", opened, v.plain(t))
	}
}

func TestNextIV(t *testing.T) {
	for _, v := range cipherVectors {
		c := v.new(t)
		seen := map[string]bool{}
		for range 1000 {
			iv, err := c.NextIV(rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			if len(iv) != c.IVLen() || seen[string(iv)] {
				t.Fatalf("%s: IV %x has a wrong length or came twice", v.name, iv)
			}
			seen[string(iv)] = true
		}
	}
}

func TestCounterIVEnds(t *testing.T) {
	c := counterIV{next: 1<<64 - 1}
	iv, err := c.NextIV(nil)
	if err != nil || binary.BigEndian.Uint64(iv) != 1<<64-1 {
		t.Fatalf("last IV: %x, %v", iv, err)
	}
	if iv, err := c.NextIV(nil); err == nil {
		t.Errorf("the counter wrapped to %x", iv)
	}
}

func TestCBCNextIVNeedsRandomness(t *testing.T) {
	broken := errors.New("no entropy")
	if _, err := cipherVectors[7].new(t).NextIV(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("NextIV says %v", err)
	}
}

func TestNewCipherRefuses(t *testing.T) {
	k := func(n int) Key { return NewKey(make([]byte, n)) }
	for _, v := range []struct {
		encr, integ         string
		encrBytes, macBytes int
		say                 string
	}{
		{"null", "sha256", 0, 32, "must not protect IKE"},
		{"aes128gmac", "", 20, 0, "must not protect IKE"},
		{"aes128gcm16", "", 16, 0, "takes keys of 20"},
		{"aes128gcm16", "", 20, 32, "takes keys of 20 and 0"},
		{"aes128gcm16", "sha256", 20, 32, "own integrity"},
		{"aes256", "sha256", 16, 32, "takes keys of 32 and 32"},
		{"aes256", "", 32, 0, "integrity"},
	} {
		integ := Transform{}
		if v.integ != "" {
			integ = tr(t, v.integ)
		}
		_, err := NewCipher(tr(t, v.encr), integ, k(v.encrBytes), k(v.macBytes))
		if err == nil || !strings.Contains(err.Error(), v.say) {
			t.Errorf("%s %s: error %v does not say %q", v.encr, v.integ, err, v.say)
		}
	}
}

// A cipher keeps working after the keys that it was made of are wiped.
func TestCipherOutlivesItsKeys(t *testing.T) {
	for _, v := range cipherVectors {
		ek, ak := key(t, v.key), Key{}
		integ := Transform{}
		if v.integ != "" {
			integ = tr(t, v.integ)
			ak = NewKey(bytes.Repeat([]byte{7}, integAlgs[integ.ID].key))
		}
		c, err := NewCipher(tr(t, v.encr), integ, ek, ak)
		if err != nil {
			t.Fatal(err)
		}
		ek.Wipe()
		ak.Wipe()
		wantBytes(t, v.name, c.Seal(nil, unhex(t, v.iv), v.plain(t), nil), v.new(t).Seal(nil, unhex(t, v.iv), v.plain(t), nil))
	}
}

func BenchmarkSeal(b *testing.B) {
	const octets = 1400
	for _, v := range []cipherVector{cipherVectors[0], cipherVectors[2], cipherVectors[5], cipherVectors[7]} {
		c := v.new(b)
		b.Run(v.encr, func(b *testing.B) {
			iv, plain, dst := make([]byte, c.IVLen()), make([]byte, octets/16*16), make([]byte, 0, 2*octets)
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			for b.Loop() {
				c.Seal(dst, iv, plain, nil)
			}
		})
	}
}
