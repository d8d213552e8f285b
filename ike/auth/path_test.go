package auth

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"strings"
	"testing"
)

func withPolicy(t *testing.T, oids ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		for _, o := range oids {
			c.Policies = append(c.Policies, policy(t, o))
		}
	}
}

func policy(t *testing.T, s string) x509.OID {
	t.Helper()
	o, err := x509.ParseOID(s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A policy is valid for a path if every certificate below the root names it (RFC 5280 section 6.1.5).
func TestCertificatePolicies(t *testing.T) {
	const site, other, every = "1.3.6.1.4.1.36906.1.1.1", "1.3.6.1.4.1.36906.1.1.2", "2.5.29.32.0"
	root := issue(t, nil, "Root", nil, asCA)
	sub := issue(t, root, "Sub", nil, all(asCA, withPolicy(t, site, other)))
	open := issue(t, root, "Open", nil, all(asCA, withPolicy(t, every)))
	strict := issue(t, root, "Strict", nil, all(asCA, withPolicy(t, site), func(c *x509.Certificate) {
		c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 54}, Critical: true, Value: []byte{2, 1, 0}}} // inhibitAnyPolicy 0
	}))
	bare := issue(t, root, "Bare", nil, asCA)
	s := NewStore(Contents{CAs: certs(root)})
	for _, c := range []struct {
		name     string
		issuer   *entity
		has      []string
		demanded []string
		good     bool
	}{
		{"none demanded", bare, nil, nil, true},
		{"has it", sub, []string{site}, []string{site}, true},
		{"has another", sub, []string{other}, []string{site}, false},
		{"has none", sub, nil, []string{site}, false},
		{"has both", sub, []string{site, other}, []string{site, other}, true},
		{"has one of both", sub, []string{site}, []string{site, other}, false},
		{"its CA may issue any", open, []string{site}, []string{site}, true},
		{"is good for any", sub, []string{every}, []string{site}, true},
		{"may not be good for any", strict, []string{every}, []string{site}, false},
		{"its CA names none", bare, []string{site}, []string{site}, false},
	} {
		terms := &Terms{}
		for _, d := range c.demanded {
			terms.Policies = append(terms.Policies, policy(t, d))
		}
		p := proof(t, "gw.example", issue(t, c.issuer, "gw", nil, all(withDNS("gw.example"), withPolicy(t, c.has...))), c.issuer)
		_, err := s.Verify(p, terms, noon)
		if (err == nil) != c.good || err != nil && !strings.Contains(err.Error(), "is not issued under the policy 1.3.6.1.4.1.36906.1.1.") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// A certificate that is trusted as it is has no path.
	gw := issue(t, root, "gw", nil, withDNS("gw.example"))
	pinned := NewStore(Contents{Certs: certs(gw), CAs: certs(root)})
	if _, err := pinned.Verify(proof(t, "gw.example", gw), &Terms{Policies: []x509.OID{policy(t, site)}}, noon); err == nil {
		t.Error("a configured certificate passes without the policy")
	}
}

// RFC 5280 section 4.2.1.9: how many CAs may follow.
func TestPathLength(t *testing.T) {
	short := func(c *x509.Certificate) { asCA(c); c.MaxPathLen, c.MaxPathLenZero = 0, true }
	root := issue(t, nil, "Root", nil, asCA)
	sub := issue(t, root, "Sub", nil, short)
	deep := issue(t, sub, "Deep", nil, asCA)
	s := NewStore(Contents{CAs: certs(root)})
	if _, err := s.Verify(proof(t, "gw.example", issue(t, sub, "gw", nil, withDNS("gw.example")), sub), &Terms{}, noon); err != nil {
		t.Error(err)
	}
	if _, err := s.Verify(proof(t, "gw.example", issue(t, deep, "gw", nil, withDNS("gw.example")), deep, sub), &Terms{}, noon); err == nil {
		t.Error("a CA below one that may have none is trusted")
	}
}
