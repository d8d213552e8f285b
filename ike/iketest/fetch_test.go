package iketest

import (
	"crypto/rand"
	"crypto/x509"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// library has CRLs that it shows only when it has been asked, and OCSP responses for peers.
type library struct {
	shelf, shown auth.RevocationData
	staples      map[string][]byte // by serial number
	asked        int
}

func (l *library) Check(cert, issuer *x509.Certificate, now time.Time) (auth.Status, string) {
	return l.shown.Check(cert, issuer, now)
}

func (l *library) Staple(q auth.Query, _ time.Time) []byte {
	l.asked++
	return l.staples[q.Cert.SerialNumber.String()]
}

func (l *library) Fetch(list []auth.Query, _ time.Time) {
	l.asked += len(list)
	l.shown = l.shelf
}

func listOf(t *testing.T, ca *holder, revoked ...*holder) auth.RevocationData {
	t.Helper()
	l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: start.Add(-time.Minute), NextUpdate: start.Add(24 * time.Hour)}
	for _, h := range revoked {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: h.cert.SerialNumber, RevocationTime: start})
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, ca.cert, ca.key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseRevocationList(der)
	if err != nil {
		t.Fatal(err)
	}
	return auth.RevocationData{CRLs: []*x509.RevocationList{parsed}}
}

// TestRevocationIsFetched lets one end or the other ask before it decides, as long as the
// peer is patient.
func TestRevocationIsFetched(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	linked := func(c *x509.Certificate) { c.CRLDistributionPoints = []string{"http://crl.example"} }
	a := certify(t, root, EndA.ID, certKeys()["ecdsa384"], linked)
	b := certify(t, root, EndB.ID, certKeys()["ecdsa521"], func(c *x509.Certificate) { linked(c); c.SerialNumber = big.NewInt(77) })
	for _, c := range []struct {
		name           string
		shelfA, shelfB auth.RevocationData
		up             bool
	}{
		{"good", listOf(t, root), listOf(t, root), true},
		{"A is revoked", listOf(t, root), listOf(t, root, a), false},
		{"B is revoked", listOf(t, root, b), listOf(t, root), false},
		{"nobody answers A", auth.RevocationData{}, listOf(t, root), false},
		{"nobody answers B", listOf(t, root), auth.RevocationData{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			libA, libB := &library{shelf: c.shelfA}, &library{shelf: c.shelfB}
			p := NewPair(1, func(ca, cb *ike.Config) {
				certified(t, ca, a, root)
				certified(t, cb, b, root)
				ca.Credentials, cb.Credentials = ca.Credentials.WithFetcher(libA), cb.Credentials.WithFetcher(libB)
				ca.Connections[0].Remote.Terms.Revocation = auth.RevocationIfURI
				cb.Connections[0].Remote.Terms.Revocation = auth.RevocationStrict
			})
			p.A.FetchTime, p.B.FetchTime = 10*time.Second, 10*time.Second
			p.A.Initiate()
			p.RunFor(settleTime)
			if c.up {
				agree(t, p)
			} else {
				empty(t, p.Net)
			}
			if p.Up() != c.up {
				failRun(t, p.Net, "up: %v, want %v", p.Up(), c.up)
			}
			if libB.asked != 1 || libA.asked > 1 {
				t.Errorf("A asked %d times, B %d times", libA.asked, libB.asked)
			}
			if failures := strings.Join(append(p.A.Failures(), p.B.Failures()...), "\n"); !c.up && !strings.Contains(failures, "is revoked") && !strings.Contains(failures, "is unknown") {
				t.Errorf("failures: %s", failures)
			}
		})
	}
}

// TestFetchWithEverySingleFault loses, repeats and delays each message of a set-up in which both ends ask.
func TestFetchWithEverySingleFault(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	linked := func(c *x509.Certificate) { c.CRLDistributionPoints = []string{"http://crl.example"} }
	a, b := certify(t, root, EndA.ID, certKeys()["ecdsa384"], linked), certify(t, root, EndB.ID, certKeys()["ecdsa521"], linked)
	s := scenario{name: "fetch", setUp: true, a: events(initiate), edit: func(ca, cb *ike.Config) {
		persist(ca, cb)
		certified(t, ca, a, root)
		certified(t, cb, b, root)
		ca.Credentials = ca.Credentials.WithFetcher(&library{shelf: listOf(t, root)})
		cb.Credentials = cb.Credentials.WithFetcher(&library{shelf: listOf(t, root)})
	}}
	s.enumerate(t)
}
