package vici

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// issue makes a certificate of a key, which is made if there is none, signed by another
// or by itself.
func issue(t *testing.T, tmpl, parent *x509.Certificate, signer crypto.Signer) (*x509.Certificate, crypto.Signer) {
	t.Helper()
	key := signer
	if parent != nil || signer == nil {
		var err error
		// The kind of key that swanctl can read without more packages.
		if key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			t.Fatal(err)
		}
	}
	if parent == nil {
		parent, signer = tmpl, key
	}
	tmpl.NotBefore, tmpl.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func caTemplate() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Lab CA"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
}

func gwTemplate() *x509.Certificate {
	return &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "gw"}, DNSNames: []string{"gw.example.org"}}
}

// withCertificates is a daemon with a CA, and a certificate whose key it has.
func withCertificates(t *testing.T) *statustest.Control {
	t.Helper()
	ca, caKey := issue(t, caTemplate(), nil, nil)
	gw, gwKey := issue(t, gwTemplate(), ca, caKey)
	key, err := auth.NewPrivateKey("gw.pem", gwKey)
	if err != nil {
		t.Fatal(err)
	}
	st := statustest.New()
	st.Config.IKE.Credentials = auth.NewStore(auth.Contents{
		Keys: []auth.PrivateKey{key}, Certs: []*x509.Certificate{gw}, CAs: []*x509.Certificate{ca},
	})
	// A connection that names it too does not make it two.
	st.Config.IKE.Connections[0].Local.Terms.Certs = []*x509.Certificate{gw}
	return statustest.NewControl(st)
}

// The stock swanctl finds in each event the DER that it prints, the kind of certificate and our key.
func TestSwanctlListCerts(t *testing.T) {
	for _, tt := range []struct {
		args     []string
		has, not string
	}{
		{[]string{"--list-certs"}, "has private key", ""},
		{[]string{"--list-certs"}, "List of X.509 CA Certificates", ""},
		{[]string{"--list-certs", "--flag", "ca"}, "CN=Lab CA", "altNames"},
		{[]string{"--list-certs", "--flag", "none"}, "altNames:  gw.example.org", "CA Certificates"},
		{[]string{"--list-certs", "--subject", "gw.example.org"}, "CN=gw", "CA Certificates"},
		{[]string{"--list-certs", "--type", "x509_crl"}, "", "CN="},
	} {
		got, err := swanctl(t, withCertificates(t), tt.args...)
		if err != nil || !strings.Contains(got, tt.has) || tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%v: error %v, want %q and not %q in\n%s", tt.args, err, tt.has, tt.not, got)
		}
	}
	if got, _ := swanctl(t, withCertificates(t), "--list-certs"); strings.Count(got, "altNames:  gw.example.org") != 1 {
		t.Errorf("the certificate is not listed once:\n%s", got)
	}
}

func TestSwanctlListAlgorithms(t *testing.T) {
	got, err := swanctl(t, statustest.NewControl(statustest.New()), "--list-algs")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"encryption:\n  AES_CBC[ipsecd]", "aead:\n  AES_GCM_16[ipsecd]", "CURVE_25519[ipsecd]", "PRF_HMAC_SHA2_256[ipsecd]"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// After a reset the counters start from zero, whatever the engine has counted.
func TestSwanctlCounters(t *testing.T) {
	c := dial(t, listenOn(t, statustest.NewControl(statustest.New())))
	if _, reply := c.call("reset-counters"); reply != "success=yes" {
		t.Fatalf("reset-counters: %s", reply)
	}
	if _, reply := c.call("get-counters"); !strings.Contains(reply, "child-rekey=0") {
		t.Errorf("after the reset: %s", reply)
	}
}
