package auth

import (
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Peer is what a peer sent to prove its identity. Of the certificates the first
// is its own (RFC 7296 section 3.6).
type Peer struct {
	ID        Identity
	Method    uint8 // AUTH payload
	Data      []byte
	Octets    []byte   // what must be signed (RFC 7296 section 2.15)
	Announced bool     // SIGNATURE_HASH_ALGORITHMS was exchanged
	Certs     [][]byte // CERT payloads: X.509 certificates
	RawKeys   [][]byte // CERT payloads: SubjectPublicKeyInfo (RFC 7670)
	CRLs      [][]byte
	OCSP      [][]byte // RFC 4806

	// Fetched says that the queries of an Unsettled have been given to Store.Fetch: what is
	// still unknown stays so.
	Fetched bool
}

// Verified says how a peer has proved its identity.
type Verified struct {
	Signature Signature
	Cert      *x509.Certificate   // nil: raw public key
	Path      []*x509.Certificate // from Cert to what is trusted; empty if Cert is trusted itself
}

// String describes it for the log.
func (v *Verified) String() string {
	switch {
	case v.Cert == nil:
		return v.Signature.String() + " by its configured public key"
	case len(v.Path) < 2:
		return fmt.Sprintf("%v by %s, which is trusted as it is", v.Signature, describe(v.Cert))
	}
	return fmt.Sprintf("%v by %s, issued under '%s'", v.Signature, describe(v.Cert), subject(v.Path[len(v.Path)-1]))
}

// candidate is a key that may be the peer's.
type candidate struct {
	key  crypto.PublicKey
	cert *x509.Certificate // nil: raw public key
}

// Verify checks a peer's proof: that its key has signed this exchange, that a
// certificate binds the key to the identity, and that the certificate is trusted, in this order, so
// that a stranger costs little. The error says what an operator can do about it, or is an Unsettled.
func (s *Store) Verify(p *Peer, r *Terms, now time.Time) (*Verified, error) {
	s = s.orEmpty()
	list, err := s.candidates(p, r)
	if err != nil {
		return nil, err
	}
	var first error
	for _, c := range list {
		v, err := s.verify(p, r, c, now)
		var open *Unsettled
		if err == nil || errors.As(err, &open) {
			return v, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// candidates returns the key that the peer has sent, or, if it sent none,
// those that are configured for its identity.
func (s *Store) candidates(p *Peer, r *Terms) ([]candidate, error) {
	switch {
	case len(p.Certs) > 0:
		c, err := x509.ParseCertificate(p.Certs[0])
		if err != nil {
			return nil, fmt.Errorf("the peer's certificate cannot be read: %w", err)
		}
		return []candidate{{c.PublicKey, c}}, nil
	case len(p.RawKeys) > 0:
		key, err := ParsePublicKey(p.RawKeys[0])
		if err != nil {
			return nil, fmt.Errorf("the peer's raw public key is refused: %w", err)
		}
		return []candidate{{key: key}}, nil
	}
	var list []candidate
	for _, key := range r.Pubkeys {
		list = append(list, candidate{key: key})
	}
	for _, c := range slices.Concat(r.Certs, s.certs) {
		if confirms(c, p.ID) && !slices.ContainsFunc(list, func(o candidate) bool { return o.cert != nil && o.cert.Equal(c) }) {
			list = append(list, candidate{c.PublicKey, c})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the peer sent no certificate, and none for '%v' is configured: let it send one, or put it into the folder x509", p.ID)
	}
	return list, nil
}

// verify checks one candidate.
func (s *Store) verify(p *Peer, r *Terms, c candidate, now time.Time) (*Verified, error) {
	who := fmt.Sprintf("the public key of '%v'", p.ID)
	if c.cert != nil {
		who = describe(c.cert)
	}
	kind, err := checkKey(c.key)
	if err == nil {
		err = r.Rule.allowsKey(kind, keySize(c.key))
	}
	if err != nil {
		return nil, fmt.Errorf("%s is refused: %w", who, err)
	}
	pinned := slices.ContainsFunc(r.Pubkeys, func(k crypto.PublicKey) bool { return sameKey(k, c.key) })
	if c.cert == nil && !pinned {
		return nil, errors.New("the peer's raw public key is none of those in pubkeys")
	}
	if c.cert != nil && !pinned {
		if err := checkCert(c.cert, p.ID, r, now); err != nil {
			return nil, err
		}
	}
	how, err := verifySignature(c.key, p.Method, p.Data, p.Octets, p.Announced, r.Rule)
	if err != nil {
		return nil, err
	}
	v := &Verified{Signature: how, Cert: c.cert}
	if pinned { // whose key it is, the configuration says (RFC 7670 section 3)
		v.Cert = nil
		return v, nil
	}
	v.Path, err = s.trust(c.cert, p, r, now)
	return v, err
}

// checkCert checks what can be seen from the certificate alone.
func checkCert(c *x509.Certificate, id Identity, r *Terms, now time.Time) error {
	switch {
	case !confirms(c, id):
		return fmt.Errorf("%s does not confirm the identity '%v' that the peer claims, it confirms %s", describe(c), id, names(c))
	case len(r.Certs)+len(r.Pubkeys) > 0 && !sameCert(r.Certs, c):
		return fmt.Errorf("%s is none of those in certs and pubkeys", describe(c))
	}
	if err := checkTime(c, now); err != nil {
		return err
	}
	// RFC 4945 section 5.1.3.2
	if c.KeyUsage != 0 && c.KeyUsage&(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) == 0 {
		return fmt.Errorf("%s is not for signatures: its key usage lacks digitalSignature", describe(c))
	}
	if len(c.UnhandledCriticalExtensions) > 0 {
		return fmt.Errorf("%s has the critical extension %v, which is not known", describe(c), c.UnhandledCriticalExtensions[0])
	}
	return nil
}

func checkTime(c *x509.Certificate, now time.Time) error {
	switch {
	case now.Before(c.NotBefore):
		return fmt.Errorf("%s is not valid before %s: is the clock right?", describe(c), date(c.NotBefore))
	case now.After(c.NotAfter):
		return fmt.Errorf("%s expired on %s", describe(c), date(c.NotAfter))
	}
	return nil
}
