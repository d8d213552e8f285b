package auth

import (
	"bytes"
	"crypto/sha1"
	"crypto/x509"
)

// Store holds the keys and certificates that the sections of connections refer to or are
// looked up by. It is never changed after NewStore, and used by
// several goroutines at once. A nil Store is empty.
type Store struct {
	keys       []PrivateKey
	certs      []*x509.Certificate // end entities: ours, and those of peers that are trusted as they are
	cas        []*x509.Certificate // trusted
	revocation RevocationChecker   // nil: nothing is known

	authorities []Authority
	ocspSigners []*x509.Certificate
	fetcher     Fetcher // nil: nobody can be asked

	roots, between *x509.CertPool // of cas: all, and those that another CA has issued
}

// Contents is what a Store is made of.
type Contents struct {
	Keys       []PrivateKey
	Certs      []*x509.Certificate // end entities: ours, and those of peers that are trusted as they are
	CAs        []*x509.Certificate // trusted to issue certificates; intermediate ones too
	Revocation RevocationChecker   // nil: nothing is known

	OCSPSigners []*x509.Certificate // OCSP responders that are trusted for every CA
	Authorities []Authority         // whom to ask about revoked certificates
}

// NewStore makes a Store, which owns c from now on.
func NewStore(c Contents) *Store {
	s := &Store{keys: c.Keys, certs: c.Certs, cas: c.CAs, revocation: c.Revocation, authorities: c.Authorities, ocspSigners: c.OCSPSigners, roots: x509.NewCertPool(), between: x509.NewCertPool()}
	for _, ca := range c.CAs {
		s.roots.AddCert(ca)
		if !selfIssued(ca) {
			s.between.AddCert(ca)
		}
	}
	return s
}

// Trusts reports whether there is anything that makes a peer's certificate trusted.
func (s *Store) Trusts() bool { return s != nil && len(s.cas)+len(s.certs) > 0 }

var emptyStore = NewStore(Contents{})

func (s *Store) orEmpty() *Store {
	if s == nil {
		return emptyStore
	}
	return s
}

// selfIssued reports whether a certificate names itself as its issuer.
func selfIssued(c *x509.Certificate) bool { return bytes.Equal(c.RawSubject, c.RawIssuer) }

// caHashLen is the length of the name of a CA in CERTREQ.
const caHashLen = sha1.Size

// caHash names a CA in CERTREQ (RFC 7296 section 3.7): SHA-1 of its
// SubjectPublicKeyInfo. Nothing hangs on its strength.
func caHash(ca *x509.Certificate) [caHashLen]byte { return sha1.Sum(ca.RawSubjectPublicKeyInfo) }

// maxRequestedCAs bounds CERTREQ, which must fit into IKE_SA_INIT.
const maxRequestedCAs = 40

// Request returns the certification authorities of a CERTREQ payload (RFC 7296 section 3.7):
// those that one of the remote sections accepts. It is empty if none accepts certificates
// of a CA.
func (s *Store) Request(remotes []*Terms) []byte {
	s = s.orEmpty()
	var out []byte
	seen := map[[caHashLen]byte]bool{}
	for _, r := range remotes {
		list := r.CACerts
		if len(list) == 0 {
			list = s.cas
		}
		for _, ca := range list {
			if h := caHash(ca); !seen[h] && len(seen) < maxRequestedCAs {
				seen[h] = true
				out = append(out, h[:]...)
			}
		}
	}
	return out
}

// requested reports whether one of the certificates is named in the
// authorities of CERTREQ payloads.
func requested(path []*x509.Certificate, authorities []byte) bool {
	for _, c := range path {
		h := caHash(c)
		for rest := authorities; len(rest) >= caHashLen; rest = rest[caHashLen:] {
			if bytes.Equal(h[:], rest[:caHashLen]) {
				return true
			}
		}
	}
	return false
}
