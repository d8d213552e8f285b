package auth

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/hex"
	"strings"
	"testing"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rfcAlgorithms are the AlgorithmIdentifiers of RFC 7427 appendix A and RFC 8420 appendix A.
var rfcAlgorithms = []struct {
	section string
	scheme  Scheme
	der     string
}{
	{"A.1.2 sha256WithRSAEncryption", RSAPKCS1SHA256, "300d06092a864886f70d01010b0500"},
	{"A.1.3 sha384WithRSAEncryption", RSAPKCS1SHA384, "300d06092a864886f70d01010c0500"},
	{"A.1.4 sha512WithRSAEncryption", RSAPKCS1SHA512, "300d06092a864886f70d01010d0500"},
	{"A.3.2 ecdsa-with-SHA256", ECDSASHA256, "300a06082a8648ce3d040302"},
	{"A.3.3 ecdsa-with-SHA384", ECDSASHA384, "300a06082a8648ce3d040303"},
	{"A.3.4 ecdsa-with-SHA512", ECDSASHA512, "300a06082a8648ce3d040304"},
	{"A.4.3 RSASSA-PSS with SHA-256", RSAPSSSHA256, `3046 0609 2a86 4886 f70d 0101 0a30 39a0
		0f30 0d06 0960 8648 0165 0304 0201 0500 a11c 301a 0609 2a86 4886 f70d 0101 0830
		0d06 0960 8648 0165 0304 0201 0500 a203 0201 20a3 0302 0101`},
	{"RFC 8420 id-Ed25519", Ed25519, "300506032b6570"},
}

func TestAlgorithmIdentifiersOfTheRFC(t *testing.T) {
	for _, c := range rfcAlgorithms {
		der := unhex(t, c.der)
		data := append(append([]byte{byte(len(der))}, der...), "signature"...)
		scheme, rest, err := splitAlgorithm(data)
		if err != nil || scheme != c.scheme || string(rest) != "signature" {
			t.Errorf("%s: %v, %q, %v", c.section, scheme, rest, err)
		}
		// We leave the default trailer field out, as DER demands.
		want := bytes.Replace(der, unhex(t, "a303020101"), nil, 1)
		if c.scheme != RSAPSSSHA256 && !bytes.Equal(appendAlgorithm(nil, c.scheme), data[:1+len(der)]) {
			t.Errorf("%s: we send %x, want %x", c.section, appendAlgorithm(nil, c.scheme)[1:], want)
		}
	}
}

// The AlgorithmIdentifiers of RFC 7427 and RFC 8420 are those of certificates (RFC 4055, 5758, 8410), which
// others have got right: package x509 writes them.
func TestAlgorithmIdentifiersAreThoseOfCertificates(t *testing.T) {
	for scheme, alg := range map[Scheme]x509.SignatureAlgorithm{
		RSAPKCS1SHA256: x509.SHA256WithRSA, RSAPKCS1SHA384: x509.SHA384WithRSA, RSAPKCS1SHA512: x509.SHA512WithRSA,
		RSAPSSSHA256: x509.SHA256WithRSAPSS, RSAPSSSHA384: x509.SHA384WithRSAPSS, RSAPSSSHA512: x509.SHA512WithRSAPSS,
		ECDSASHA256: x509.ECDSAWithSHA256, ECDSASHA384: x509.ECDSAWithSHA384, ECDSASHA512: x509.ECDSAWithSHA512,
		Ed25519: x509.PureEd25519,
	} {
		key := map[KeyKind]func() crypto.Signer{
			KeyRSA: rsaKey, KeyECDSA: func() crypto.Signer { return ecKey(t, elliptic.P256()) }, KeyEd25519: func() crypto.Signer { return edKey(t) },
		}[scheme.Kind()]()
		root := issue(t, nil, "Root", key, all(asCA, func(c *x509.Certificate) { c.SignatureAlgorithm = alg }))
		var outer, tbs, want cryptobyte.String
		s := cryptobyte.String(root.cert.Raw)
		if !s.ReadASN1(&outer, cbasn1.SEQUENCE) || !outer.ReadASN1(&tbs, cbasn1.SEQUENCE) || !outer.ReadASN1Element(&want, cbasn1.SEQUENCE) {
			t.Fatal("no certificate")
		}
		if got := appendAlgorithm(nil, scheme)[1:]; !bytes.Equal(got, want) {
			t.Errorf("%v: we send %x, certificates have %x", scheme, got, []byte(want))
		}
	}
}

