package auth

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

// crl makes a CRL of an issuer from an hour before noon to an hour after.
func crl(t *testing.T, issuer *entity, edit func(*x509.RevocationList), revoked ...*entity) *x509.RevocationList {
	t.Helper()
	l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: noon.Add(-time.Hour), NextUpdate: noon.Add(time.Hour)}
	for _, e := range revoked {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: e.cert.SerialNumber, RevocationTime: noon.Add(-2 * time.Hour)})
	}
	if edit != nil {
		edit(l)
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, issuer.cert, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	l, err = x509.ParseRevocationList(der)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// response makes an OCSP response about a certificate.
func response(t *testing.T, issuer, signer *entity, about *entity, status int, edit func(*ocsp.Response)) []byte {
	t.Helper()
	r := ocsp.Response{Status: status, SerialNumber: about.cert.SerialNumber, ThisUpdate: noon.Add(-time.Hour), NextUpdate: noon.Add(time.Hour), RevokedAt: noon.Add(-2 * time.Hour)}
	if signer != issuer {
		r.Certificate = signer.cert
	}
	if edit != nil {
		edit(&r)
	}
	der, err := ocsp.CreateResponse(issuer.cert, signer.cert, r, signer.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func critical(t *testing.T, id asn1.ObjectIdentifier, hex string) func(*x509.RevocationList) {
	value := unhex(t, hex)
	return func(l *x509.RevocationList) {
		l.ExtraExtensions = []pkix.Extension{{Id: id, Critical: true, Value: value}}
	}
}

// delta makes a CRL one that adds to another.
func delta(base, number int64) func(*x509.RevocationList) {
	return func(l *x509.RevocationList) {
		value, _ := asn1.Marshal(base)
		l.Number = big.NewInt(number)
		l.ExtraExtensions = append(l.ExtraExtensions, pkix.Extension{Id: oidDeltaCRLIndicator, Critical: true, Value: value})
	}
}

// scoped gives a CRL a scope of its own, beside its other extensions.
func scoped(t *testing.T, hex string) func(*x509.RevocationList) {
	value := unhex(t, hex)
	return func(l *x509.RevocationList) {
		l.ExtraExtensions = append(l.ExtraExtensions, pkix.Extension{Id: oidIssuingDistributionPoint, Critical: true, Value: value})
	}
}

// reason gives all entries a reason.
func reason(code int) func(*x509.RevocationList) {
	return func(l *x509.RevocationList) {
		for i := range l.RevokedCertificateEntries {
			l.RevokedCertificateEntries[i].ReasonCode = code
		}
	}
}

// edits is all for CRLs.
func edits(list ...func(*x509.RevocationList)) func(*x509.RevocationList) {
	return func(l *x509.RevocationList) {
		for _, edit := range list {
			edit(l)
		}
	}
}

func TestRevocation(t *testing.T) {
	root := issue(t, nil, "Root", nil, asCA)
	twin := issue(t, nil, "Root", nil, asCA) // another CA of the same name
	gw := issue(t, root, "gw", nil, withDNS("gw.example"))
	linked := issue(t, root, "linked", nil, all(withDNS("gw.example"), func(c *x509.Certificate) { c.CRLDistributionPoints = []string{"http://crl.example/a"} }))
	responder := issue(t, root, "OCSP", nil, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning} })
	lateResponder := issue(t, root, "OCSP", nil, func(c *x509.Certificate) {
		c.ExtKeyUsage, c.NotAfter = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}, noon.Add(-time.Minute)
	})
	elsewhere := issue(t, nil, "Elsewhere", nil, nil)
	stale := func(l *x509.RevocationList) {
		l.ThisUpdate, l.NextUpdate = noon.Add(-3*time.Hour), noon.Add(-time.Minute)
	}
	newer := func(l *x509.RevocationList) { l.ThisUpdate = noon.Add(-time.Minute) }
	future := func(l *x509.RevocationList) { l.ThisUpdate = noon.Add(30 * time.Minute) }

	crls := func(l ...*x509.RevocationList) RevocationData { return RevocationData{CRLs: l} }
	responses := func(l ...[]byte) RevocationData { return RevocationData{OCSP: l} }
	for _, c := range []struct {
		name  string
		peer  *entity
		data  RevocationData
		known Status
		why   string
	}{
		{"nothing", gw, crls(), StatusUnknown, "no CRL or OCSP response"},
		{"not in the CRL", gw, crls(crl(t, root, nil)), StatusGood, "not in the CRL of 'C=CH, O=Test, CN=Root'"},
		{"in the CRL", gw, crls(crl(t, root, nil, gw)), StatusRevoked, "since 2026-06-01 10:00:00 UTC"},
		{"another is in it", gw, crls(crl(t, root, nil, linked)), StatusGood, ""},
		{"not in an old CRL", gw, crls(crl(t, root, stale)), StatusUnknown, "due to be replaced on 2026-06-01 11:59:00 UTC"},
		{"in an old CRL", gw, crls(crl(t, root, stale, gw)), StatusRevoked, ""},
		{"the newer CRL counts", gw, crls(crl(t, root, nil), crl(t, root, newer, gw), crl(t, root, stale)), StatusRevoked, ""},
		{"off hold again", gw, crls(crl(t, root, nil, gw), crl(t, root, newer)), StatusGood, ""},
		{"CRL of the future", gw, crls(crl(t, root, future)), StatusUnknown, "in the future"},
		{"CRL of a CA of the same name", gw, crls(crl(t, twin, nil)), StatusUnknown, "is not signed by it"},
		{"revoked by a CA of the same name", gw, crls(crl(t, twin, nil, gw)), StatusUnknown, "is not signed by it"},
		{"delta CRL alone", gw, crls(crl(t, root, delta(1, 2))), StatusUnknown, "no CRL or OCSP response"},
		{"in the delta CRL", gw, crls(crl(t, root, nil), crl(t, root, delta(1, 2), gw)), StatusRevoked, "by the CRL"},
		{"not in the delta CRL", gw, crls(crl(t, root, nil), crl(t, root, delta(1, 2), linked)), StatusGood, ""},
		{"off hold by the delta CRL", gw, crls(crl(t, root, nil, gw), crl(t, root, edits(delta(1, 2), reason(reasonRemoveFromCRL)), gw)), StatusGood, ""},
		{"off hold by an old delta CRL", gw, crls(crl(t, root, nil, gw), crl(t, root, edits(delta(1, 2), stale, reason(reasonRemoveFromCRL)), gw)), StatusRevoked, ""},
		{"in an old delta CRL", gw, crls(crl(t, root, nil), crl(t, root, edits(delta(1, 2), stale), gw)), StatusRevoked, ""},
		{"the newer delta CRL counts", gw, crls(crl(t, root, delta(1, 3)), crl(t, root, nil), crl(t, root, delta(1, 2), gw)), StatusGood, ""},
		{"delta CRL for a later base", gw, crls(crl(t, root, nil), crl(t, root, delta(2, 3), gw)), StatusGood, ""},
		{"delta CRL that the base has in it", gw, crls(crl(t, root, nil), crl(t, root, delta(1, 1), gw)), StatusGood, ""},
		{"delta CRL of a CA of the same name", gw, crls(crl(t, root, nil), crl(t, twin, delta(1, 2), gw)), StatusGood, ""},
		{"delta CRL of another scope", gw, crls(crl(t, root, nil), crl(t, root, edits(delta(1, 2), scoped(t, "30038101ff")), gw)), StatusGood, ""},
		{"delta CRL of the future", gw, crls(crl(t, root, nil), crl(t, root, edits(delta(1, 2), future), gw)), StatusGood, ""},
		{"CRL for CAs", gw, crls(crl(t, root, critical(t, oidIssuingDistributionPoint, "30038201ff"))), StatusUnknown, "not for this certificate"},
		{"CRL for users", gw, crls(crl(t, root, critical(t, oidIssuingDistributionPoint, "30038101ff"))), StatusGood, ""},
		{"indirect CRL", gw, crls(crl(t, root, critical(t, oidIssuingDistributionPoint, "30038401ff"))), StatusUnknown, "not for this certificate"},
		{"CRL of another point", gw, crls(crl(t, root, critical(t, oidIssuingDistributionPoint, "301aa018a0168614687474703a2f2f63726c2e6578616d706c652f61"))), StatusUnknown, "not for this"},
		{"CRL of its point", linked, crls(crl(t, root, critical(t, oidIssuingDistributionPoint, "301aa018a0168614687474703a2f2f63726c2e6578616d706c652f61"))), StatusGood, ""},
		{"junk instead of a point", gw, crls(crl(t, root, critical(t, oidIssuingDistributionPoint, "3003820100ff"))), StatusUnknown, ""},

		{"OCSP good", gw, responses(response(t, root, root, gw, ocsp.Good, nil)), StatusGood, "good in the OCSP response"},
		{"OCSP revoked", gw, responses(response(t, root, root, gw, ocsp.Revoked, nil)), StatusRevoked, "by an OCSP response"},
		{"OCSP unknown", gw, responses(response(t, root, root, gw, ocsp.Unknown, nil)), StatusUnknown, ""},
		{"OCSP of a responder", gw, responses(response(t, root, responder, gw, ocsp.Good, nil)), StatusGood, ""},
		{"OCSP of an expired responder", gw, responses(response(t, root, lateResponder, gw, ocsp.Good, nil)), StatusUnknown, "which signs the OCSP response"},
		{"OCSP signed by any certificate of the CA", gw, responses(response(t, root, gw, gw, ocsp.Good, nil)), StatusUnknown, "which is not for that"},
		{"OCSP of another CA", gw, responses(response(t, twin, twin, gw, ocsp.Good, nil)), StatusUnknown, ""},
		{"old OCSP", gw, responses(response(t, root, root, gw, ocsp.Good, func(r *ocsp.Response) { r.NextUpdate = noon.Add(-time.Second) })), StatusUnknown, "due to be replaced"},
		{"OCSP of the future", gw, responses(response(t, root, root, gw, ocsp.Good, func(r *ocsp.Response) { r.ThisUpdate = noon.Add(time.Hour) })), StatusUnknown, "in the future"},
		{"OCSP of now, without an end", gw, responses(response(t, root, root, gw, ocsp.Good, func(r *ocsp.Response) { r.ThisUpdate, r.NextUpdate = noon.Add(-time.Minute), time.Time{} })), StatusGood, ""},
		{"OCSP of before, without an end", gw, responses(response(t, root, root, gw, ocsp.Good, func(r *ocsp.Response) { r.NextUpdate = time.Time{} })), StatusUnknown, "does not say how long it is good"},
		{"OCSP about another", gw, responses(response(t, root, root, linked, ocsp.Good, nil)), StatusUnknown, ""},
		{"OCSP of a responder that is configured", gw, RevocationData{OCSP: [][]byte{response(t, root, elsewhere, gw, ocsp.Good, nil)}, Signers: certs(elsewhere)}, StatusGood, ""},
		{"OCSP of a responder that is not configured", gw, RevocationData{OCSP: [][]byte{response(t, root, elsewhere, gw, ocsp.Good, nil)}, Signers: certs(responder)}, StatusUnknown, ""},
		{"OCSP about a certificate of another CA", gw, RevocationData{OCSP: [][]byte{response(t, twin, elsewhere, gw, ocsp.Good, nil)}, Signers: certs(elsewhere)}, StatusUnknown, ""},
		{"OCSP junk", gw, responses([]byte("junk"), nil), StatusUnknown, ""},
		{"revoked by one of both", gw, RevocationData{CRLs: []*x509.RevocationList{crl(t, root, nil, gw)}, OCSP: [][]byte{response(t, root, root, gw, ocsp.Good, nil)}}, StatusRevoked, ""},
	} {
		known, why := c.data.Check(c.peer.cert, root.cert, noon)
		if known != c.known || !strings.Contains(why, c.why) {
			t.Errorf("%s: status %d, %q; want %d, %q", c.name, known, why, c.known, c.why)
		}
		s := NewStore(Contents{CAs: certs(root), Revocation: &c.data})
		p := proof(t, "gw.example", c.peer)
		for policy, ok := range map[RevocationPolicy]bool{
			RevocationRelaxed: known != StatusRevoked,
			RevocationIfURI:   known == StatusGood || known == StatusUnknown && c.peer == gw,
			RevocationStrict:  known == StatusGood,
		} {
			if _, err := s.Verify(p, &Terms{Revocation: policy}, noon); (err == nil) != ok {
				t.Errorf("%s, revocation = %v: %v", c.name, policy, err)
			}
		}
	}
}

