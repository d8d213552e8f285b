package revocation

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"net/http"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// number is a CRL of an issuer; one with a base is a delta CRL, and freshest is where there are some.
func number(t *testing.T, issuer *entity, n, base int64, freshest string, revoked ...*entity) []byte {
	t.Helper()
	l := &x509.RevocationList{Number: big.NewInt(n), ThisUpdate: time.Now().Add(-time.Minute), NextUpdate: time.Now().Add(time.Hour)}
	for _, e := range revoked {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: e.cert.SerialNumber, RevocationTime: time.Now().Add(-time.Minute)})
	}
	add := func(id asn1.ObjectIdentifier, critical bool, value any) {
		der, err := asn1.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		l.ExtraExtensions = append(l.ExtraExtensions, pkix.Extension{Id: id, Critical: critical, Value: der})
	}
	if base > 0 {
		add(asn1.ObjectIdentifier{2, 5, 29, 27}, true, base)
	}
	if freshest != "" {
		uri := asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 6, Bytes: []byte(freshest)}
		type names struct {
			URIs []asn1.RawValue `asn1:"tag:0"`
		}
		type point struct {
			Name names `asn1:"tag:0"`
		}
		add(asn1.ObjectIdentifier{2, 5, 29, 46}, false, []point{{names{[]asn1.RawValue{uri}}}})
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, issuer.cert, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// TestDeltaCRLs: a CRL that names delta CRLs counts with them, and alone where they cannot be had; each is fetched once as long as it is good.
func TestDeltaCRLs(t *testing.T) {
	root, twin := issue(t, nil, "Root", nil), issue(t, nil, "Root", nil)
	gw := issue(t, root, "gw", nil)
	now := time.Now()
	for _, c := range []struct {
		name  string
		delta http.HandlerFunc
		want  auth.Status
		once  bool
	}{
		{"revoked since", answer(number(t, root, 2, 1, "", gw)), auth.StatusRevoked, true},
		{"nothing since", answer(number(t, root, 2, 1, "")), auth.StatusGood, true},
		{"gone", http.NotFound, auth.StatusGood, false},
		{"junk", answer([]byte("junk")), auth.StatusGood, false},
		{"a whole CRL", answer(number(t, root, 2, 0, "", gw)), auth.StatusGood, false},
		{"of a CA of the same name", answer(number(t, twin, 2, 1, "", gw)), auth.StatusGood, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			deltas := serve(t, c.delta)
			base := serve(t, answer(number(t, root, 1, 0, deltas.URL)))
			f := New(t.Context(), DefaultOptions())
			q := auth.Query{Cert: gw.cert, Issuer: root.cert, CRLs: []string{base.URL}}
			for range 3 {
				f.Fetch([]auth.Query{q}, now)
				if status, why := f.Check(gw.cert, root.cert, now); status != c.want {
					t.Fatalf("status %v, want %v: %s", status, c.want, why)
				}
			}
			if n := deltas.hits.Load(); n != 1 || base.hits.Load() != 1 {
				t.Errorf("the delta CRL was fetched %d times, the CRL %d times", n, base.hits.Load())
			}
		})
	}
}

// TestDeltaCRLIsWaitedFor: a CRL at hand does not make a certificate good before its delta CRL is there, too; an OCSP response does without.
func TestDeltaCRLIsWaitedFor(t *testing.T) {
	root := issue(t, nil, "Root", nil)
	gw, other := issue(t, root, "gw", nil), issue(t, root, "other", nil)
	deltas := serve(t, answer(number(t, root, 2, 1, "")))
	base := number(t, root, 1, 0, deltas.URL)
	f := New(t.Context(), DefaultOptions())
	list, err := x509.ParseRevocationList(base)
	if err != nil {
		t.Fatal(err)
	}
	f.known.addCRL(issuerOf(root.cert), "http://base.example", list, len(base))
	if status, why := f.Check(gw.cert, root.cert, time.Now()); status != auth.StatusUnknown {
		t.Errorf("before the delta CRL is there: %v %s", status, why)
	}
	f.Fetch([]auth.Query{{Cert: gw.cert, Issuer: root.cert}}, time.Now())
	if status, why := f.Check(gw.cert, root.cert, time.Now()); status != auth.StatusGood {
		t.Errorf("with the delta CRL: %v %s", status, why)
	}
	f.known.drop(issuerOf(root.cert), deltas.URL)
	f.known.addOCSP(idOf(other.cert, root.cert), response(t, root, other, ocsp.Good, nil))
	if status, why := f.Check(other.cert, root.cert, time.Now()); status != auth.StatusGood {
		t.Errorf("with an OCSP response: %v %s", status, why)
	}
}
