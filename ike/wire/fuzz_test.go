package wire

import (
	"errors"
	"testing"

	"github.com/ipsecd/ipsecd/ike/iketest/corpus"
)

// seeds are bodies of every payload, and messages.
func seeds(f *testing.F, add func(typ PayloadType, body []byte)) {
	for _, v := range vectors {
		add(v.payload.Type(), unhex(f, v.body))
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add(unhex(f, capturedSAInit))
	seeds(f, func(typ PayloadType, body []byte) { f.Add(inMessage(typ, body)) })
	for _, in := range corpus.All() {
		if in.Stage == corpus.Clear {
			f.Add(in.Data)
		}
	}
	for _, a := range ciphers(f) {
		all, err := SealFragments(sealedHeader, a, testRand{}, 300, sealedPayloads(400)...)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(all[0])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMessage(data, Limits{})
		var critical *UnsupportedCriticalError
		if err != nil && !errors.As(err, &critical) {
			return
		}
		if e := m.Encrypted; e != nil {
			if len(e.AAD)+len(e.Body) != len(data) || e.IsFragment() && (e.Fragment == 0 || e.Fragment > e.Total) {
				t.Fatalf("encrypted payload %+v of %d octets", e, len(data))
			}
			return
		}
		again, err := AppendMessage(nil, m.Header, m.Payloads...)
		if err != nil {
			t.Fatalf("what was parsed cannot be built: %v", err)
		}
		// Only reserved bits and the count in a Delete of IKE may differ.
		if len(again) != len(data) {
			t.Fatalf("built again %x\nparsed      %x", again, data)
		}
		m2, err := ParseMessage(again, Limits{})
		if err != nil && !errors.As(err, &critical) {
			t.Fatalf("what was built does not parse: %v", err)
		}
		if d := diff(m, m2); d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzParsePayloads(f *testing.F) {
	seeds(f, func(typ PayloadType, body []byte) { f.Add(byte(typ), inMessage(typ, body)[HeaderLen:]) })
	for _, in := range corpus.All() {
		if in.Stage != corpus.Clear {
			f.Add(in.First, in.Data)
		}
	}
	f.Fuzz(func(t *testing.T, first byte, body []byte) {
		payloads, err := ParsePayloads(PayloadType(first), body, Limits{})
		var critical *UnsupportedCriticalError
		if err != nil && !errors.As(err, &critical) {
			return
		}
		again, err := AppendPayloads(nil, payloads...)
		if err != nil {
			t.Fatalf("what was parsed cannot be built: %v", err)
		}
		payloads2, err := ParsePayloads(FirstType(payloads), again, Limits{})
		if err != nil && !errors.As(err, &critical) {
			t.Fatalf("what was built does not parse: %v", err)
		}
		if d := diff(payloads, payloads2); d != "" {
			t.Fatal(d)
		}
	})
}

// transparent is a cipher without a key, so that fuzzing reaches what lies behind it.
type transparent struct{ *gcm }

func (transparent) Open(dst, _, ciphertext, _ []byte) ([]byte, error) {
	return append(dst, ciphertext[:len(ciphertext)-16]...), nil
}

func FuzzOpen(f *testing.F) {
	for _, a := range ciphers(f) {
		data, err := Seal(nil, sealedHeader, a, testRand{}, sealedPayloads(20)...)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	keyed := ciphers(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMessage(data, Limits{})
		if err != nil || m.Encrypted == nil {
			return
		}
		for _, a := range keyed {
			if _, err := Open(nil, m.Encrypted, a); err != nil && !errors.Is(err, ErrDecrypt) {
				t.Fatalf("error %v is not ErrDecrypt", err)
			}
		}
		plaintext, err := Open(nil, m.Encrypted, transparent{})
		if err != nil {
			return
		}
		if most := len(m.Encrypted.Body) - 8 - 16 - 1; len(plaintext) > most {
			t.Fatalf("%d octets of plaintext, at most %d are possible", len(plaintext), most)
		}
		if whole := Unencrypted(m.Encrypted.AAD, plaintext); len(whole) > len(m.Encrypted.AAD)+len(plaintext) {
			t.Fatalf("%d octets to authenticate of a message of %d", len(whole), len(data))
		}
		_, _ = ParsePayloads(m.Encrypted.First, plaintext, Limits{})
	})
}

// FuzzReassembler reads script as a sequence of fragments, three octets each:
// number, total, length of the piece.
func FuzzReassembler(f *testing.F) {
	f.Add([]byte{1, 2, 10, 2, 2, 5})
	f.Add([]byte{2, 2, 10, 1, 2, 5, 2, 2, 1})
	f.Add([]byte{1, 2, 10, 3, 3, 5, 2, 3, 5, 2, 2, 9, 1, 3, 0})
	f.Add([]byte{1, 255, 255, 0, 0, 0, 3, 2, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		r := Reassembler{Limits: Limits{MaxFragments: 200, MaxReassembled: 5000}}
		// The model: what a correct receiver has of the message with the largest total.
		have, total := map[uint16]byte{}, uint16(0)
		for ; len(script) >= 3; script = script[3:] {
			number, of, size := uint16(script[0]), uint16(script[1]), script[2]
			m := &Message{Header: sealedHeader, Encrypted: &Encrypted{First: PayloadNonce, Fragment: number, Total: of}}
			_, seen := have[number]
			complete := total > 0 && len(have) == int(total)
			want := number >= 1 && number <= of && of <= 200 && of >= total && !complete && (of > total || !seen)
			if got := r.Wants(m); got != want {
				t.Fatalf("Wants %d of %d is %v, having %v of %d", number, of, got, have, total)
			}
			done, err := r.Add(m, make([]byte, size))
			if !want {
				if done || err != nil {
					t.Fatalf("unwanted fragment: done %v, error %v", done, err)
				}
				continue
			}
			if of > total {
				have, total = map[uint16]byte{}, of
			}
			have[number] = size
			sum := 0
			for _, n := range have {
				sum += int(n)
			}
			if sum > 5000 {
				if err == nil {
					t.Fatalf("%d octets accepted", sum)
				}
				have, total = map[uint16]byte{}, 0
				continue
			}
			if done != (len(have) == int(total)) || err != nil {
				t.Fatalf("done %v, error %v, having %v of %d", done, err, have, total)
			}
			if _, plaintext, ok := r.Payload(); ok != done || done && len(plaintext) != sum {
				t.Fatalf("payload of %d octets, %v; want %d, %v", len(plaintext), ok, sum, done)
			}
		}
	})
}
