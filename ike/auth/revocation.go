package auth

import (
	"crypto/x509"
	"fmt"
	"strings"
	"time"
)

// RevocationPolicy is how much must be known about the revocation of the
// peer's certificates: the revocation key of a remote section.
type RevocationPolicy uint8

// The policies. A certificate that is known to be revoked is refused by each.
const (
	RevocationRelaxed RevocationPolicy = iota // unknown is good enough
	RevocationIfURI                           // unknown is good enough for certificates without a URI to ask
	RevocationStrict                          // every certificate must be known to be good
)

// String returns the word of swanctl.conf.
func (p RevocationPolicy) String() string {
	switch p {
	case RevocationIfURI:
		return "ifuri"
	case RevocationStrict:
		return "strict"
	}
	return "relaxed"
}

// Status is what is known about the revocation of a certificate.
type Status uint8

// The states.
const (
	StatusUnknown Status = iota
	StatusGood
	StatusRevoked
)

// RevocationChecker tells whether a certificate is revoked, and why it says so. It is asked from
// several goroutines at once, outside of the engine, and only about
// certificates whose path has been verified. It answers at once.
type RevocationChecker interface {
	Check(cert, issuer *x509.Certificate, now time.Time) (Status, string)
}

// RevocationData answers from CRLs and OCSP responses at hand. They are not
// trusted before they are verified at the time of the check.
type RevocationData struct {
	CRLs []*x509.RevocationList
	OCSP [][]byte // in DER

	// Signers are OCSP responders that are trusted for every CA.
	Signers []*x509.Certificate
}

// Check asks the OCSP responses and the CRLs. One that says revoked wins.
func (d *RevocationData) Check(cert, issuer *x509.Certificate, now time.Time) (Status, string) {
	status, why := StatusUnknown, "no CRL or OCSP response of its issuer is at hand"
	for _, source := range []func(cert, issuer *x509.Certificate, now time.Time) (Status, string){d.checkOCSP, d.checkCRLs} {
		got, text := source(cert, issuer, now)
		switch {
		case got == StatusRevoked:
			return got, text
		case got == StatusGood, status == StatusUnknown && text != "":
			status, why = got, text
		}
	}
	return status, why
}

// checkers asks several in turn, until one knows.
type checkers []RevocationChecker

func (c checkers) Check(cert, issuer *x509.Certificate, now time.Time) (Status, string) {
	status, why := StatusUnknown, "nothing is known about revoked certificates"
	for _, one := range c {
		got, text := one.Check(cert, issuer, now)
		if got == StatusRevoked {
			return got, text
		}
		if status == StatusUnknown {
			status, why = got, text
		}
	}
	return status, why
}

// checkRevocation applies the policy to a verified path, whose last certificate is trusted by
// configuration and not asked about. Where nothing is known although somebody could be
// asked, the error is an Unsettled, whatever the policy.
func (s *Store) checkRevocation(path []*x509.Certificate, p *Peer, policy RevocationPolicy, now time.Time) error {
	checker := s.checker(p)
	var open []Query
	var first error
	for i := range len(path) - 1 {
		q := s.query(path[i], path[i+1])
		status, why := checker.Check(q.Cert, q.Issuer, now)
		if status == StatusRevoked {
			return rejected(RejectedRevoked, fmt.Errorf("%s is revoked: %s", describe(q.Cert), why))
		}
		if status != StatusUnknown {
			continue
		}
		if q.answerable() {
			open = append(open, q)
		}
		if first == nil && (policy == RevocationStrict || policy == RevocationIfURI && q.answerable()) {
			first = rejected(RejectedStatus, fmt.Errorf("revocation = %v, and the status of %s is unknown: %s", policy, describe(q.Cert), why))
		}
	}
	if s.fetcher != nil && len(open) > 0 && !p.Fetched {
		return &Unsettled{open}
	}
	return first
}

// describe names a certificate in a message.
func describe(c *x509.Certificate) string {
	return fmt.Sprintf("the certificate of '%s'", subject(c))
}

// Subject returns a certificate's subject as an identity.
func Subject(c *x509.Certificate) Identity { return Identity{IDASN1DN, string(c.RawSubject)} }

func subject(c *x509.Certificate) string { return Subject(c).String() }

func issuer(c *x509.Certificate) string { return Identity{IDASN1DN, string(c.RawIssuer)}.String() }

func date(t time.Time) string {
	return strings.TrimSuffix(t.UTC().Format("2006-01-02 15:04:05"), " 00:00:00") + " UTC"
}
