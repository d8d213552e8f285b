package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// TestListCertificates lists each certificate under what it is there for.
func TestListCertificates(t *testing.T) {
	certify := func(name string) *x509.Certificate {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
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
	st := statustest.New()
	st.Config.IKE.Credentials = auth.NewStore(auth.Contents{Certs: []*x509.Certificate{certify("end")}, CAs: []*x509.Certificate{certify("root")}})
	st.Config.AACerts = []*x509.Certificate{certify("groups")}
	st.Config.Revocation.Signers = []*x509.Certificate{certify("responder")}
	uri := serve(t, statustest.NewControl(st))
	for verb, want := range map[string][2]string{
		"listcerts": {"List of X.509 End Entity Certificates", "end"}, "listcacerts": {"List of X.509 CA Certificates", "root"},
		"listaacerts": {"List of X.509 AA Certificates", "groups"}, "listocspcerts": {"List of X.509 OCSP Signer Certificates", "responder"},
	} {
		got := ipsec(t, uri, verb)
		if !strings.HasPrefix(got.stdout, "\n"+want[0]+"\n\n  subject:  \"CN="+want[1]+"\"\n") || strings.Count(got.stdout, "subject:") != 1 {
			t.Errorf("%s: %+v", verb, got)
		}
	}
}

// TestAddressesOfIgnoredInterfaces are not those at which the daemon listens.
func TestAddressesOfIgnoredInterfaces(t *testing.T) {
	st := statustest.New()
	st.Config.Routing.Ways.UseLinks = []string{"nosuch"}
	got := ipsec(t, serve(t, statustest.NewControl(st)), "statusall").stdout
	if !strings.Contains(got, "\nListening IP addresses:\nConnections:\n") {
		t.Error(got)
	}
}
