package auth

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// Query asks whether one certificate of a verified path is revoked, and says where to
// find out: the URIs of the section authorities first, then those of the certificate.
type Query struct {
	Cert, Issuer *x509.Certificate
	OCSP         []string // responders (RFC 6960)
	CRLs         []string // distribution points (RFC 5280 section 4.2.1.13)
}

// answerable reports whether there is anybody to ask.
func (q *Query) answerable() bool { return len(q.OCSP)+len(q.CRLs) > 0 }

// Fetcher is a RevocationChecker that can find out more.
type Fetcher interface {
	RevocationChecker
	// Fetch asks for what Check does not know yet. It may wait for the network, for a
	// bounded time; afterwards Check knows more, or says why not.
	Fetch(list []Query, now time.Time)
	// Staple returns an OCSP response, in DER, about a certificate of ours that others can be shown, or nil. It may wait
	// like Fetch.
	Staple(q Query, now time.Time) []byte
}

// Unsettled is the error of Store.Verify for a peer whose proof is good as far as it goes, when it is not
// known whether its certificates are revoked and a Fetcher can ask. Give the queries to
// Store.Fetch, where nobody else has to wait for it, and then verify again with Peer.Fetched set.
type Unsettled struct{ Queries []Query }

func (u *Unsettled) Error() string {
	return fmt.Sprintf("nobody has been asked yet whether %s is revoked", describe(u.Queries[0].Cert))
}

// Authority says where to ask about the certificates that a CA has issued: a
// section of authorities.
type Authority struct {
	CA   *x509.Certificate
	OCSP []string
	CRLs []string
}

// query collects whom to ask about a certificate.
func (s *Store) query(cert, issuer *x509.Certificate) Query {
	q := Query{Cert: cert, Issuer: issuer}
	for _, a := range s.authorities {
		if a.CA.Equal(issuer) {
			q.OCSP, q.CRLs = append(q.OCSP, a.OCSP...), append(q.CRLs, a.CRLs...)
		}
	}
	q.OCSP = slices.Concat(q.OCSP, cert.OCSPServer)
	q.CRLs = slices.Concat(q.CRLs, cert.CRLDistributionPoints)
	return q
}

// Fetch has the queries of an Unsettled answered. It may wait for the network.
func (s *Store) Fetch(list []Query, now time.Time) {
	if s != nil && s.fetcher != nil {
		s.fetcher.Fetch(list, now)
	}
}

// WithFetcher returns a copy of the Store that asks f. A nil Store stays nil.
func (s *Store) WithFetcher(f Fetcher) *Store {
	if s == nil {
		return nil
	}
	c := *s
	c.fetcher = f
	return &c
}
