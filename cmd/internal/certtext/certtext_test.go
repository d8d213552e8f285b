package certtext

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

// The stock swanctl is compared with in cmd/swanctl, as far as it reads keys without further packages.

func issue(t testing.TB, key crypto.Signer, from, to time.Time) *x509.Certificate {
	t.Helper()
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(0x0a0b0c), Subject: pkix.Name{CommonName: "self"}, NotBefore: from, NotAfter: to,
		BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCRLSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestCertificates(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, tt := range []struct {
		key      crypto.Signer
		from, to time.Time
		want     []string
	}{
		{ec, now.Add(-time.Second), now.Add(50 * time.Hour), []string{
			"\n  subject:  \"CN=self\"\n  issuer:   \"CN=self\"\n  validity:  not before Mar 04 05:06:06 UTC 2026, ok\n             not after  Mar 06 07:06:07 UTC 2026, ok (expires in 2 days)\n  serial:    0a:0b:0c\n",
			"  flags:     CA CRLSign self-signed \n  pathlen:   0\n", "  pubkey:    ECDSA 384 bits, has private key\n"}},
		{ed, now.Add(time.Second), now.Add(time.Hour), []string{"06:08 UTC 2026, not valid yet (valid in 1 second)\n", "(expires in 60 minutes)\n", "  pubkey:    ED25519 256 bits, has private key\n"}},
		{ed, now.Add(-200 * time.Hour), now.Add(-3 * time.Minute), []string{", expired (3 minutes ago)\n"}},
	} {
		var b strings.Builder
		w := Writer{W: &b, Now: now, Detailed: true, UTC: true}
		w.Certificate(issue(t, tt.key, tt.from, tt.to), true)
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("missing %q in\n%s", want, b.String())
			}
		}
	}
}

func TestSpan(t *testing.T) {
	for seconds, want := range map[int64]string{0: "0 seconds", 1: "1 second", 120: "120 seconds", 121: "2 minutes", 7200: "120 minutes", 7201: "2 hours", 172800: "48 hours", 172801: "2 days"} {
		if got := Span(seconds); got != want {
			t.Errorf("%d: %s, want %s", seconds, got, want)
		}
	}
}

// What a daemon sends may be anything: nothing of it ends the command.
func FuzzWriter(f *testing.F) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	now := time.Now()
	cert := issue(f, key, now, now.Add(time.Hour))
	response, err := ocsp.CreateResponse(cert, cert, ocsp.Response{Status: ocsp.Revoked, SerialNumber: big.NewInt(1), ThisUpdate: now, RevokedAt: now}, key)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{response, cert.RawSubjectPublicKeyInfo, cert.Raw, {0x30, 6, 0xa0, 4, 0x30, 2, 0x87, 0}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var out strings.Builder
		w := Writer{W: &out, Now: now, Detailed: true}
		_ = w.OCSP(b)
		_ = w.PublicKey(b, "", false)
		altNames(b)
		constraints(b)
		policies(b)
		if c, err := x509.ParseCertificate(b); err == nil {
			w.Certificate(c, false)
		}
		if strings.ContainsRune(out.String(), '\x1b') {
			t.Errorf("it controls the terminal: %q", out.String())
		}
	})
}
