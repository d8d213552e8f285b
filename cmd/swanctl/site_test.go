package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/cmd/internal/vici"
)

// site is a folder such as /etc/swanctl: with one file in each of its folders, since the stock swanctl reads them in no order.
type site struct {
	dir  string
	ocsp []byte // a response about its certificate
}

const siteConf = `connections {
    gw {
        version = 2
        local_addrs = 192.0.2.1
        remote_addrs = 192.0.2.2, 192.0.2.3
        proposals = aes128-sha256-x25519
        dpd_delay = 30s
        local {
            auth = pubkey
            certs = us.pem
            id = us.example
        }
        remote {
            auth = pubkey
            cacerts = ca.pem
            id = them.example
            revocation = strict
        }
        children {
            net {
                local_ts = 10.1.0.0/16, 10.3.0.0/16[tcp/443]
                remote_ts = 10.2.0.0/16
                esp_proposals = aes128-sha256
                rekey_bytes = 1000000
                priority = 7
            }
        }
    }
    road {
        remote_addrs = %any
        pools = p4
        local {
            auth = psk
        }
        remote {
            auth = psk
        }
        children {
            road { }
        }
    }
}
pools {
    p4 {
        addrs = 10.9.0.0/24
        dns = 10.1.0.1, 10.1.0.2
    }
}
authorities {
    lab {
        cacert = ca.pem
        crl_uris = http://crl.example/a.crl, http://crl.example/b.crl
        ocsp_uris = http://ocsp.example
    }
}
secrets {
    ike-1 {
        id = them.example
        id-2 = 192.0.2.9
        secret = "a secret"
    }
    ike-2 {
        secret = 0x0102ff
    }
    ppk {
        id = quantum
        secret = 0sAQIDBA==
    }
    eap-carol {
        id = carol
        secret = "hers"
    }
}
`

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
	caKey, key := rsaKey(t), rsaKey(t)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{Country: []string{"CH"}, Organization: []string{"Lab"}, CommonName: "Lab CA"},
		IsCA: true, BasicConstraintsValid: true, MaxPathLen: 2, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		PermittedDNSDomains: []string{"example"}, ExcludedEmailAddresses: []string{"example.org"},
	}
	ca = s.certify(t, "x509ca/ca.pem", ca, ca, caKey.Public(), caKey)
	us := s.certify(t, "x509/us.pem", &x509.Certificate{
		SerialNumber: big.NewInt(0xff0012), Subject: pkix.Name{CommonName: "us"}, DNSNames: []string{"us.example", "*.us.example"},
		IPAddresses: []net.IP{net.IPv4(192, 0, 2, 1), net.ParseIP("fec0::1")}, EmailAddresses: []string{"us@example"}, URIs: []*url.URL{{Scheme: "http", Host: "us.example"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, CRLDistributionPoints: []string{"http://crl.example/1", "http://crl.example/2"},
		OCSPServer: []string{"http://ocsp.example/1", "http://ocsp.example/2"}, Policies: []x509.OID{oid(t, 1, 2, 3), oid(t, 1, 3, 6, 1, 4, 1, 36906)},
	}, ca, key.Public(), caKey)
	s.certify(t, "x509ocsp/signer.pem", &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "signer"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}}, ca, key.Public(), caKey)
	s.certify(t, "x509aa/groups.pem", &x509.Certificate{SerialNumber: big.NewInt(8), Subject: pkix.Name{CommonName: "groups"}}, ca, key.Public(), caKey)
	s.write(t, "private/us.pem", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	spki, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "pubkey/us.pem", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki}))
	revoked := []x509.RevocationListEntry{
		{SerialNumber: big.NewInt(3), RevocationTime: time.Now(), ReasonCode: 1}, {SerialNumber: big.NewInt(0xabcd), RevocationTime: time.Now()},
	}
	crl, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: big.NewInt(0x1234), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(49 * time.Hour), RevokedCertificateEntries: revoked,
	}, ca, caKey)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "x509crl/ca.crl", crl)
	s.ocsp, err = ocsp.CreateResponse(ca, ca, ocsp.Response{Status: ocsp.Revoked, SerialNumber: us.SerialNumber, ThisUpdate: time.Now().Add(-time.Minute),
		NextUpdate: time.Now().Add(time.Hour), RevokedAt: time.Now().Add(-time.Hour), RevocationReason: ocsp.KeyCompromise}, caKey)
	if err != nil {
		t.Fatal(err)
	}
	s.conf(t, siteConf)
	return s
}

func oid(t *testing.T, numbers ...uint64) x509.OID {
	t.Helper()
	o, err := x509.OIDFromInts(numbers)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// rsaKey is of the kind that the stock swanctl can read without more packages.
func rsaKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (s *site) certify(t *testing.T, file string, tmpl, parent *x509.Certificate, public crypto.PublicKey, signer crypto.Signer) *x509.Certificate {
	t.Helper()
	tmpl.NotBefore, tmpl.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(80*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, public, signer)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func (s *site) write(t *testing.T, file string, content []byte) {
	t.Helper()
	full := filepath.Join(s.dir, file)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *site) conf(t *testing.T, text string) {
	t.Helper()
	s.write(t, "swanctl.conf", []byte(text))
}

// serveStatus starts our VICI server on a daemon with tunnels up, and one that is coming up.
func serveStatus(t *testing.T, s *site) (*statustest.Control, string) {
	t.Helper()
	ctl := statustest.NewControl(statustest.New())
	ctl.FetchedData = status.Fetched{OCSP: [][]byte{s.ocsp}}
	uri := "unix://" + filepath.Join(t.TempDir(), "vici")
	srv, err := vici.Listen(uri, ctl, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return ctl, uri
}
