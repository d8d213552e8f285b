package wire

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

var sealedHeader = Header{InitiatorSPI: 0x1111111111111111, ResponderSPI: 0x2222222222222222, Exchange: ExchangeAuth, Flags: FlagInitiator, MessageID: 1}

func sealedPayloads(n int) []Payload {
	return []Payload{
		&Identification{PayloadType: PayloadIDi, IDType: IDFQDN, Data: []byte("gw.example")},
		&Certificate{Encoding: CertX509Signature, Data: bytes.Repeat([]byte{0xce}, n)},
	}
}

// The layout of RFC 5282 section 3, taken apart without the package's parser.
func TestSealLayoutAEAD(t *testing.T) {
	a := newGCM(t)
	payload := &Notify{NotifyType: NotifyInitialContact}
	data, err := Seal([]byte("prefix"), sealedHeader, a, nil, payload)
	if err != nil {
		t.Fatal(err)
	}
	data, ok := bytes.CutPrefix(data, []byte("prefix"))
	if !ok {
		t.Fatal("dst was not kept")
	}
	// header 28, SK header 4, IV 8, N payload 8, pad length 1, ICV 16
	const length = 28 + 4 + 8 + 8 + 1 + 16
	head := unhex(t, `1111111111111111 2222222222222222 2e 20 23 08 00000001 00000041  29 00 0025`)
	if len(data) != length || !bytes.Equal(data[:32], head) {
		t.Fatalf("%d octets that begin %x, want %d that begin %x", len(data), data[:32], length, head)
	}
	plaintext, err := a.aead.Open(nil, slices.Concat(a.salt, data[32:40]), data[40:], data[:32])
	if err != nil {
		t.Fatal(err)
	}
	if want := unhex(t, `00 00 0008 00 00 4000  00`); !bytes.Equal(plaintext, want) {
		t.Errorf("plaintext %x, want %x", plaintext, want)
	}
}

// The layout of RFC 7296 section 3.14: the ICV covers everything from the header.
func TestSealLayoutEncryptThenMAC(t *testing.T) {
	a := newCBC(t)
	data, err := Seal(nil, sealedHeader, a, testRand{}, &Notify{NotifyType: NotifyInitialContact})
	if err != nil {
		t.Fatal(err)
	}
	// header 28, SK header 4, IV 16, N payload 8 + padding 7 + pad length 1, ICV 16
	const length = 28 + 4 + 16 + 16 + 16
	if len(data) != length || binary.BigEndian.Uint32(data[24:]) != length || binary.BigEndian.Uint16(data[30:]) != length-28 {
		t.Fatalf("%d octets, want %d: %x", len(data), length, data)
	}
	if want := a.mac(data[:length-16]); !bytes.Equal(data[length-16:], want) {
		t.Errorf("ICV %x, want %x", data[length-16:], want)
	}
	plaintext := make([]byte, 16)
	cipher.NewCBCDecrypter(a.block, data[32:48]).CryptBlocks(plaintext, data[48:64])
	if want := unhex(t, `00 00 0008 00 00 4000  00000000000000 07`); !bytes.Equal(plaintext, want) {
		t.Errorf("plaintext %x, want %x", plaintext, want)
	}
}

