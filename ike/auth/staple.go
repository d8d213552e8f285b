package auth

import (
	"slices"
	"time"
)

// Staple returns OCSP responses about our certificate and those between it and its root, as far as somebody can be
// asked, for a peer that wants to see them (RFC 4806). It may wait for the network.
func (s *Store) Staple(c *Credential, now time.Time) [][]byte {
	if !s.Staples(c) {
		return nil
	}
	var out [][]byte
	for _, q := range s.stapled(c) {
		if r := s.fetcher.Staple(q, now); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// Staples reports whether there is anybody whom Staple can ask.
func (s *Store) Staples(c *Credential) bool {
	return s != nil && s.fetcher != nil && c != nil && len(s.stapled(c)) > 0
}

// stapled returns what to ask about our certificates.
func (s *Store) stapled(c *Credential) []Query {
	if c.Cert == nil {
		return nil
	}
	path, root := s.issuers(c.Cert)
	all := append(slices.Clone(path), root...)
	var out []Query
	for i := range len(all) - 1 {
		if q := s.query(all[i], all[i+1]); len(q.OCSP) > 0 {
			out = append(out, q)
		}
	}
	return out
}

// Responders returns the OCSP responders of a CERTREQ payload of RFC 4806: those that are trusted for every CA. That it is empty
// means that those are good that the peer's CA has named.
func (s *Store) Responders() []byte {
	var out []byte
	for _, c := range s.orEmpty().ocspSigners[:min(len(s.orEmpty().ocspSigners), maxRequestedCAs)] {
		h := caHash(c)
		out = append(out, h[:]...)
	}
	return out
}