// What the peer sends along counts too, and intermediate CAs can be revoked.
func TestRevocationInThePath(t *testing.T) {
	root := issue(t, nil, "Root", nil, asCA)
	sub := issue(t, root, "Sub", nil, asCA)
	gw := issue(t, sub, "gw", nil, withDNS("gw.example"))
	s := NewStore(Contents{CAs: certs(root), Revocation: &RevocationData{CRLs: []*x509.RevocationList{crl(t, root, nil)}}})
	p := proof(t, "gw.example", gw, sub)
	if _, err := s.Verify(p, &Terms{Revocation: RevocationStrict}, noon); err == nil || !strings.Contains(err.Error(), "CN=gw' is unknown") {
		t.Errorf("nothing is known of Sub's: %v", err)
	}
	p.OCSP = [][]byte{response(t, sub, sub, gw, ocsp.Good, nil)}
	if _, err := s.Verify(p, &Terms{Revocation: RevocationStrict}, noon); err != nil {
		t.Errorf("with the peer's OCSP response: %v", err)
	}
	p.OCSP, p.CRLs = nil, [][]byte{crl(t, sub, nil).Raw, []byte("junk")}
	if _, err := s.Verify(p, &Terms{Revocation: RevocationStrict}, noon); err != nil {
		t.Errorf("with the peer's CRL: %v", err)
	}
	s = NewStore(Contents{CAs: certs(root), Revocation: &RevocationData{CRLs: []*x509.RevocationList{crl(t, root, nil, sub)}}})
	if _, err := s.Verify(p, &Terms{}, noon); err == nil || !strings.Contains(err.Error(), "CN=Sub' is revoked") {
		t.Errorf("Sub is revoked: %v", err)
	}
}

