package auth

import (
	"bytes"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

// The tests of this file are named for published faults of IKE daemons and the
// libraries below them; each input is one that they took, or broke over.

// rawRSA signs a block that no library would make.
func rawRSA(block []byte) []byte {
	k := rsaKey().(*rsa.PrivateKey)
	n := k.N.BitLen() / 8
	m := new(big.Int).SetBytes(block)
	return m.Exp(m, k.D, k.N).FillBytes(make([]byte, n))
}

// block builds 00 01 FF… 00 and what is to follow, filled up behind it.
func block(t *testing.T, padding int, info, behind []byte) []byte {
	t.Helper()
	n := rsaKey().(*rsa.PrivateKey).N.BitLen() / 8
	b := append([]byte{0, 1}, bytes.Repeat([]byte{0xff}, padding)...)
	b = append(append(append(b, 0), info...), behind...)
	if len(b) > n {
		t.Fatalf("the block has %d octets", len(b))
	}
	return append(b, make([]byte, n-len(b))...)
}

// CVE-2018-16151, CVE-2018-16152 (strongSwan), CVE-2018-15836 (Openswan): PKCS#1 v1.5 blocks with room
// for forgeries. The first is as it should be and shows that the others fail for
// what is wrong with them.
func TestCVE2018_16151LenientPKCS1(t *testing.T) {
	sum := sha256.Sum256(octets)
	prefix := unhex(t, "3031300d060960864801650304020105000420")
	info := append(bytes.Clone(prefix), sum[:]...)
	full := 256 - 3 - len(info)
	wide := append(append(unhex(t, "304b 3027 0609 608648016503040201"), append([]byte{0x05, 0x1a}, bytes.Repeat([]byte{0x41}, 26)...)...), append([]byte{0x04, 0x20}, sum[:]...)...)
	noNull := append(unhex(t, "302f300b0609608648016503040201 0420"), sum[:]...)
	long := append(unhex(t, "30820031300d060960864801650304020105000420"), sum[:]...)
	for _, c := range []struct {
		name  string
		block []byte
		ok    bool
	}{
		{"as it should be", block(t, full, info, nil), true},
		{"octets behind the hash", block(t, full-60, info, bytes.Repeat([]byte{0x41}, 60)), false},
		{"eight octets of padding", block(t, 8, info, bytes.Repeat([]byte{0x41}, full-8)), false},
		{"parameters of the hash with contents", block(t, 256-3-len(wide), wide, nil), false},
		{"without parameters", block(t, 256-3-len(noNull), noNull, nil), false},
		{"length in BER", block(t, 256-3-len(long), long, nil), false},
		{"the hash alone", block(t, 256-3-len(sum), sum[:], nil), false},
		{"padding of another value", bytes.Replace(block(t, full, info, nil), []byte{0xff, 0xff, 0}, []byte{0xff, 0xfe, 0}, 1), false},
		{"block type 2", append([]byte{0, 2}, block(t, full, info, nil)[2:]...), false},
	} {
		data := append(appendAlgorithm(nil, RSAPKCS1SHA256), rawRSA(c.block)...)
		if _, err := verifySignature(rsaKey().Public(), MethodDigital, data, octets, true, Rule{}); (err == nil) != c.ok {
			t.Errorf("RFC 7427, %s: %v", c.name, err)
		}
		if _, err := verifySignature(rsaKey().Public(), MethodRSA, rawRSA(c.block), octets, false, Rule{}); (err == nil) != c.ok {
			t.Errorf("method 1, %s: %v", c.name, err)
		}
	}
}

// CVE-2017-11185 (strongSwan): a signature equal to the modulus. And its like.
func TestCVE2017_11185SignatureNumbersOutOfRange(t *testing.T) {
	pub := rsaKey().Public().(*rsa.PublicKey)
	n := pub.N.FillBytes(make([]byte, 256))
	for name, sig := range map[string][]byte{
		"m = n": n, "zero": make([]byte, 256), "one": append(make([]byte, 255), 1), "above": bytes.Repeat([]byte{0xff}, 256), "empty": {}, "short": {1}, "long": append(bytes.Clone(n), 0),
	} {
		for _, s := range []Scheme{RSAPKCS1SHA256, RSAPSSSHA256} {
			if _, err := check(pub, Signature{MethodDigital, s}, sig, octets, Rule{}); err == nil {
				t.Errorf("RSA %s is taken as %v", name, s)
			}
		}
	}
	ec := ecKey(t, elliptic.P256()).Public()
	order := elliptic.P256().Params().N.Bytes()
	for name, rs := range map[string][]byte{
		"zeros": make([]byte, 64), "r zero": append(make([]byte, 32), bytes.Repeat([]byte{1}, 32)...), "s = n": append(bytes.Repeat([]byte{1}, 32), order...),
		"above": bytes.Repeat([]byte{0xff}, 64), "empty": {}, "odd": make([]byte, 63), "of P-384": make([]byte, 96),
	} {
		if _, err := verifySignature(ec, MethodECDSAP256, rs, octets, false, Rule{}); err == nil {
			t.Errorf("ECDSA %s is taken", name)
		}
	}
}

// CVE-2017-9022 (strongSwan): RSA keys that the arithmetic cannot work with. CVE-2026-35332: points
// that are on no curve.
func TestCVE2017_9022UnusableKeys(t *testing.T) {
	number := func(n *big.Int, e int) []byte {
		der, err := asn1.Marshal(struct {
			N *big.Int
			E int
		}{n, e})
		if err != nil {
			t.Fatal(err)
		}
		return spki(t, "300d06092a864886f70d0101010500", der)
	}
	n := rsaKey().Public().(*rsa.PublicKey).N
	even := new(big.Int).Sub(n, big.NewInt(1))
	big16k := new(big.Int).SetBit(big.NewInt(1), 16383, 1)
	point := append([]byte{4}, bytes.Repeat([]byte{7}, 64)...)
	for name, der := range map[string][]byte{
		"even modulus": number(even, 65537), "zero modulus": number(new(big.Int), 3), "negative modulus": number(new(big.Int).Neg(n), 3),
		"exponent 0": number(n, 0), "exponent 1": number(n, 1), "even exponent": number(n, 2),
		"1024 bits": number(new(big.Int).Rsh(n, 1024), 65537), "16384 bits": number(big16k, 65537),
		"point on no curve":    spki(t, "301306072a8648ce3d020106082a8648ce3d030107", point),
		"point at infinity":    spki(t, "301306072a8648ce3d020106082a8648ce3d030107", []byte{0}),
		"P-224":                spki(t, "301006072a8648ce3d020106052b81040021", append([]byte{4}, make([]byte, 56)...)),
		"Ed25519 of 31 octets": spki(t, "300506032b6570", make([]byte, 31)),
		"X25519":               spki(t, "300506032b656e", make([]byte, 32)),
	} {
		key, err := ParsePublicKey(der)
		if err != nil {
			continue
		}
		// What the parser lets pass must at least not verify, nor panic.
		if k, ok := key.(*rsa.PublicKey); ok {
			for _, s := range []Scheme{RSAPKCS1SHA256, RSAPSSSHA256} {
				if _, err := check(k, Signature{MethodDigital, s}, make([]byte, 256), octets, Rule{}); err == nil {
					t.Errorf("%s verifies", name)
				}
			}
			continue
		}
		t.Errorf("%s is taken", name)
	}
}

func spki(t *testing.T, algorithm string, key []byte) []byte {
	t.Helper()
	der, err := asn1.Marshal(struct {
		Algorithm asn1.RawValue
		Key       asn1.BitString
	}{asn1.RawValue{FullBytes: unhex(t, algorithm)}, asn1.BitString{Bytes: key, BitLength: 8 * len(key)}})
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// CVE-2020-16088 (OpenIKED): a certificate of the right name with another key.
func TestCVE2020_16088SameNameAnotherKey(t *testing.T) {
	root := issue(t, nil, "Root", nil, asCA)
	right := issue(t, root, "gw", nil, withDNS("gw.example"))
	wrong := issue(t, nil, "gw", nil, withDNS("gw.example"))
	s := NewStore(Contents{CAs: certs(root), Certs: certs(right)})
	for name, p := range map[string]*Peer{
		"self-signed":                 proof(t, "gw.example", wrong),
		"with the right one behind":   proof(t, "gw.example", wrong, right),
		"none sent":                   {ID: parsed(t, "gw.example"), Method: MethodDigital, Data: proof(t, "gw.example", wrong).Data, Octets: octets, Announced: true},
		"the right one, but no key":   {ID: parsed(t, "gw.example"), Method: MethodDigital, Data: proof(t, "gw.example", wrong).Data, Octets: octets, Announced: true, Certs: [][]byte{right.cert.Raw}},
		"the right one, other octets": {ID: parsed(t, "gw.example"), Method: MethodDigital, Data: proof(t, "gw.example", right).Data, Octets: []byte("x"), Announced: true, Certs: [][]byte{right.cert.Raw}},
		"a CA of the same name":       proof(t, "gw.example", issue(t, issue(t, nil, "Root", nil, asCA), "gw", nil, withDNS("gw.example"))),
	} {
		if v, err := s.Verify(p, &Terms{}, noon); err == nil || v != nil {
			t.Errorf("%s: %v", name, v)
		}
		if v, err := s.Verify(p, &Terms{Certs: certs(right)}, noon); err == nil || v != nil {
			t.Errorf("%s, pinned: %v", name, v)
		}
	}
}

// CVE-2026-35331 (strongSwan), CVE-2026-33810 (Go): excluded names written in other letters.
func TestCVE2026_33810NameConstraintsIgnoreCase(t *testing.T) {
	root := issue(t, nil, "Root", nil, asCA)
	excluding := issue(t, root, "Excluding", nil, all(asCA, func(c *x509.Certificate) {
		c.ExcludedDNSDomains, c.ExcludedEmailAddresses, c.PermittedDNSDomainsCritical = []string{"Secret.Example"}, []string{"secret.example"}, true
	}))
	permitting := issue(t, root, "Permitting", nil, all(asCA, func(c *x509.Certificate) {
		c.PermittedDNSDomains, c.PermittedDNSDomainsCritical = []string{"site.example"}, true
	}))
	s := NewStore(Contents{CAs: certs(root)})
	for _, c := range []struct {
		ca   *entity
		name string
		ok   bool
	}{
		{excluding, "gw.public.example", true},
		{excluding, "gw.secret.example", false},
		{excluding, "GW.SECRET.EXAMPLE", false},
		{excluding, "gw.sEcReT.eXaMpLe", false},
		{permitting, "gw.site.example", true},
		{permitting, "GW.SITE.example", true},
		{permitting, "gw.other.example", false},
	} {
		gw := issue(t, c.ca, "gw", nil, withDNS(c.name))
		if _, err := s.Verify(proof(t, c.name, gw, c.ca), &Terms{}, noon); (err == nil) != c.ok {
			t.Errorf("%s under %s: %v", c.name, c.ca.cert.Subject.CommonName, err)
		}
	}
}

// CVE-2022-4967, CVE-2023-26463 (strongSwan): whoever has some good certificate is
// not yet the one that he says he is, and a refused one leaves nothing behind.
func TestCVE2022_4967IdentityIsBoundToTheCertificate(t *testing.T) {
	root := issue(t, nil, "Root", nil, asCA)
	gw := issue(t, root, "mallory", nil, withDNS("mallory.example"))
	s := NewStore(Contents{CAs: certs(root)})
	for _, id := range []string{"alice.example", "C=CH, O=Test, CN=alice", "192.0.2.1", "admin@alice.example", "keyid:alice", "*", "asn1dn:#3000"} {
		v, err := s.Verify(proof(t, id, gw), &Terms{}, noon)
		if err == nil || v != nil {
			t.Errorf("mallory is taken for %s", id)
		}
	}
}

// CVE-2024-30397 (Juniper): a failed verification that ends in endless work. CVE-2021-41991
// (strongSwan): many certificates. The CAs here all bear one name, and sign each other.
func TestCVE2024_30397ManyCertificates(t *testing.T) {
	key := ecKey(t, elliptic.P256())
	var tangle []*entity
	for range 30 {
		tangle = append(tangle, issue(t, &entity{issue(t, nil, "CA", key, asCA).cert, key}, "CA", key, asCA))
	}
	gw := issue(t, tangle[0], "gw", nil, withDNS("gw.example"))
	s := NewStore(Contents{CAs: certs(issue(t, nil, "CA", nil, asCA))})
	start := time.Now()
	if _, err := s.Verify(proof(t, "gw.example", append([]*entity{gw}, tangle...)...), &Terms{}, noon); err == nil {
		t.Error("accepted")
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %v", d)
	}
	// The right CA beyond the limit is not looked at.
	root := issue(t, nil, "Root", nil, asCA)
	sub := issue(t, root, "Sub", nil, asCA)
	gw = issue(t, sub, "gw", nil, withDNS("gw.example"))
	chain := []*entity{gw}
	for i := range maxPeerCerts {
		chain = append(chain, issue(t, nil, fmt.Sprint(i), key, asCA))
	}
	s = NewStore(Contents{CAs: certs(root)})
	if _, err := s.Verify(proof(t, "gw.example", append(chain, sub)...), &Terms{}, noon); err == nil {
		t.Error("more certificates than the limit are looked at")
	}
}

// Whatever a peer sends, the answer is an error that can be printed.
func FuzzVerify(f *testing.F) {
	root := issue(f, nil, "Root", nil, asCA)
	gw := issue(f, root, "gw", nil, withDNS("gw.example"))
	f.Add(MethodECDSAP256, make([]byte, 64), gw.cert.Raw, gw.cert.RawSubjectPublicKeyInfo, []byte("crl"))
	f.Add(MethodDigital, append(appendAlgorithm(nil, ECDSASHA256), make([]byte, 70)...), gw.cert.Raw, []byte{}, []byte{})
	s := NewStore(Contents{CAs: certs(root)})
	f.Fuzz(func(t *testing.T, method uint8, data, cert, key, more []byte) {
		p := &Peer{ID: Identity{IDFQDN, "gw.example"}, Method: method, Data: data, Octets: octets, Announced: true, Certs: [][]byte{cert, more}, CRLs: [][]byte{more}, OCSP: [][]byte{more}}
		_, err := s.Verify(p, &Terms{}, noon)
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\x00\n") {
			t.Errorf("%q", err)
		}
		p.Certs, p.RawKeys = nil, [][]byte{key}
		if _, err := s.Verify(p, &Terms{}, noon); err == nil {
			t.Errorf("raw key accepted: %x", key)
		}
	})
}
