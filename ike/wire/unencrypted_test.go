package wire

import (
	"bytes"
	"testing"
)

// The layout of RFC 9242 section 3.3.2, figure 1, by hand.
func TestUnencryptedLayout(t *testing.T) {
	h := sealedHeader
	h.Exchange = ExchangeIntermediate
	got, err := AppendUnencrypted([]byte("prefix"), h, &Notify{NotifyType: NotifyInitialContact})
	if err != nil {
		t.Fatal(err)
	}
	// header 28, SK header 4, N payload 8
	want := unhex(t, `1111111111111111 2222222222222222 2e 20 2b 08 00000001 00000028  29 00 000c  00 00 0008 00 00 4000`)
	if !bytes.Equal(got, append([]byte("prefix"), want...)) {
		t.Errorf("got  %x\nwant %x", got[6:], want)
	}
}

// Whatever the form in which a message comes, the receiver authenticates what the sender does.
func TestUnencryptedIsTheSameForEveryForm(t *testing.T) {
	payloads := sealedPayloads(900)
	want, err := AppendUnencrypted(nil, sealedHeader, payloads...)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range ciphers(t) {
		for _, most := range []int{5000, 400, 300} {
			messages, err := SealFragments(sealedHeader, a, testRand{}, most, payloads...)
			if err != nil {
				t.Fatal(err)
			}
			var r Reassembler
			for i := range messages { // the last first
				m, err := ParseMessage(messages[len(messages)-1-i], Limits{})
				if err != nil {
					t.Fatal(err)
				}
				plaintext, err := Open(nil, m.Encrypted, a)
				if err != nil {
					t.Fatal(err)
				}
				if !m.Encrypted.IsFragment() {
					if got := Unencrypted(m.Encrypted.AAD, plaintext); !bytes.Equal(got, want) {
						t.Errorf("%s, whole: got %x\nwant %x", name, got, want)
					}
					continue
				}
				if done, err := r.Add(&m, plaintext); err != nil || done != (i == len(messages)-1) {
					t.Fatal(done, err)
				}
			}
			if len(messages) == 1 {
				continue
			}
			_, plaintext, _ := r.Payload()
			if got := Unencrypted(r.AAD(), plaintext); !bytes.Equal(got, want) {
				t.Errorf("%s, %d fragments: got %x\nwant %x", name, len(messages), got, want)
			}
		}
	}
}

// Payloads in the clear before SKF stay, and the last of them announces SK instead.
func TestUnencryptedAfterPayloadsInTheClear(t *testing.T) {
	aad := unhex(t, `
		1111111111111111 2222222222222222 2b 20 2b 08 00000001 00000041
		29 00 0005 aa                           # V, of one octet
		35 00 0008 00 00 4000                   # N, next SKF
		28 00 0014 0001 0002                    # SKF, next Nonce, fragment 1 of 2`)
	want := unhex(t, `
		1111111111111111 2222222222222222 2b 20 2b 08 00000001 00000031
		29 00 0005 aa
		2e 00 0008 00 00 4000
		28 00 0008
		0badcafe`)
	if got := Unencrypted(aad, unhex(t, "0badcafe")); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}
