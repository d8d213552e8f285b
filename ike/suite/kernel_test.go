package suite

import "testing"

// The names are those of `ip xfrm state` and /proc/crypto; key bits are what the kernel asks for, RFC 4106 salts included.
func TestESPKernelAlg(t *testing.T) {
	for _, v := range []struct {
		proposal string
		want     KernelAlg
	}{
		{"aes128gcm16", KernelAlg{AEAD: "rfc4106(gcm(aes))", ICVBits: 128, EncrKeyBits: 160}},
		{"aes256gcm8", KernelAlg{AEAD: "rfc4106(gcm(aes))", ICVBits: 64, EncrKeyBits: 288}},
		{"aes128gcm12", KernelAlg{AEAD: "rfc4106(gcm(aes))", ICVBits: 96, EncrKeyBits: 160}},
		// RFC 4309, 7.1: three octets of salt.
		{"aes128ccm16", KernelAlg{AEAD: "rfc4309(ccm(aes))", ICVBits: 128, EncrKeyBits: 152}},
		{"aes192ccm12", KernelAlg{AEAD: "rfc4309(ccm(aes))", ICVBits: 96, EncrKeyBits: 216}},
		{"aes256ccm8", KernelAlg{AEAD: "rfc4309(ccm(aes))", ICVBits: 64, EncrKeyBits: 280}},
		{"aes192gmac", KernelAlg{AEAD: "rfc4543(gcm(aes))", ICVBits: 128, EncrKeyBits: 224}},
		{"chacha20poly1305", KernelAlg{AEAD: "rfc7539esp(chacha20,poly1305)", ICVBits: 128, EncrKeyBits: 288}},
		{"aes256-sha256", KernelAlg{Encr: "cbc(aes)", Integ: "hmac(sha256)", ICVBits: 128, EncrKeyBits: 256, IntegKeyBits: 256}},
		{"aes128ctr-sha1", KernelAlg{Encr: "rfc3686(ctr(aes))", Integ: "hmac(sha1)", ICVBits: 96, EncrKeyBits: 160, IntegKeyBits: 160}},
		{"aes128-sha512", KernelAlg{Encr: "cbc(aes)", Integ: "hmac(sha512)", ICVBits: 256, EncrKeyBits: 128, IntegKeyBits: 512}},
		{"null-sha384", KernelAlg{Encr: "ecb(cipher_null)", Integ: "hmac(sha384)", ICVBits: 192, IntegKeyBits: 384}},
	} {
		p, err := ParseProposal(ESP, v.proposal)
		if err != nil {
			t.Fatal(err)
		}
		s := p.Suite()
		got, err := ESPKernelAlg(s.Encr, s.Integ)
		if err != nil || got != v.want {
			t.Errorf("%s\n got %+v, %v\nwant %+v", v.proposal, got, err, v.want)
		}
	}
	ah, err := ESPKernelAlg(Transform{}, tr(t, "sha256"))
	if want := (KernelAlg{Integ: "hmac(sha256)", ICVBits: 128, IntegKeyBits: 256}); err != nil || ah != want {
		t.Errorf("AH: got %+v, %v", ah, err)
	}
	if _, err := ESPKernelAlg(Transform{ENCR, 3, 0}, tr(t, "sha1")); err == nil {
		t.Error("3DES has a kernel name here")
	}
}
