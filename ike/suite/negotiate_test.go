package suite

import (
	"errors"
	"strings"
	"testing"
)

// proposals reads a list in swanctl's words.
func proposals(t testing.TB, proto Protocol, list string) []Proposal {
	t.Helper()
	ps, err := ParseProposals(proto, strings.Split(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

func TestNegotiate(t *testing.T) {
	peer, skip := Options{PreferPeer: true}, Options{SkipKE: true}
	for _, v := range []struct {
		name         string
		proto        Protocol
		ours, theirs string
		o            Options
		chosen       string
		index        int
	}{
		{"our order counts", IKE, "aes256gcm16-aes128gcm16-prfsha384-prfsha256-ecp384-ecp256", "aes128gcm16-aes256gcm16-prfsha256-prfsha384-ecp256-ecp384",
			Options{}, "aes256gcm16-prfsha384-ecp384", 0},
		{"the peer's order counts", IKE, "aes256gcm16-aes128gcm16-prfsha384-prfsha256-ecp384-ecp256", "aes128gcm16-aes256gcm16-prfsha256-prfsha384-ecp256-ecp384",
			peer, "aes128gcm16-prfsha256-ecp256", 0},
		{"our first proposal counts", IKE, "aes256gcm16-prfsha256-ecp256,aes128-sha256-ecp256", "aes128-sha256-ecp256,aes256gcm16-prfsha256-ecp256",
			Options{}, "aes256gcm16-prfsha256-ecp256", 1},
		{"the peer's first proposal counts", IKE, "aes256gcm16-prfsha256-ecp256,aes128-sha256-ecp256", "aes128-sha256-ecp256,aes256gcm16-prfsha256-ecp256",
			peer, "aes128-sha256-prfsha256-ecp256", 0},
		{"the group of the KE payload saves a round trip", IKE, "aes128gcm16-prfsha256-ecp256-x25519", "aes128gcm16-prfsha256-x25519-ecp256",
			Options{PreferKE: KEX25519}, "aes128gcm16-prfsha256-x25519", 0},
		{"a KE payload outside our groups changes nothing", IKE, "aes128gcm16-prfsha256-ecp256", "aes128gcm16-prfsha256-x25519-ecp256",
			Options{PreferKE: KEX25519}, "aes128gcm16-prfsha256-ecp256", 0},
		{"defaults meet defaults", IKE, "default", "default", Options{}, "aes128gcm16-prfsha256-ecp256", 0},
		{"key lengths are told apart", ESP, "aes256-sha256", "aes128-aes256-sha256", Options{}, "aes256-sha256", 0},
		{"ESN", ESP, "aes128gcm16-esn-noesn", "aes128gcm16-noesn-esn", Options{}, "aes128gcm16-esn", 0},
		{"PFS", ESP, "aes128gcm16-ecp256", "aes128gcm16-x25519-ecp256", Options{}, "aes128gcm16-ecp256", 0},
		{"PFS in IKE_AUTH is left for later", ESP, "aes128gcm16-ecp256", "aes128gcm16", skip, "aes128gcm16", 0},
		{"a group in IKE_AUTH is ignored", ESP, "aes128gcm16", "aes128gcm16-modp2048", skip, "aes128gcm16", 0},
		{"optional PFS", ESP, "aes128gcm16-ecp256-none", "aes128gcm16", Options{}, "aes128gcm16", 0},
		{"optional PFS of the peer", ESP, "aes128gcm16", "aes128gcm16-ecp256-none", Options{}, "aes128gcm16-none", 0},
		{"AH", AH, "sha256-sha512", "sha512", Options{}, "sha512", 0},
	} {
		chosen, index, err := Negotiate(proposals(t, v.proto, v.ours), proposals(t, v.proto, v.theirs), v.o)
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
			continue
		}
		if chosen.String() != v.chosen || index != v.index {
			t.Errorf("%s: chose %s of proposal %d, want %s of %d", v.name, chosen, index, v.chosen, v.index)
		}
	}
}

func TestMismatchSaysWhatToChange(t *testing.T) {
	for _, v := range []struct {
		proto        Protocol
		ours, theirs string
		o            Options
		say          string
	}{
		{IKE, "aes128-sha256-ecp256-x25519", "aes128-sha256-modp1024", Options{},
			"no common DH group: peer offers modp1024; we allow ecp256, x25519"},
		{IKE, "aes128-sha256-ecp256,aes128gcm16-prfsha256-ecp256", "aes256-sha256-ecp256", Options{},
			"no common encryption algorithm: peer offers aes256; we allow aes128"},
		{IKE, "aes128-sha256-ecp256", "aes128-sha1-prfsha256-ecp256", Options{},
			"no common integrity algorithm: peer offers sha1; we allow sha256"},
		{IKE, "aes128gcm16-prfsha256-ecp256", "aes128gcm16-prfsha384-ecp256", Options{},
			"no common PRF: peer offers prfsha384; we allow prfsha256"},
		// Two of a kind join their lists.
		{IKE, "aes128gcm16-prfsha256-ecp256,aes256gcm16-prfsha256-ecp384", "aes128gcm16-aes256gcm16-prfsha256-modp2048", Options{},
			"no common DH group: peer offers modp2048; we allow ecp256, ecp384"},
		// All that keeps the closest pair apart is named.
		{IKE, "aes128-sha256-ecp256", "aes128-sha1-modp1024", Options{},
			"no common integrity algorithm: peer offers sha1; we allow sha256; no common PRF: peer offers prfsha1; we allow prfsha256; no common DH group: peer offers modp1024; we allow ecp256"},
		{ESP, "aes128gcm16-ecp256", "aes128gcm16", Options{}, "no common DH group: peer offers none; we allow ecp256"},
		{ESP, "aes128gcm16", "aes128gcm16-ecp256", Options{}, "no common DH group: peer offers ecp256; we allow none"},
		{ESP, "aes128gcm16-esn", "aes128gcm16", Options{}, "no common ESN mode: peer offers noesn; we allow esn"},
	} {
		_, _, err := Negotiate(proposals(t, v.proto, v.ours), proposals(t, v.proto, v.theirs), v.o)
		var mismatch *MismatchError
		if !errors.As(err, &mismatch) || err.Error() != v.say {
			t.Errorf("%s against %s\n got %v\nwant %s", v.ours, v.theirs, err, v.say)
		}
	}
}

func TestNegotiateOddOffers(t *testing.T) {
	classic, aead := proposals(t, IKE, "aes128-sha256-ecp256"), proposals(t, IKE, "aes128gcm16-prfsha256-ecp256")
	without := func(p Proposal, typ TransformType) []Proposal { return []Proposal{p.without(typ)} }
	with := func(p Proposal, ts ...Transform) []Proposal {
		return []Proposal{{p.Protocol, append(append([]Transform{}, p.Transforms...), ts...)}}
	}
	for _, v := range []struct {
		name         string
		ours, theirs []Proposal
		say          string
	}{
		{"IKE without DH (CVE-2016-5391)", classic, without(classic[0], KE), "DH group: peer offers none"},
		{"IKE with DH group NONE", classic, with(classic[0].without(KE), Transform{Type: KE}), "DH group: peer offers none"},
		{"IKE without PRF", aead, without(aead[0], PRF), "PRF: peer offers none"},
		{"a cipher without integrity", classic, without(classic[0], INTEG), "integrity algorithm: peer offers none"},
		{"a cipher with integrity NONE", classic, with(classic[0].without(INTEG), Transform{Type: INTEG}), "integrity algorithm"},
		{"a transform type unknown here", classic, with(classic[0], Transform{Type: 13, ID: 35}), "transform of type 13: peer offers TYPE_13_35"},
		{"a KE group outside our list", classic, with(classic[0].without(KE), Transform{Type: KE, ID: 24}), "peer offers KE_24"},
		{"AES without key length", classic, with(classic[0].without(ENCR), Transform{Type: ENCR, ID: EncrAESCBC}), "peer offers ENCR_12"},
		{"another protocol", classic, proposals(t, ESP, "aes128-sha256"), "peer offers no IKE proposal"},
		{"nothing", classic, nil, "peer offers no IKE proposal"},
	} {
		_, _, err := Negotiate(v.ours, v.theirs, Options{})
		if err == nil || !strings.Contains(err.Error(), v.say) {
			t.Errorf("%s: error %v does not say %q", v.name, err, v.say)
		}
	}

	// RFC 7296, 3.3.3: integrity NONE beside an AEAD means the same as none at all; one of each offered type is returned.
	chosen, _, err := Negotiate(aead, with(aead[0], Transform{Type: INTEG}), Options{})
	if err != nil || len(chosen.Of(INTEG)) != 1 || chosen.Suite().Integ != (Transform{}) {
		t.Errorf("AEAD with NONE: %v, %v", chosen, err)
	}
	// A later proposal is taken where an earlier one cannot be understood.
	_, index, err := Negotiate(classic, append(with(classic[0], Transform{Type: 13, ID: 35}), classic...), Options{})
	if err != nil || index != 1 {
		t.Errorf("chose proposal %d, %v", index, err)
	}
	// An offer without ESN transform means plain sequence numbers, and the answer does not invent one.
	esp := proposals(t, ESP, "aes128gcm16")
	chosen, _, err = Negotiate(esp, without(esp[0], ESN), Options{})
	if err != nil || len(chosen.Transforms) != 1 {
		t.Errorf("ESP without ESN: %v, %v", chosen, err)
	}
}

func TestVerify(t *testing.T) {
	ike := proposals(t, IKE, "aes256gcm16-aes128gcm16-prfsha384-prfsha256-ecp384-ecp256")[0]
	esp := proposals(t, ESP, "aes128-sha256-x25519-none-esn-noesn")[0]
	answer := func(proto Protocol, words ...string) Proposal {
		p := Proposal{Protocol: proto}
		for _, w := range words {
			p.Transforms = append(p.Transforms, tr(t, w))
		}
		return p
	}
	for _, v := range []struct {
		offer, answer Proposal
		want          string
	}{
		{ike, answer(IKE, "ecp256", "aes128gcm16", "prfsha384"), "aes128gcm16-prfsha384-ecp256"},
		{esp, answer(ESP, "aes128", "sha256", "x25519", "esn"), "aes128-sha256-x25519-esn"},
		{esp, answer(ESP, "aes128", "sha256", "none", "esn"), "aes128-sha256-esn"},
		{esp, answer(ESP, "aes128", "sha256", "noesn"), "aes128-sha256"},
		{ike, Proposal{IKE, append(answer(IKE, "aes128gcm16", "prfsha256", "ecp256").Transforms, Transform{Type: INTEG})}, "aes128gcm16-prfsha256-ecp256"},
	} {
		got, err := Verify(v.offer, v.answer)
		if err != nil || got.String() != v.want {
			t.Errorf("%s: got %s, %v, want %s", v.answer.Names(), got, err, v.want)
		}
	}
	for _, v := range []struct {
		offer, answer Proposal
		say           string
	}{
		{ike, answer(IKE, "aes128", "prfsha256", "ecp256"), "AES_CBC_128, which we did not offer"},
		{ike, answer(IKE, "aes128gcm16", "prfsha256", "modp1024"), "MODP_1024, which we did not offer"},
		{ike, answer(IKE, "aes128gcm16", "aes256gcm16", "prfsha256", "ecp256"), "more than one encryption algorithm"},
		{ike, answer(IKE, "aes128gcm16", "prfsha256"), "no DH group; we offered ecp384, ecp256"},
		{ike, answer(IKE, "aes128gcm16", "ecp256"), "no PRF"},
		{ike, answer(IKE), "no encryption algorithm"},
		{ike, answer(IKE, "aes128gcm16", "prfsha256", "ecp256", "sha256"), "HMAC_SHA2_256_128, which we did not offer"},
		{ike, answer(ESP, "aes128gcm16"), "answers our IKE proposal with one for ESP"},
		{esp, answer(ESP, "aes128", "x25519", "esn"), "no integrity algorithm"},
		{proposals(t, ESP, "aes128gcm16-ecp256")[0], answer(ESP, "aes128gcm16", "noesn"), "no DH group"},
		{proposals(t, ESP, "aes128gcm16-esn")[0], answer(ESP, "aes128gcm16"), "no ESN mode"},
	} {
		if _, err := Verify(v.offer, v.answer); err == nil || !strings.Contains(err.Error(), v.say) {
			t.Errorf("%s: error %v does not say %q", v.answer.Names(), err, v.say)
		}
	}
}

func TestSuite(t *testing.T) {
	p := proposals(t, IKE, "aes128gcm16-prfsha256-x25519")[0]
	want := Suite{Encr: tr(t, "aes128gcm16"), PRF: tr(t, "prfsha256"), KE: tr(t, "x25519")}
	if got := p.Suite(); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// RFC 8221, 5: NULL encryption without integrity must not be, whatever the peer offers or answers.
func TestNullNeedsIntegrity(t *testing.T) {
	ours, err := ParseProposal(ESP, "null-sha256")
	if err != nil {
		t.Fatal(err)
	}
	noESN := Transform{Type: ESN, ID: ESNNo}
	for _, bare := range [][]Transform{
		{tr(t, "null"), noESN},
		{tr(t, "null"), {Type: INTEG, ID: IntegNone}, noESN},
	} {
		peer := Proposal{ESP, bare}
		if p, _, err := Negotiate([]Proposal{ours}, []Proposal{peer}, Options{}); err == nil {
			t.Errorf("as responder: %s was chosen from %s", p, peer)
		}
		if p, err := Verify(ours, peer); err == nil {
			t.Errorf("as initiator: the answer %s was taken as %s", peer, p)
		}
		if _, err := ESPKernelAlg(tr(t, "null"), Transform{}); err == nil {
			t.Error("the kernel has NULL without integrity")
		}
	}
}