// asker counts what it is asked, and answers from what it learns by Fetch.
type asker struct {
	checks  int
	queries []Query
	learns  RevocationData
	known   RevocationData
	trouble string // of fetching
}

func (a *asker) Check(cert, issuer *x509.Certificate, now time.Time) (Status, string) {
	a.checks++
	status, why := a.known.Check(cert, issuer, now)
	return status, why + a.trouble
}

func (a *asker) Staple(Query, time.Time) []byte { return nil }

func (a *asker) Fetch(list []Query, _ time.Time) {
	a.queries = append(a.queries, list...)
	a.known = a.learns
}

func withURIs(c *x509.Certificate) {
	c.CRLDistributionPoints, c.OCSPServer = []string{"http://crl.example/own"}, []string{"http://ocsp.example/own"}
}

// Whoever looks for revocations must not follow the URIs of a certificate that anybody made.
func TestCVE2022_40617UntrustedURIsAreNotFetched(t *testing.T) {
	root, stranger := issue(t, nil, "Root", nil, asCA), issue(t, nil, "Root", nil, asCA)
	gw := all(withDNS("gw.example"), withURIs)
	var a asker
	s := NewStore(Contents{CAs: certs(root)}).WithFetcher(&a)
	refused := func(name string, p *Peer) {
		t.Helper()
		if _, err := s.Verify(p, &Terms{}, noon); err == nil || errors.As(err, new(*Unsettled)) || a.checks != 0 {
			t.Errorf("%s: asked %d times (%v)", name, a.checks, err)
		}
	}
	refused("a stranger's certificate", proof(t, "gw.example", issue(t, stranger, "gw", nil, gw), stranger))
	wrong := proof(t, "gw.example", issue(t, root, "gw", nil, gw))
	wrong.Octets = []byte("another exchange")
	refused("without the private key", wrong)
	refused("another's certificate", proof(t, "x.example", issue(t, root, "gw", nil, gw)))
	var open *Unsettled
	if _, err := s.Verify(proof(t, "gw.example", issue(t, root, "gw", nil, gw)), &Terms{}, noon); !errors.As(err, &open) || a.checks != 1 {
		t.Errorf("asked %d times about a good one (%v)", a.checks, err)
	}
}

