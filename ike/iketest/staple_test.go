package iketest

import (
	"crypto/x509"
	"math/big"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// stapleOf is a library with an OCSP response of the CA about one certificate.
func stapleOf(t *testing.T, ca, about *holder, status int) *library {
	t.Helper()
	der, err := ocsp.CreateResponse(ca.cert, ca.cert, ocsp.Response{
		Status: status, SerialNumber: about.cert.SerialNumber, ThisUpdate: start.Add(-time.Minute), NextUpdate: start.Add(time.Hour), RevokedAt: start.Add(-time.Hour),
	}, ca.key)
	if err != nil {
		t.Fatal(err)
	}
	return &library{staples: map[string][]byte{about.cert.SerialNumber.String(): der}}
}

// TestOCSPInIKE: each end shows an OCSP response about its certificate if it is asked for that and ocsp allows it (RFC 4806). Both insist on
// one, and cannot ask anybody themselves.
func TestOCSPInIKE(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	linked := func(serial int64) func(c *x509.Certificate) {
		return func(c *x509.Certificate) {
			c.OCSPServer, c.SerialNumber = []string{"http://ocsp.example"}, big.NewInt(serial)
		}
	}
	a, b := certify(t, root, EndA.ID, certKeys()["ecdsa384"], linked(76)), certify(t, root, EndB.ID, certKeys()["ecdsa521"], linked(77))
	const reply, request, both, never = ike.OCSPReply, ike.OCSPRequest, ike.OCSPBoth, ike.OCSPNever
	for _, c := range []struct {
		name             string
		initiator        ike.OCSPPolicy
		responder        ike.OCSPPolicy
		statusA, statusB int
		failure          string // of the end that refuses; empty: none does
	}{
		{"both", both, both, ocsp.Good, ocsp.Good, ""},
		{"the responder does not ask", both, reply, ocsp.Good, ocsp.Good, "the status of the certificate of 'O=Test, CN=a.example' is unknown"},
		{"the initiator does not answer", request, both, ocsp.Good, ocsp.Good, "the status of the certificate of 'O=Test, CN=a.example' is unknown"},
		{"the responder does not answer", both, request, ocsp.Good, ocsp.Good, "the status of the certificate of 'O=Test, CN=b.example' is unknown"},
		{"the initiator does neither", never, both, ocsp.Good, ocsp.Good, "the status of the certificate of 'O=Test, CN=a.example' is unknown"},
		{"revoked at the responder", both, both, ocsp.Good, ocsp.Revoked, "the certificate of 'O=Test, CN=b.example' is revoked"},
		{"revoked at the initiator", both, both, ocsp.Revoked, ocsp.Good, "the certificate of 'O=Test, CN=a.example' is revoked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			libA, libB := stapleOf(t, root, a, c.statusA), stapleOf(t, root, b, c.statusB)
			p := NewPair(1, func(ca, cb *ike.Config) {
				certified(t, ca, a, root)
				certified(t, cb, b, root)
				ca.Credentials, cb.Credentials = ca.Credentials.WithFetcher(libA), cb.Credentials.WithFetcher(libB)
				for _, cfg := range []*ike.Config{ca, cb} {
					cfg.Connections[0].Remote.Terms.Revocation = auth.RevocationStrict
				}
				ca.Connections[0].OCSP, cb.Connections[0].OCSP = c.initiator, c.responder
			})
			p.A.FetchTime, p.B.FetchTime = 5*time.Second, 5*time.Second
			p.A.Initiate()
			p.RunFor(settleTime)
			if c.failure == "" {
				agree(t, p)
				return
			}
			empty(t, p.Net)
			if failures := strings.Join(append(p.A.Failures(), p.B.Failures()...), "\n"); !strings.Contains(failures, c.failure) {
				failRun(t, p.Net, "failures %q, want %q", failures, c.failure)
			}
		})
	}
}

// TestOCSPInIKEWithEverySingleFault loses, repeats and delays each message of a set-up in which both ends show OCSP responses.
func TestOCSPInIKEWithEverySingleFault(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	linked := func(c *x509.Certificate) { c.OCSPServer = []string{"http://ocsp.example"} }
	a, b := certify(t, root, EndA.ID, certKeys()["ecdsa384"], linked), certify(t, root, EndB.ID, certKeys()["ecdsa521"], linked)
	s := scenario{name: "OCSP in IKE", setUp: true, a: events(initiate), edit: func(ca, cb *ike.Config) {
		persist(ca, cb)
		certified(t, ca, a, root)
		certified(t, cb, b, root)
		ca.Credentials = ca.Credentials.WithFetcher(stapleOf(t, root, a, ocsp.Good))
		cb.Credentials = cb.Credentials.WithFetcher(stapleOf(t, root, b, ocsp.Good))
		for _, cfg := range []*ike.Config{ca, cb} {
			cfg.Connections[0].OCSP, cfg.Connections[0].Remote.Terms.Revocation = ike.OCSPBoth, auth.RevocationStrict
		}
	}}
	s.enumerate(t)
}
