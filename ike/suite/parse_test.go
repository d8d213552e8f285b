package suite

import (
	"slices"
	"strings"
	"testing"
)

func TestParseProposal(t *testing.T) {
	for _, v := range []struct {
		proto Protocol
		in    string
		out   string // in keywords
		names string // as charon logs it
	}{
		{IKE, "aes128gcm16-prfsha256-ecp256", "aes128gcm16-prfsha256-ecp256", "AES_GCM_16_128/PRF_HMAC_SHA2_256/ECP_256"},
		{IKE, "aes256gcm16-prfsha384-ecp384", "aes256gcm16-prfsha384-ecp384", "AES_GCM_16_256/PRF_HMAC_SHA2_384/ECP_384"},
		{IKE, "chacha20poly1305-prfsha256-curve25519", "chacha20poly1305-prfsha256-x25519", "CHACHA20_POLY1305/PRF_HMAC_SHA2_256/CURVE_25519"},
		// The PRF follows from the integrity algorithm.
		{IKE, "aes256-sha256-modp2048", "aes256-sha256-prfsha256-modp2048", "AES_CBC_256/HMAC_SHA2_256_128/PRF_HMAC_SHA2_256/MODP_2048"},
		{IKE, "aes128-sha384-sha1-modp1536", "aes128-sha384-sha1-prfsha384-prfsha1-modp1536",
			"AES_CBC_128/HMAC_SHA2_384_192/HMAC_SHA1_96/PRF_HMAC_SHA2_384/PRF_HMAC_SHA1/MODP_1536"},
		{IKE, "aes128-sha256-prfsha512-ecp521", "aes128-sha256-prfsha512-ecp521", "AES_CBC_128/HMAC_SHA2_256_128/PRF_HMAC_SHA2_512/ECP_521"},
		// Also beside an AEAD, where the integrity algorithm itself is dropped.
		{IKE, "aes128gcm16-sha256-ecp256", "aes128gcm16-prfsha256-ecp256", "AES_GCM_16_128/PRF_HMAC_SHA2_256/ECP_256"},
		// Order matters within a type only; what comes twice counts once.
		{IKE, "modp2048-prfsha1-aes128gcm16-modp1024-aes256gcm16-aes128gcm16", "aes128gcm16-aes256gcm16-prfsha1-modp2048-modp1024",
			"AES_GCM_16_128/AES_GCM_16_256/PRF_HMAC_SHA1/MODP_2048/MODP_1024"},
		{IKE, " aes128gcm16-prfsha256-x448 ", "aes128gcm16-prfsha256-x448", "AES_GCM_16_128/PRF_HMAC_SHA2_256/CURVE_448"},
		{ESP, "aes128gcm16", "aes128gcm16", "AES_GCM_16_128/NO_EXT_SEQ"},
		{ESP, "aes128gcm128-noesn", "aes128gcm16", "AES_GCM_16_128/NO_EXT_SEQ"},
		{ESP, "aes256gcm96-ecp384-esn-noesn", "aes256gcm12-ecp384-esn-noesn", "AES_GCM_12_256/ECP_384/EXT_SEQ/NO_EXT_SEQ"},
		{ESP, "aes192ctr-sha2_512-esn", "aes192ctr-sha512-esn", "AES_CTR_192/HMAC_SHA2_512_256/EXT_SEQ"},
		{ESP, "aes-sha", "aes128-sha1", "AES_CBC_128/HMAC_SHA1_96/NO_EXT_SEQ"},
		{ESP, "null-sha256-modp4096-none", "null-sha256-modp4096-none", "NULL/HMAC_SHA2_256_128/MODP_4096/KE_NONE/NO_EXT_SEQ"},
		{ESP, "aes192ccm12-aes256ccm128-aes128ccm64", "aes192ccm12-aes256ccm16-aes128ccm8", "AES_CCM_12_192/AES_CCM_16_256/AES_CCM_8_128/NO_EXT_SEQ"},
		{IKE, "aes256ccm16-prfsha256-ecp256", "aes256ccm16-prfsha256-ecp256", "AES_CCM_16_256/PRF_HMAC_SHA2_256/ECP_256"},
		{ESP, "aes256gmac", "aes256gmac", "NULL_AES_GMAC_256/NO_EXT_SEQ"},
		{AH, "sha256-x25519", "sha256-x25519", "HMAC_SHA2_256_128/CURVE_25519/NO_EXT_SEQ"},
	} {
		p, err := ParseProposal(v.proto, v.in)
		if err != nil {
			t.Errorf("%q: %v", v.in, err)
			continue
		}
		if p.String() != v.out || p.Names() != v.names {
			t.Errorf("%q\n got %s = %s\nwant %s = %s", v.in, p, p.Names(), v.out, v.names)
		}
	}
}

