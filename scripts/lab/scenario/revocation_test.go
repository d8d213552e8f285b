//go:build lab

package scenario

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// revocationCase is a certificate of charon's, with something to say about it at its CA.
type revocationCase struct {
	name    string
	policy  string
	crl     string // path below the CA's server; empty: none
	ocsp    string
	revoked bool
	want    string // pattern of our complaint; empty: it comes up
}

// revocationCases come in this order: a CRL, once fetched, answers for all certificates of its CA.
var revocationCases = []revocationCase{
	{"no-uri-ifuri", "ifuri", "", "", false, ""},
	{"crl-gone-strict", "strict", "/gone", "", false, `revocation = strict, and the status of .* is unknown: http://.*/gone: the server answers 404 Not Found`},
	{"crl-gone-relaxed", "relaxed", "/gone", "", false, ""},
	{"crl-hangs-ifuri", "ifuri", "/hangs", "", false, `revocation = ifuri, and the status of .* is unknown: http://.*/hangs: no answer in time`},
	{"ocsp-good", "strict", "", "/ocsp", false, ""},
	{"ocsp-revoked", "relaxed", "", "/ocsp", true, `is revoked: by an OCSP response of 'C=CH, O=Lab, CN=Lab Root' since`},
	{"crl-revoked", "relaxed", "/crl", "", true, `is revoked: by the CRL of 'C=CH, O=Lab, CN=Lab Root' since`},
	{"ocsp-hangs-crl-good", "strict", "/crl", "/hangs", false, ""},
	{"crl-good", "strict", "/crl", "", false, ""},
}

// authorityServer answers for a CA: its CRL, and OCSP requests, which OpenSSL answers.
type authorityServer struct {
	t     *testing.T
	ca    *holder
	dir   string
	crl   []byte
	index string // OpenSSL's database of certificates
}

// issued says which certificates there are.
func (s *authorityServer) issued(all map[*holder]bool) {
	s.t.Helper()
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(24 * time.Hour)}
	for h, revoked := range all {
		const form = "060102150405Z"
		status, at := "V", ""
		if revoked {
			status, at = "R", time.Now().Add(-time.Minute).UTC().Format(form)
			list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: h.cert.SerialNumber, RevocationTime: time.Now().Add(-time.Minute)})
		}
		serial := fmt.Sprintf("%X", h.cert.SerialNumber)
		if len(serial)%2 != 0 {
			serial = "0" + serial
		}
		s.index += strings.Join([]string{status, h.cert.NotAfter.UTC().Format(form), at, serial, "unknown", "/CN=" + h.cert.Subject.CommonName}, "\t") + "\n"
	}
	var err error
	if s.crl, err = x509.CreateRevocationList(rand.Reader, list, s.ca.cert, s.ca.key); err != nil {
		s.t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(s.ca.key)
	if err != nil {
		s.t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"index": []byte(s.index),
		"ca":    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.ca.cert.Raw}),
		"key":   pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), content, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *authorityServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/crl":
		w.Write(s.crl)
	case "/ocsp":
		s.ocsp(w, r)
	case "/hangs":
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	default:
		http.NotFound(w, r)
	}
}

func (s *authorityServer) ocsp(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	dir, err := os.MkdirTemp(s.dir, "")
	if err != nil {
		s.t.Error(err)
		return
	}
	in, out := filepath.Join(dir, "request"), filepath.Join(dir, "response")
	if err := os.WriteFile(in, request, 0o600); err != nil {
		s.t.Error(err)
		return
	}
	cmd := exec.Command("openssl", "ocsp", "-index", "index", "-CA", "ca", "-rsigner", "ca", "-rkey", "key", "-reqin", in, "-respout", out)
	cmd.Dir = s.dir
	if text, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("openssl ocsp: %v\n%s", err, text)
		return
	}
	response, err := os.ReadFile(out)
	if err != nil {
		s.t.Error(err)
		return
	}
	w.Write(response)
}

// TestRevocation has ipsecd ask the CA about charon's certificates, as initiator and as responder.
func TestRevocation(t *testing.T) {
	needIpsecd(t)
	p, ca := newPair(t), newAuthority(t)
	server := &authorityServer{t: t, ca: ca.root, dir: t.TempDir()}
	url := labtest.ServeHTTP(t, p.them, fmt.Sprintf("10.50.1.%d:8080", maxTunnels), server)
	ourFiles, theirFiles := files{}, files{}
	all := map[*holder]bool{}
	var ours, theirs string
	for i, c := range revocationCases {
		tunnel := certTunnel{name: c.name}
		conn := p.tunnel(c.name, i+1, suite{})
		ca.issue(t, ourFiles, c.name, conn.localID, credential{key: "ecdsa256"}, nil)
		h := ca.issue(t, theirFiles, c.name, conn.remoteID, credential{key: "ecdsa256"}, func(cert *x509.Certificate) {
			if c.crl != "" {
				cert.CRLDistributionPoints = []string{url + c.crl}
			}
			if c.ocsp != "" {
				cert.OCSPServer = []string{url + c.ocsp}
			}
		})
		all[h] = c.revoked
		ours += tunnel.conf(conn, credential{}, credential{}, "pubkey\n            revocation = "+c.policy)
		theirs += tunnel.conf(conn.reversed(), credential{}, credential{}, "pubkey")
	}
	server.issued(all)
	us, them := startCertified(t, p, ours, theirs, ourFiles, theirFiles, len(revocationCases), quickDPD)
	for i, c := range revocationCases {
		for role, first := range map[string]labtest.Vici{"initiator": us.Vici, "responder": them.Vici} {
			t.Run(c.name+"-"+role, func(t *testing.T) {
				if c.want != "" {
					if _, err := first.Call("initiate", "child", c.name, "timeout", "120000"); err == nil {
						t.Error("it has come up")
					}
					return
				}
				first.Initiate(t, c.name)
				awaitChild(t, c.name, us.Vici, them.Vici)
				labtest.Ping(t, p.us, 1, p.themInner(i+1))
				if err := first.Terminate(c.name); err != nil {
					t.Fatal(err)
				}
				labtest.WaitFor(t, time.Minute, c.name+" gone", func() error { return goneAt(c.name, us.Vici, them.Vici) })
			})
		}
		if c.want != "" {
			awaitComplaints(t, us, c.name, c.want)
		}
	}
}
