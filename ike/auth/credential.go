package auth

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Credential is what we authenticate with.
type Credential struct {
	ID     Identity
	Key    PrivateKey
	Cert   *x509.Certificate   // nil: raw public key
	Path   []*x509.Certificate // CERT payloads: our certificate, and those between it and its root
	RawKey []byte              // SubjectPublicKeyInfo, if there is no certificate
}

// Credential chooses our key and certificate for an identity, which may be %any.
// authorities are those of the peer's CERTREQ payloads: a certificate under one of
// them is better than others (RFC 7296 section 3.7). An identity that no certificate confirms
// is kept, as strongSwan does, see Confirmed; %any becomes the subject.
func (s *Store) Credential(l *Terms, id Identity, authorities []byte, now time.Time) (*Credential, error) {
	s = s.orEmpty()
	if len(l.Pubkeys) > 0 && len(l.Certs) == 0 {
		return s.rawCredential(l, id)
	}
	list := l.Certs
	if len(list) == 0 {
		list = slices.DeleteFunc(slices.Clone(s.certs), func(c *x509.Certificate) bool { return id.IsAny() || !confirms(c, id) })
	}
	var best *Credential
	score := -1
	var problem error
	for _, c := range list {
		key, ok := s.key(c.PublicKey)
		if !ok {
			problem = errors.Join(problem, fmt.Errorf("there is no private key for %s: add one to the folder private", describe(c)))
			continue
		}
		kind, _ := checkKey(c.PublicKey)
		if err := l.Rule.allowsKey(kind, keySize(c.PublicKey)); err != nil {
			problem = errors.Join(problem, fmt.Errorf("%s: %w", describe(c), err))
			continue
		}
		path, root := s.issuers(c)
		points := 0
		if confirms(c, id) || id.IsAny() {
			points += 4
		}
		if checkTime(c, now) == nil {
			points += 2
		}
		if requested(append(slices.Clone(path), root...), authorities) {
			points++
		}
		if points > score {
			best, score = &Credential{ID: id, Key: key, Cert: c, Path: path}, points
		}
	}
	if best == nil {
		if problem == nil {
			problem = fmt.Errorf("there is no certificate with a private key for '%v'", id)
		}
		return nil, problem
	}
	best.takeID(id)
	return best, nil
}

// takeID settles our identity. A subject is sent in the octets of the
// certificate, since some peers compare octets.
func (c *Credential) takeID(id Identity) {
	if id.IsAny() || id.Same(Subject(c.Cert)) {
		c.UseSubject()
	}
}

// UseSubject makes the subject of the certificate, if there is one, our identity.
func (c *Credential) UseSubject() {
	if c.Cert != nil {
		c.ID = Subject(c.Cert)
	}
}

// Confirmed reports whether the certificate confirms our identity. A peer that
// checks, as RFC 4945 section 3.1 wants, will refuse us otherwise.
func (c *Credential) Confirmed() bool { return c.Cert == nil || confirms(c.Cert, c.ID) }

// Problem returns why the peer will refuse the certificate at this time, or nil.
func (c *Credential) Problem(now time.Time) error {
	if c.Cert == nil {
		return nil
	}
	return checkTime(c.Cert, now)
}

func (s *Store) rawCredential(l *Terms, id Identity) (*Credential, error) {
	for _, pub := range l.Pubkeys {
		key, ok := s.key(pub)
		if !ok {
			continue
		}
		spki, err := x509.MarshalPKIXPublicKey(pub)
		if err != nil {
			return nil, err
		}
		if id.IsAny() {
			id = Identity{IDKeyID, string(keyHash(spki))}
		}
		return &Credential{ID: id, Key: key, RawKey: spki}, nil
	}
	return nil, errors.New("there is no private key for one of our pubkeys: add one to the folder private")
}

// key returns the private key of a public one.
func (s *Store) key(pub crypto.PublicKey) (PrivateKey, bool) {
	for _, k := range s.keys {
		if sameKey(k.Public(), pub) {
			return k, true
		}
	}
	return PrivateKey{}, false
}

// isIssuer tells an issuer by its name and key ID alone: these are our own certificates, and
// the peer will verify.
func isIssuer(ca, c *x509.Certificate) bool {
	sameID := len(ca.SubjectKeyId) == 0 || len(c.AuthorityKeyId) == 0 || bytes.Equal(ca.SubjectKeyId, c.AuthorityKeyId)
	return bytes.Equal(ca.RawSubject, c.RawIssuer) && sameID
}

// issuers returns the certificate and those between it and its root, which the
// peer will need, and the root, as far as they are configured.
func (s *Store) issuers(c *x509.Certificate) (path, root []*x509.Certificate) {
	path = []*x509.Certificate{c}
	for len(path) < maxPeerCerts && !selfIssued(c) {
		i := slices.IndexFunc(s.cas, func(ca *x509.Certificate) bool { return isIssuer(ca, c) })
		if i < 0 {
			break
		}
		if c = s.cas[i]; selfIssued(c) {
			return path, []*x509.Certificate{c}
		}
		path = append(path, c)
	}
	return path, nil
}