func TestParseProposalErrors(t *testing.T) {
	for _, v := range []struct {
		proto   Protocol
		in, say string
	}{
		{IKE, "aes128gmc16-prfsha256-ecp256", `unknown algorithm "aes128gmc16"`},
		{IKE, "", "empty keyword"},
		{IKE, "aes128--sha256-ecp256", "empty keyword"},
		{IKE, "aes128gcm16-prfsha256", "no DH group; add one"},
		{IKE, "aes128gcm16-ecp256", "no PRF"},
		{IKE, "aes128-prfsha256-ecp256", "aes128 needs an integrity algorithm"},
		{IKE, "sha256-ecp256", "no encryption algorithm"},
		{IKE, "aes128-aes128gcm16-sha256-ecp256", "aes128 and aes128gcm16 cannot share a proposal"},
		{IKE, "null-sha256-ecp256", "null has no meaning in IKE proposals"},
		{IKE, "aes128gcm16-prfsha256-none", "none has no meaning in IKE proposals"},
		{IKE, "aes128gcm16-prfsha256-ecp256-esn", "esn has no meaning in IKE proposals"},
		{ESP, "aes128-prfsha256-sha256", "prfsha256 has no meaning in ESP proposals"},
		// RFC 8221, 4 and 5; RFC 8247, 2
		{ESP, "null", "null needs an integrity algorithm"},
		{ESP, "aes128", "aes128 needs an integrity algorithm"},
		{ESP, "des-sha256", "des is broken"},
		{ESP, "aes128-md5", "md5 is broken"},
		{IKE, "aes128-sha256-modp768", "modp768 is broken"},
		{IKE, "aes128-sha256-modp1024s160", "modp1024s160 is broken"},
		{IKE, "aes128-sha256-prfmd5-ecp256", "prfmd5 is broken"},
		{ESP, "3des-sha256", "3des is an algorithm of strongSwan that is not implemented"},
		{ESP, "camellia128ccm16", "camellia128ccm16 is an algorithm of strongSwan"},
		{IKE, "aes128gcm16-prfsha256-x25519-ke1_frodol3", "ke1_frodol3: \"frodol3\" is no key exchange; expected one such as ke1_mlkem768"},
		{IKE, "aes128gcm16-prfsha256-x25519-ke1_sha256", "is no key exchange"},
		{IKE, "aes128gcm16-prfsha256-x25519-ke8_mlkem768", "unknown algorithm \"ke8_mlkem768\""},
		// RFC 9370, 2.2.1
		{IKE, "aes128gcm16-prfsha256-x25519-ke1_mlkem768-ke2_mlkem768", "the same key exchange cannot be used twice"},
		{IKE, "aes128gcm16-prfsha256-x25519-ke1_x25519", "the same key exchange cannot be used twice"},
		{ESP, "aes128gcm16-ke1_mlkem768", "additional key exchanges need a first one"},
		{ESP, "aes128gcm16-x25519-none-ke1_mlkem768", "write a proposal of its own for none"},
		{ESP, "aes128-sha256_96", "set sha256_96 = yes"},
		{AH, "aes128-sha256", "aes128 has no meaning in AH proposals"},
		{AH, "esn", "no integrity algorithm"},
		{Protocol(9), "aes128", "protocol 9 has no proposals"},
	} {
		p, err := ParseProposal(v.proto, v.in)
		if err == nil {
			t.Errorf("%s %q was taken as %s", v.proto, v.in, p)
			continue
		}
		if !strings.Contains(err.Error(), v.say) || !strings.Contains(err.Error(), v.in) {
			t.Errorf("%s %q: error %q does not say %q", v.proto, v.in, err, v.say)
		}
	}
}

