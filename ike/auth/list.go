package auth

import (
	"crypto"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
)

// Listed is a certificate that a Store holds.
type Listed struct {
	Cert   *x509.Certificate
	CA     bool // trusted to issue certificates
	HasKey bool // the Store has its private key
}

// Certificates returns the Store's certificates: CAs first.
func (s *Store) Certificates() []Listed {
	s = s.orEmpty()
	var out []Listed
	for _, c := range s.cas {
		out = append(out, s.listed(c, true))
	}
	for _, c := range s.certs {
		out = append(out, s.listed(c, false))
	}
	return out
}

func (s *Store) listed(c *x509.Certificate, ca bool) Listed {
	_, ok := s.key(c.PublicKey)
	return Listed{c, ca, ok}
}

// HasKey reports whether the Store has the private key of a certificate.
func (s *Store) HasKey(c *x509.Certificate) bool { return s.orEmpty().listed(c, false).HasKey }

// HasPublic reports whether the Store has the private key of a public key.
func (s *Store) HasPublic(pub crypto.PublicKey) bool {
	_, ok := s.orEmpty().key(pub)
	return ok
}

// CRLs returns the revocation lists that the Store was made with.
func (s *Store) CRLs() []*x509.RevocationList {
	if d, ok := s.orEmpty().revocation.(*RevocationData); ok {
		return d.CRLs
	}
	return nil
}

// OCSPSigners returns the OCSP responders that are trusted for every CA.
func (s *Store) OCSPSigners() []*x509.Certificate { return s.orEmpty().ocspSigners }

// KeyIDs returns the names of the private keys, as VICI has them: SHA-1 of their
// SubjectPublicKeyInfo, in hexadecimal digits.
func (s *Store) KeyIDs() []string {
	var out []string
	for _, k := range s.orEmpty().keys {
		if spki, err := x509.MarshalPKIXPublicKey(k.Public()); err == nil {
			sum := sha1.Sum(spki)
			out = append(out, hex.EncodeToString(sum[:]))
		}
	}
	return out
}

// Names reports whether a certificate says that its owner is id (RFC 4945
// section 3.1); a distinguished name may have wildcards.
func Names(c *x509.Certificate, id Identity) bool { return confirmsMatch(c, id) }

// Issuer returns the name of a certificate's issuer as an identity.
func Issuer(c *x509.Certificate) Identity { return Identity{IDASN1DN, string(c.RawIssuer)} }