func TestSealOpen(t *testing.T) {
	for name, a := range ciphers(t) {
		t.Run(name, func(t *testing.T) {
			for n := range 40 { // every length modulo the block size
				payloads := sealedPayloads(n)
				data, err := Seal(nil, sealedHeader, a, testRand{}, payloads...)
				if err != nil {
					t.Fatal(err)
				}
				m, err := ParseMessage(data, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if m.Header != sealedHeader || m.Encrypted == nil || m.Encrypted.IsFragment() || m.Encrypted.First != PayloadIDi {
					t.Fatalf("parsed %+v", m)
				}
				plaintext, err := Open([]byte("x"), m.Encrypted, a)
				if err != nil || plaintext[0] != 'x' {
					t.Fatalf("opened %x, error %v", plaintext, err)
				}
				got, err := ParsePayloads(m.Encrypted.First, plaintext[1:], Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if d := diff(payloads, got); d != "" {
					t.Fatal(d)
				}
			}
		})
	}
}

// An INFORMATIONAL message without payloads is how liveness is checked.
func TestSealEmpty(t *testing.T) {
	for name, a := range ciphers(t) {
		data, err := Seal(nil, sealedHeader, a, testRand{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := ParseMessage(data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		plaintext, err := Open(nil, m.Encrypted, a)
		if err != nil || len(plaintext) != 0 || m.Encrypted.First != PayloadNone {
			t.Errorf("%s: plaintext %x of type %v, error %v", name, plaintext, m.Encrypted.First, err)
		}
		if payloads, err := ParsePayloads(PayloadNone, plaintext, Limits{}); err != nil || len(payloads) != 0 {
			t.Errorf("%s: %d payloads, error %v", name, len(payloads), err)
		}
	}
}

// The header, all of it, is covered by the ICV.
func TestOpenRejectsEveryChangedBit(t *testing.T) {
	for name, a := range ciphers(t) {
		data, err := Seal(nil, sealedHeader, a, testRand{}, sealedPayloads(5)...)
		if err != nil {
			t.Fatal(err)
		}
		for bit := range 8 * len(data) {
			changed := bytes.Clone(data)
			changed[bit/8] ^= 1 << (bit % 8)
			m, err := ParseMessage(changed, Limits{})
			if err != nil || m.Encrypted == nil {
				continue
			}
			if out, err := Open(nil, m.Encrypted, a); !errors.Is(err, ErrDecrypt) || len(out) != 0 {
				t.Errorf("%s: bit %d: %d octets, error %v", name, bit, len(out), err)
			}
		}
	}
}

func TestOpenRejectsShortAndUnalignedBodies(t *testing.T) {
	for name, a := range ciphers(t) {
		least := a.IVLen() + a.BlockLen() + a.ICVLen()
		for n := range least + 2*a.BlockLen() {
			if n >= least && (n-least)%a.BlockLen() == 0 {
				continue
			}
			e := &Encrypted{AAD: make([]byte, 32), Body: make([]byte, n)}
			if _, err := Open(nil, e, a); !errors.Is(err, errBodyLength) {
				t.Errorf("%s: body of %d octets: error %v", name, n, err)
			}
		}
	}
}

// A peer that holds the keys can still send an impossible pad length.
func TestOpenChecksPadLength(t *testing.T) {
	for name, a := range ciphers(t) {
		for _, c := range []struct {
			padLen byte
			want   int // octets of plaintext, -1 for an error
		}{{0, 15}, {15, 0}, {14, 1}, {16, -1}, {255, -1}} {
			padded := append(bytes.Repeat([]byte{0xee}, 15), c.padLen) // any padding is accepted
			iv, _ := a.NextIV(testRand{})
			e := &Encrypted{AAD: make([]byte, 32)}
			e.Body = a.Seal(bytes.Clone(iv), iv, padded, e.AAD)
			out, err := Open(nil, e, a)
			switch {
			case c.want < 0 && !errors.Is(err, ErrDecrypt):
				t.Errorf("%s: pad length %d of 16: error %v, %d octets", name, c.padLen, err, len(out))
			case c.want >= 0 && (err != nil || len(out) != c.want):
				t.Errorf("%s: pad length %d of 16: error %v, %d octets, want %d", name, c.padLen, err, len(out), c.want)
			}
		}
	}
}

// oddAEAD decrypts to nothing and encrypts to too much.
type oddAEAD struct{ *gcm }

func (oddAEAD) Open(dst, _, _, _ []byte) ([]byte, error) { return dst, nil }
func (oddAEAD) Seal(dst, _, _, _ []byte) []byte          { return append(dst, make([]byte, 100)...) }

func TestCipherThatMiscounts(t *testing.T) {
	a := oddAEAD{newGCM(t)}
	e := &Encrypted{Body: make([]byte, 25)}
	if _, err := Open(nil, e, a); !errors.Is(err, ErrDecrypt) {
		t.Errorf("empty plaintext: error %v", err)
	}
	if _, err := Seal(nil, sealedHeader, a, nil); err == nil || !strings.Contains(err.Error(), "cipher produced") {
		t.Errorf("too long ciphertext: error %v", err)
	}
}

func TestSealErrorsKeepDst(t *testing.T) {
	dst := []byte("dst")
	if out, err := Seal(dst, sealedHeader, newCBC(t), strings.NewReader("short"), sealedPayloads(1)...); !errors.Is(err, io.ErrUnexpectedEOF) || string(out) != "dst" {
		t.Errorf("no IV: %q, error %v", out, err)
	}
	if out, err := Seal(dst, sealedHeader, newGCM(t), nil, &Nonce{}); err == nil || string(out) != "dst" {
		t.Errorf("no nonce: %q, error %v", out, err)
	}
	if out, err := Seal(dst, sealedHeader, newGCM(t), nil, sealedPayloads(65500)...); !errors.Is(err, ErrTooLong) || string(out) != "dst" {
		t.Errorf("64 KiB: %d octets, error %v", len(out), err)
	}
}

// Payloads in the clear before SK are part of the AAD.
func TestPayloadsBeforeEncrypted(t *testing.T) {
	data := appendHeader(nil, sealedHeader, PayloadVendorID)
	data = append(data, unhex(t, `2e 00 0005 77  28 00 000a 010203040506`)...)
	setLength(data, len(data))
	m, err := ParseMessage(data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if d := diff([]Payload{&VendorID{Data: []byte{0x77}}}, m.Payloads); d != "" {
		t.Error(d)
	}
	want := &Encrypted{First: PayloadNonce, AAD: data[:HeaderLen+5+4], Body: data[HeaderLen+5+4:]}
	if d := diff(want, m.Encrypted); d != "" {
		t.Error(d)
	}
	if m.Encrypted.AAD = append(m.Encrypted.AAD, 0xff); data[HeaderLen+5+4] != 1 {
		t.Error("appending to AAD overwrites the body")
	}
}