func TestParseProposalsExpandsDefault(t *testing.T) {
	ps, err := ParseProposals(ESP, []string{"chacha20poly1305-esn", "default"})
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 1+len(DefaultProposals(ESP)) || ps[0].String() != "chacha20poly1305-esn" {
		t.Errorf("got %v", ps)
	}
	if _, err := ParseProposals(ESP, []string{"default", "aes1"}); err == nil {
		t.Error("aes1 was taken")
	}
}

// "Off by default" of the issue: the defaults hold none of it, while an explicit keyword is taken.
func TestDefaultsAreStrong(t *testing.T) {
	weak := []string{"sha1", "prfsha1", "modp1024", "modp1536", "null", "aes128gmac", "aes128gcm8", "aes128gcm12", "aes256gcm8", "aes256gcm12", "aes128ccm8"}
	for _, proto := range []Protocol{IKE, ESP, AH} {
		for _, p := range DefaultProposals(proto) {
			for _, w := range weak {
				if slices.Contains(p.Transforms, tr(t, w)) {
					t.Errorf("default %s proposal has %s", proto, w)
				}
			}
			// RFC 7296, 2.7: AEAD and other ciphers are offered apart.
			for _, e := range p.Of(ENCR) {
				if e.IsAEAD() == (len(p.Of(INTEG)) > 0) {
					t.Errorf("default %s proposal mixes: %s", proto, p)
				}
			}
		}
	}
}

// Every algorithm that can be configured is one that the rest of the package can carry out.
func TestEveryKeywordWorks(t *testing.T) {
	for _, a := range algs {
		var err error
		switch a.t.Type {
		case ENCR:
			_, _, err = lookupEncr(a.t)
		case PRF:
			_, err = NewPRF(a.t.ID)
		case INTEG:
			_, err = lookupInteg(encrAlg{}, a.t)
		case KE:
			if !a.t.IsNone() && PublicLen(a.t.ID) == 0 {
				t.Errorf("%s has no public value", a.name)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", a.name, err)
		}
		for _, w := range a.words {
			if algByWord[w] != algByTransform[a.t] || whyRefused(w) != "" {
				t.Errorf("keyword %s is not %s alone", w, a.name)
			}
		}
	}
}

func TestNamesOfUnknownTransforms(t *testing.T) {
	for _, v := range []struct {
		t    Transform
		want string
	}{
		{Transform{ENCR, 99, 128}, "ENCR_99_128"},
		{Transform{KE, 1, 0}, "KE_1"},
		{Transform{TransformType(13), 35, 0}, "TYPE_13_35"},
	} {
		if v.t.String() != v.want || v.t.Keyword() != v.want {
			t.Errorf("got %s and %s, want %s", v.t, v.t.Keyword(), v.want)
		}
	}
}

func FuzzParseProposal(f *testing.F) {
	for _, s := range []string{
		"aes128gcm16-prfsha256-ecp256", "aes256-sha256-modp2048", "aes128gcm16-sha256-x25519", "null-sha1-none-esn",
		"", "-", "default", "aes128-aes128gcm16", "ke1_none", "aes128gcm16-prfsha256-ecp256-x25519-ke1_mlkem768-ke1_x25519-ke2_mlkem768-ke7_none", "aes128gcm16-x25519-ke1_mlkem768", "sha256-esn-noesn", "aes128\x00-sha256",
	} {
		for _, proto := range []Protocol{IKE, AH, ESP} {
			f.Add(byte(proto), s)
		}
		f.Add(byte(0), s)
	}
	f.Fuzz(func(t *testing.T, proto byte, s string) {
		p, err := ParseProposal(Protocol(proto), s)
		if err != nil {
			return
		}
		again, err := ParseProposal(p.Protocol, p.String())
		if err != nil || !slices.Equal(again.Transforms, p.Transforms) {
			t.Fatalf("%q became %q, which reads as %v, %v", s, p, again, err)
		}
		// What can be configured on both sides can be agreed upon.
		chosen, _, err := Negotiate([]Proposal{p}, []Proposal{p}, Options{})
		if err != nil {
			t.Fatalf("%q does not match itself: %v", s, err)
		}
		if _, err := Verify(p, chosen); err != nil {
			t.Fatalf("%q: our own answer is refused: %v", s, err)
		}
	})
}
