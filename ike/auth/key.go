package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
)

// checkKey refuses keys that are too weak, too costly or not known. Keys of
// a peer come here before anything is computed with them.
func checkKey(key crypto.PublicKey) (KeyKind, error) {
	switch k := key.(type) {
	case *rsa.PublicKey:
		switch bits := k.N.BitLen(); {
		case bits < minRSABits:
			return 0, fmt.Errorf("its RSA key has %d bits, expected at least %d", bits, minRSABits)
		case bits > maxRSABits:
			return 0, fmt.Errorf("its RSA key has %d bits, expected at most %d", bits, maxRSABits)
		}
		return KeyRSA, nil
	case *ecdsa.PublicKey:
		switch k.Curve {
		case elliptic.P256(), elliptic.P384(), elliptic.P521():
			return KeyECDSA, nil
		}
		return 0, fmt.Errorf("its ECDSA key is on %s, expected P-256, P-384 or P-521", k.Params().Name)
	case ed25519.PublicKey:
		return KeyEd25519, nil
	}
	return 0, fmt.Errorf("its key is of a kind (%T) that is not supported, expected RSA, ECDSA or Ed25519", key)
}

// CheckPublicKey reports what makes a public key unfit for use: its kind or its size.
func CheckPublicKey(key crypto.PublicKey) error {
	_, err := checkKey(key)
	return err
}

// keySize returns the bits of a key.
func keySize(key crypto.PublicKey) int {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen()
	case *ecdsa.PublicKey:
		return k.Params().BitSize
	}
	return 256
}

// sameKey reports whether two public keys are the same.
func sameKey(a, b crypto.PublicKey) bool {
	k, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.Equal(b)
}

// ParsePublicKey reads a SubjectPublicKeyInfo, which a raw public key is
// (RFC 7670 section 3), and checks the limits on its size.
func ParsePublicKey(der []byte) (crypto.PublicKey, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("not a SubjectPublicKeyInfo: %w", err)
	}
	// Only DER is one key, one encoding: PKIX parsing passes over some of it.
	if again, err := x509.MarshalPKIXPublicKey(key); err != nil || !bytes.Equal(again, der) {
		return nil, fmt.Errorf("the SubjectPublicKeyInfo is not in DER")
	}
	if _, err := checkKey(key); err != nil {
		return nil, err
	}
	return key, nil
}

// PrivateKey is a key that we sign with. Whatever prints or encodes it gets
// its name, never the key. The zero value is no key.
type PrivateKey struct {
	Name string // of the section or file; for messages

	// fmt follows one pointer into unexported fields, but not two.
	signer **crypto.Signer
}

// NewPrivateKey wraps a key, which may be in hardware; Sign is called by several
// goroutines at once. The error says what is wrong with the kind or size of the key.
func NewPrivateKey(name string, s crypto.Signer) (PrivateKey, error) {
	if _, err := checkKey(s.Public()); err != nil {
		return PrivateKey{}, err
	}
	p := &s
	return PrivateKey{Name: name, signer: &p}, nil
}

// Public returns the public key, nil of the zero value.
func (k PrivateKey) Public() crypto.PublicKey {
	if k.signer == nil {
		return nil
	}
	return (**k.signer).Public()
}

// String returns the name.
func (k PrivateKey) String() string { return "private key " + k.Name }

// Format writes the name for every verb.
func (k PrivateKey) Format(s fmt.State, _ rune) { io.WriteString(s, k.String()) }

// MarshalText returns the name; encoding/json uses it too.
func (k PrivateKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue returns the name.
func (k PrivateKey) LogValue() slog.Value { return slog.StringValue(k.String()) }