// What is not known is asked for, once, before it is decided.
func TestUnsettled(t *testing.T) {
	root := issue(t, nil, "Root", nil, asCA)
	sub := issue(t, root, "Sub", nil, all(asCA, withURIs))
	gw := issue(t, sub, "gw", nil, all(withDNS("gw.example"), withURIs))
	site := Authority{CA: root.cert, CRLs: []string{"http://crl.example/root"}, OCSP: []string{"http://ocsp.example/root"}}
	fresh := RevocationData{CRLs: []*x509.RevocationList{crl(t, root, nil), crl(t, sub, nil)}}
	bad := RevocationData{CRLs: []*x509.RevocationList{crl(t, root, nil, sub), crl(t, sub, nil)}}
	for _, c := range []struct {
		name   string
		policy RevocationPolicy
		learns RevocationData
		err    string
	}{
		{"relaxed, good", RevocationRelaxed, fresh, ""},
		{"relaxed, revoked", RevocationRelaxed, bad, "CN=Sub' is revoked"},
		{"relaxed, nobody answers", RevocationRelaxed, RevocationData{}, ""},
		{"ifuri, good", RevocationIfURI, fresh, ""},
		{"ifuri, nobody answers", RevocationIfURI, RevocationData{}, "revocation = ifuri, and the status of the certificate of 'C=CH, O=Test, CN=gw' is unknown"},
		{"strict, good", RevocationStrict, fresh, ""},
		{"strict, revoked", RevocationStrict, bad, "CN=Sub' is revoked"},
		{"strict, nobody answers", RevocationStrict, RevocationData{}, "is at hand, since nobody answered"},
	} {
		a := asker{learns: c.learns, trouble: ", since nobody answered"}
		s := NewStore(Contents{CAs: certs(root), Authorities: []Authority{site}}).WithFetcher(&a)
		p, terms := proof(t, "gw.example", gw, sub), &Terms{Revocation: c.policy}
		_, err := s.Verify(p, terms, noon)
		var open *Unsettled
		if !errors.As(err, &open) || len(open.Queries) != 2 {
			t.Fatalf("%s: %v", c.name, err)
		}
		if q := open.Queries[1]; !q.Cert.Equal(sub.cert) || !q.Issuer.Equal(root.cert) ||
			strings.Join(q.CRLs, " ") != "http://crl.example/root http://crl.example/own" || strings.Join(q.OCSP, " ") != "http://ocsp.example/root http://ocsp.example/own" {
			t.Errorf("%s: %+v", c.name, q)
		}
		s.Fetch(open.Queries, noon)
		p.Fetched = true
		if _, err = s.Verify(p, terms, noon); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
}

// Where the URIs come from the section authorities alone, ifuri counts them.
func TestIfURIWithAuthority(t *testing.T) {
	root := issue(t, nil, "Root", nil, asCA)
	p := proof(t, "gw.example", issue(t, root, "gw", nil, withDNS("gw.example")))
	p.Fetched = true
	for _, site := range [][]Authority{nil, {{CA: root.cert, CRLs: []string{"http://crl.example"}}}} {
		s := NewStore(Contents{CAs: certs(root), Authorities: site})
		if _, err := s.Verify(p, &Terms{Revocation: RevocationIfURI}, noon); (err == nil) != (site == nil) {
			t.Errorf("authorities %v: %v", site, err)
		}
	}
}

// Whatever a peer or a responder sends: nobody without the CA's key makes a certificate good.
func FuzzOCSP(f *testing.F) {
	root, other := issue(f, nil, "Root", nil, asCA), issue(f, nil, "Root", nil, asCA)
	gw := issue(f, root, "gw", nil, nil)
	for _, signer := range []*entity{root, other, gw} {
		r := ocsp.Response{Status: ocsp.Good, SerialNumber: gw.cert.SerialNumber, ThisUpdate: noon.Add(-time.Hour), NextUpdate: noon.Add(time.Hour)}
		if signer != root {
			r.Certificate = signer.cert
		}
		der, err := ocsp.CreateResponse(root.cert, signer.cert, r, signer.key)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(der, signer == root)
	}
	f.Fuzz(func(t *testing.T, der []byte, genuine bool) {
		d := RevocationData{OCSP: [][]byte{der}, Signers: certs(other)}
		if status, why := d.Check(gw.cert, other.cert, noon); status != StatusUnknown {
			t.Errorf("another CA's: %d %s", status, why)
		}
		d.Signers = nil
		if status, _ := d.Check(gw.cert, root.cert, noon); status == StatusGood && !genuine {
			t.Errorf("%x makes the certificate good", der)
		}
	})
}
