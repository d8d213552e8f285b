package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"sync"
	"testing"
	"time"
)

// noon is the time of all tests.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

var octets = []byte("what the peer has to sign")

var rsaKey = sync.OnceValue(func() crypto.Signer {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func ecKey(t testing.TB, c elliptic.Curve) crypto.Signer {
	t.Helper()
	k, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func edKey(t testing.TB) crypto.Signer {
	t.Helper()
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// entity is somebody with a certificate and its key.
type entity struct {
	cert *x509.Certificate
	key  crypto.Signer
}

var serial int64 = 1000

// issue makes a certificate below an issuer, self-signed if that is nil. It is
// good from a day before noon to a day after, unless edit says otherwise.
func issue(t testing.TB, issuer *entity, cn string, key crypto.Signer, edit func(*x509.Certificate)) *entity {
	t.Helper()
	serial++
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{Country: []string{"CH"}, Organization: []string{"Test"}, CommonName: cn},
		NotBefore: noon.Add(-24 * time.Hour), NotAfter: noon.Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
	}
	if edit != nil {
		edit(tmpl)
	}
	if key == nil {
		key = ecKey(t, elliptic.P256())
	}
	parent, signer := tmpl, key
	if issuer != nil {
		parent, signer = issuer.cert, issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &entity{c, key}
}

func asCA(c *x509.Certificate) {
	c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
}

func withDNS(names ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.DNSNames = names }
}

// all combines edits.
func all(edits ...func(*x509.Certificate)) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		for _, e := range edits {
			e(c)
		}
	}
}

// certs lists the certificates of entities.
func certs(list ...*entity) []*x509.Certificate {
	var out []*x509.Certificate
	for _, e := range list {
		out = append(out, e.cert)
	}
	return out
}

func private(t testing.TB, key crypto.Signer) PrivateKey {
	t.Helper()
	k, err := NewPrivateKey("test", key)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// proof is what a peer with these certificates, its own first, sends.
func proof(t testing.TB, id string, chain ...*entity) *Peer {
	t.Helper()
	p := &Peer{ID: parsed(t, id), Octets: octets, Announced: true, Method: MethodDigital}
	how, err := ChooseSignature(chain[0].key.Public(), OurHashes, true, Rule{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Data, err = private(t, chain[0].key).Sign(rand.Reader, how, octets); err != nil {
		t.Fatal(err)
	}
	for _, e := range chain {
		p.Certs = append(p.Certs, e.cert.Raw)
	}
	return p
}

func parsed(t testing.TB, s string) Identity {
	t.Helper()
	i, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return i
}