// What lax parsers have taken.
func TestRefusedAlgorithmIdentifiers(t *testing.T) {
	for _, c := range []struct{ name, der string }{
		{"PSS defaults, which are SHA-1 (RFC 7427 A.4.1)", "300d06092a864886f70d01010a3000"},
		{"sha1WithRSAEncryption (RFC 7427 A.1.1)", "300d06092a864886f70d0101050500"},
		{"ecdsa-with-SHA1", "300906072a8648ce3d0401"},
		{"CVE-2018-6459: MGF1 without its hash", `3037 0609 2a864886f70d01010a 302a a00f 300d 0609 608648016503040201 0500 a10d 300b 0609 2a864886f70d010108 a203 020120 a303 020101`},
		{"CVE-2021-41990: negative salt length", "3041 0609 2a864886f70d01010a 3034 a00f 300d 0609 608648016503040201 0500 a11c 301a 0609 2a864886f70d010108 300d 0609 608648016503040201 0500 a203 0201ff"},
		{"CVE-2021-41990: enormous salt length", "3044 0609 2a864886f70d01010a 3037 a00f 300d 0609 608648016503040201 0500 a11c 301a 0609 2a864886f70d010108 300d 0609 608648016503040201 0500 a206 02047fffffff"},
		{"salt of another length than the hash", "3041 0609 2a864886f70d01010a 3034 a00f 300d 0609 608648016503040201 0500 a11c 301a 0609 2a864886f70d010108 300d 0609 608648016503040201 0500 a203 020114"},
		{"two hashes in one PSS", "3041 0609 2a864886f70d01010a 3034 a00f 300d 0609 608648016503040201 0500 a11c 301a 0609 2a864886f70d010108 300d 0609 608648016503040202 0500 a203 020120"},
		{"another trailer field", "3046 0609 2a864886f70d01010a 3039 a00f 300d 0609 608648016503040201 0500 a11c 301a 0609 2a864886f70d010108 300d 0609 608648016503040201 0500 a203 020120 a303 020102"},
		{"CVE-2018-16151: octets behind the parameters", "300f 0609 2a864886f70d01010b 0500 0500"},
		{"CVE-2018-16152: parameters other than NULL", "3010 0609 2a864886f70d01010b 0403 414141"},
		{"NULL in BER", "300e 0609 2a864886f70d01010b 058100"},
		{"length in BER", "30810d 0609 2a864886f70d01010b 0500"},
		{"CVE-2017-9023: endless nesting", strings.Repeat("3080", 60)},
		{"Ed25519 with parameters", "3007 0603 2b6570 0500"},
		{"rsaEncryption alone", "300d 0609 2a864886f70d010101 0500"},
	} {
		der := unhex(t, c.der)
		if s, _, err := splitAlgorithm(append(append([]byte{byte(len(der))}, der...), 1, 2, 3)); err == nil {
			t.Errorf("%s is taken for %v", c.name, s)
		}
	}
}

func TestAlgorithmIdentifierCutShort(t *testing.T) {
	whole := append(appendAlgorithm(nil, RSAPSSSHA512), 0xff)
	for n := range whole {
		if _, _, err := splitAlgorithm(whole[:n]); err == nil {
			t.Errorf("%d of %d octets are enough", n, len(whole))
		}
	}
}

func FuzzSplitAlgorithm(f *testing.F) {
	for _, c := range rfcAlgorithms {
		der := unhex(f, c.der)
		f.Add(append(append([]byte{byte(len(der))}, der...), "signature"...))
	}
	f.Add([]byte{})
	f.Add([]byte{2, 0x30, 0x80, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, sig, err := splitAlgorithm(data)
		if err != nil {
			return
		}
		// Everything is accounted for, and it names the hash and the kind that we then use.
		if 1+int(data[0])+len(sig) != len(data) || accepted[string(data[1:1+int(data[0])])] != s {
			t.Errorf("%x is taken for %v with %d octets of signature", data, s, len(sig))
		}
	})
}

func TestHashNotification(t *testing.T) {
	if got := OurHashes.Notification(); !bytes.Equal(got, []byte{0, 2, 0, 3, 0, 4, 0, 5}) {
		t.Errorf("we announce %x", got)
	}
	got, err := ParseHashes([]byte{0, 1, 0, 2, 1, 3, 0, 99, 0, 5})
	if want := Hashes(HashSHA1, HashSHA256, HashIdentity); err != nil || got != want {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if _, err := ParseHashes([]byte{0, 2, 0}); err == nil {
		t.Error("half a hash is taken")
	}
	if again, err := ParseHashes(OurHashes.Notification()); err != nil || again != OurHashes {
		t.Errorf("our own notification reads as %v, %v", again, err)
	}
}
