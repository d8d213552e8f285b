package suite

import (
	"strings"
	"testing"
)

func TestNegotiateAdditional(t *testing.T) {
	const base = "aes128gcm16-prfsha256-"
	for _, v := range []struct {
		name, ours, theirs, want string // want: the key exchanges, or "!" and what the error says
	}{
		{"one", "x25519-ke1_mlkem768", "ecp256-x25519-ke1_mlkem512-ke1_mlkem768", "x25519-ke1_mlkem768"},
		{"both orders", "x25519-ke1_mlkem768-ke1_mlkem1024", "x25519-ke1_mlkem1024-ke1_mlkem768", "x25519-ke1_mlkem768"},
		{"optional and wanted", "x25519-ke1_mlkem768-ke1_none", "x25519-ke1_mlkem768", "x25519-ke1_mlkem768"},
		{"optional, and unknown to the peer", "x25519-ke1_mlkem768-ke1_none", "x25519", "x25519"},
		{"optional for the peer, and unknown to us", "x25519", "x25519-ke1_mlkem768-ke1_none", "x25519-ke1_none"},
		{"demanded by us", "x25519-ke1_mlkem768", "x25519", "!no common additional key exchange 1: peer offers none; we allow ke1_mlkem768"},
		{"demanded by the peer", "x25519", "x25519-ke1_mlkem768", "!peer offers ke1_mlkem768; we allow none"},
		// RFC 9370, 2.2.1: no method twice, though it takes a second thought.
		{"repetition avoided", "x25519-ke1_mlkem768-ke1_mlkem512-ke2_mlkem768", "x25519-ke1_mlkem768-ke1_mlkem512-ke2_mlkem768", "x25519-ke1_mlkem512-ke2_mlkem768"},
		{"the first gives way", "x25519-ecp256-ke1_x25519", "x25519-ecp256-ke1_x25519", "ecp256-ke1_x25519"},
		{"repetition unavoidable", "x25519-ke1_mlkem768-ke2_mlkem768-ke2_mlkem512", "x25519-ke1_mlkem768-ke2_mlkem768", "!no common"},
		{"gaps", "x25519-ke3_mlkem768-ke7_mlkem512", "x25519-ke3_mlkem768-ke7_mlkem512", "x25519-ke3_mlkem768-ke7_mlkem512"},
	} {
		ours := proposals(t, IKE, base+v.ours)
		theirs := Proposal{Protocol: IKE} // not by the parser, which refuses what cannot be agreed upon
		for word := range strings.SplitSeq(base+v.theirs, "-") {
			tr, err := parseWord(IKE, word)
			if err != nil {
				t.Fatal(err)
			}
			theirs.Transforms = append(theirs.Transforms, tr)
		}
		chosen, _, err := Negotiate(ours, []Proposal{theirs}, Options{})
		if say, fails := strings.CutPrefix(v.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), say) {
				t.Errorf("%s: %v, error %v does not say %q", v.name, chosen, err, say)
			}
			continue
		}
		if err != nil || chosen.String() != base+v.want {
			t.Errorf("%s: %v, %v; want %s", v.name, chosen, err, base+v.want)
		}
		if _, err := Verify(theirs, chosen); err != nil {
			t.Errorf("%s: the initiator refuses: %v", v.name, err)
		}
	}
}

func TestVerifyRefusesRepeatedExchange(t *testing.T) {
	offer := proposals(t, IKE, "aes128gcm16-prfsha256-x25519-ke1_mlkem768-ke1_mlkem512-ke2_mlkem768")[0]
	answer := Proposal{Protocol: IKE}
	for word := range strings.SplitSeq("aes128gcm16-prfsha256-x25519-ke1_mlkem768-ke2_mlkem768", "-") {
		tr, err := parseWord(IKE, word)
		if err != nil {
			t.Fatal(err)
		}
		answer.Transforms = append(answer.Transforms, tr)
	}
	if _, err := Verify(offer, answer); err == nil || !strings.Contains(err.Error(), "ML_KEM_768 twice") {
		t.Errorf("error %v", err)
	}
}

func TestSuiteNamesAdditional(t *testing.T) {
	p := proposals(t, IKE, "aes256gcm16-prfsha384-ecp384-ke1_mlkem1024-ke2_none-ke3_x25519")[0]
	if got, want := p.Names(), "AES_GCM_16_256/PRF_HMAC_SHA2_384/ECP_384/KE1_ML_KEM_1024/KE2_NONE/KE3_CURVE_25519"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s := p.Suite()
	if got := s.Additional(); len(got) != 2 || got[0] != KEMLKEM1024 || got[1] != KEX25519 || s.KE.ID != KEECP384 {
		t.Errorf("got %v after %v", got, s.KE)
	}
}

func TestWithoutAdditional(t *testing.T) {
	optional := proposals(t, IKE, "aes128gcm16-prfsha256-x25519-ke1_mlkem768-ke1_none")[0]
	if p, ok := optional.WithoutAdditional(); !ok || p.String() != "aes128gcm16-prfsha256-x25519-ke1_none" {
		t.Errorf("got %v, %v", p, ok)
	}
	demanded := proposals(t, IKE, "aes128gcm16-prfsha256-x25519-ke1_mlkem768")[0]
	if _, ok := demanded.WithoutAdditional(); ok {
		t.Error("a demanded exchange was left out")
	}
}
