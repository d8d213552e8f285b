package auth

import (
	"crypto"
	"crypto/x509"
)

// Terms is what a local or remote section with public key authentication says: what we
// prove our identity with, or what the peer has to. It is never changed.
type Terms struct {
	Rule Rule

	// Certs are ours, in order of preference, or those of which the peer's must
	// be one. Pubkeys are keys that are used without a certificate, alike. With
	// neither in a remote section every trusted certificate will do.
	Certs   []*x509.Certificate
	Pubkeys []crypto.PublicKey

	// Of a remote section only:

	CACerts    []*x509.Certificate // one of these must be in the peer's path, if there are any
	CAID       Identity            // of a CA that must be in its path; zero: any
	Policies   []x509.OID          // certificate policies that must all be valid for its path
	Revocation RevocationPolicy
}
