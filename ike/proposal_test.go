package ike

import (
	"testing"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// strange is an attribute that nobody knows.
var strange = []wire.TransformAttribute{{Type: 99, Short: true, Value: []byte{0, 1}}}

// espOffer is one proposal on the wire.
func espOffer(transforms ...wire.Transform) *wire.SA {
	return &wire.SA{Proposals: []wire.Proposal{{Number: 1, Protocol: wire.ProtocolESP, SPI: []byte{1, 2, 3, 4}, Transforms: transforms}}}
}

// RFC 7296 section 3.3.6: a transform with an attribute that is not understood is not chosen, others of its type may be. Where there
// is none, the proposal is refused, rather than taken as one without that type: without PFS, say.
func TestUnknownAttributesInAnOffer(t *testing.T) {
	encr := wire.Transform{Type: wire.TransformENCR, ID: 20, KeyLength: 128} // ENCR_AES_GCM_16
	esn := wire.Transform{Type: wire.TransformSN}
	ke := wire.Transform{Type: wire.TransformKE, ID: 31} // curve25519
	other := wire.Transform{Type: wire.TransformKE, ID: 19}
	with := func(tr wire.Transform) wire.Transform { tr.Unknown = strange; return tr }
	ours := proposals(t, suite.ESP, "aes128gcm16-x25519-ecp256", "aes128gcm16")
	for _, test := range []struct {
		name   string
		offer  *wire.SA
		chosen string
	}{
		{"none", espOffer(encr, ke, other, esn), "aes128gcm16-x25519"},
		{"of one of two groups", espOffer(encr, with(ke), other, esn), "aes128gcm16-ecp256"},
		{"of the only group", espOffer(encr, with(ke), esn), ""},
		{"of ESN", espOffer(encr, ke, with(esn)), ""},
		{"of the cipher", espOffer(with(encr), ke, esn), ""},
	} {
		p, _, err := choose(ours, test.offer, suite.Options{})
		if test.chosen == "" {
			if err == nil {
				t.Errorf("unknown attribute %s: %v was chosen", test.name, p)
			}
			continue
		}
		if want := proposals(t, suite.ESP, test.chosen)[0]; err != nil || p.String() != want.String() {
			t.Errorf("unknown attribute %s: %v, %v; want %v", test.name, p, err, want)
		}
	}
}

// RFC 7296 section 3.3.6: an initiator takes no answer but one proposal of its own, by its number, with transforms as it
// offered them.
func TestVerifyChoice(t *testing.T) {
	offer := proposals(t, suite.ESP, "aes256gcm16-x25519", "aes128gcm16-x25519")
	answer := func(p suite.Proposal, number uint8) *wire.SA { return chosenSA(p, number, []byte{1, 2, 3, 4}) }
	two := answer(offer[0], 1)
	two.Proposals = append(two.Proposals, answer(offer[1], 2).Proposals...)
	attribute := answer(offer[1], 2)
	attribute.Proposals[0].Transforms[0].Unknown = strange
	for _, test := range []struct {
		name   string
		answer *wire.SA
		ok     bool
	}{
		{"the first", answer(offer[0], 1), true},
		{"the last", answer(offer[1], 2), true},
		{"the first, by the last's number", answer(offer[0], 2), false},
		{"number 0", answer(offer[0], 0), false},
		{"a number beyond the last", answer(offer[1], 3), false},
		{"no proposal", &wire.SA{}, false},
		{"both", two, false},
		{"an attribute of its own", attribute, false},
	} {
		p, w, err := verifyChoice(offer, test.answer)
		if ok := err == nil; ok != test.ok {
			t.Errorf("%s: accepted: %v, want %v (%v)", test.name, ok, test.ok, err)
		}
		if err == nil && (w != &test.answer.Proposals[0] || p.String() != offer[w.Number-1].String()) {
			t.Errorf("%s: %v", test.name, p)
		}
	}
}
