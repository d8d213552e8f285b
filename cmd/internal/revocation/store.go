package revocation

import (
	"bytes"
	"crypto/x509"
	"slices"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// store keeps OCSP responses and CRLs that were verified when they came; they are
// verified again whenever they are used, against the time as well. It is bounded.
type store struct {
	responses map[certID][]byte
	lists     map[issuerID]map[string]list // by URI
	count     int
	size      int // octets
}

type list struct {
	crl  *x509.RevocationList
	size int
}

func newStore() store {
	return store{responses: map[certID][]byte{}, lists: map[issuerID]map[string]list{}}
}

// about returns what may tell something about a certificate.
func (s *store) about(id certID) auth.RevocationData {
	var d auth.RevocationData
	if r, ok := s.responses[id]; ok {
		d.OCSP = [][]byte{r}
	}
	for _, l := range s.lists[id.issuer] {
		d.CRLs = append(d.CRLs, l.crl)
	}
	return d
}

// der returns everything, in a fixed order.
func (s *store) der() (crls, ocsp [][]byte) {
	for _, byURI := range s.lists {
		for _, l := range byURI {
			crls = append(crls, l.crl.Raw)
		}
	}
	for _, r := range s.responses {
		ocsp = append(ocsp, r)
	}
	slices.SortFunc(crls, bytes.Compare)
	slices.SortFunc(ocsp, bytes.Compare)
	return crls, ocsp
}

func (s *store) addOCSP(id certID, response []byte) {
	if len(s.responses) >= maxResponses {
		for other := range s.responses { // any: it can be asked for again
			delete(s.responses, other)
			break
		}
	}
	s.responses[id] = response
}

// addCRL keeps a CRL in place of the one that came from the same URI before.
func (s *store) addCRL(issuer issuerID, uri string, crl *x509.RevocationList, size int) {
	s.drop(issuer, uri)
	for s.count > 0 && (s.count >= maxLists || s.size+size > maxListsSize) {
		s.dropAny()
	}
	if s.lists[issuer] == nil {
		s.lists[issuer] = map[string]list{}
	}
	s.lists[issuer][uri] = list{crl, size}
	s.count++
	s.size += size
}

func (s *store) dropAny() {
	for issuer, byURI := range s.lists {
		for uri := range byURI {
			s.drop(issuer, uri)
			return
		}
	}
}

func (s *store) drop(issuer issuerID, uri string) {
	old, ok := s.lists[issuer][uri]
	if !ok {
		return
	}
	s.count--
	s.size -= old.size
	if delete(s.lists[issuer], uri); len(s.lists[issuer]) == 0 {
		delete(s.lists, issuer)
	}
}
