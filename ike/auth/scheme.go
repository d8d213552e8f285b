package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
)

// KeyKind is a kind of public key.
type KeyKind uint8

// The kinds.
const (
	KeyRSA KeyKind = iota + 1
	KeyECDSA
	KeyEd25519
)

// String returns the name of the kind.
func (k KeyKind) String() string {
	switch k {
	case KeyRSA:
		return "RSA"
	case KeyECDSA:
		return "ECDSA"
	case KeyEd25519:
		return "Ed25519"
	}
	return "unknown"
}

// Scheme is a way to sign: kind of key, padding and hash.
type Scheme uint8

// The schemes, in the order in which we prefer them for a kind of key.
const (
	RSAPKCS1SHA256 Scheme = iota + 1
	RSAPKCS1SHA384
	RSAPKCS1SHA512
	RSAPSSSHA256
	RSAPSSSHA384
	RSAPSSSHA512
	ECDSASHA256
	ECDSASHA384
	ECDSASHA512
	Ed25519
	RSAPKCS1SHA1 // by AUTH method 1 only
)

// schemes describes them; the names are those that charon prints.
var schemes = map[Scheme]struct {
	name string
	kind KeyKind
	hash Hash
	pss  bool
}{
	RSAPKCS1SHA256: {"RSA_EMSA_PKCS1_SHA2_256", KeyRSA, HashSHA256, false},
	RSAPKCS1SHA384: {"RSA_EMSA_PKCS1_SHA2_384", KeyRSA, HashSHA384, false},
	RSAPKCS1SHA512: {"RSA_EMSA_PKCS1_SHA2_512", KeyRSA, HashSHA512, false},
	RSAPSSSHA256:   {"RSA_EMSA_PSS_SHA2_256_SALT_32", KeyRSA, HashSHA256, true},
	RSAPSSSHA384:   {"RSA_EMSA_PSS_SHA2_384_SALT_48", KeyRSA, HashSHA384, true},
	RSAPSSSHA512:   {"RSA_EMSA_PSS_SHA2_512_SALT_64", KeyRSA, HashSHA512, true},
	ECDSASHA256:    {"ECDSA_WITH_SHA256_DER", KeyECDSA, HashSHA256, false},
	ECDSASHA384:    {"ECDSA_WITH_SHA384_DER", KeyECDSA, HashSHA384, false},
	ECDSASHA512:    {"ECDSA_WITH_SHA512_DER", KeyECDSA, HashSHA512, false},
	Ed25519:        {"ED25519", KeyEd25519, HashIdentity, false},
	RSAPKCS1SHA1:   {"RSA_EMSA_PKCS1_SHA1", KeyRSA, HashSHA1, false},
}

// String returns charon's name of the scheme.
func (s Scheme) String() string { return schemes[s].name }

// Hash returns the hash of the scheme.
func (s Scheme) Hash() Hash { return schemes[s].hash }

// Kind returns the kind of key of the scheme.
func (s Scheme) Kind() KeyKind { return schemes[s].kind }

func (s Scheme) pss() bool { return schemes[s].pss }

// preferred returns the schemes for a key, best first: hashes as strong as the
// key, then the stronger and the weaker ones (RFC 7427 section 4).
func preferred(key crypto.PublicKey) []Scheme {
	switch k := key.(type) {
	case *rsa.PublicKey:
		switch bits := k.N.BitLen(); {
		case bits <= 3072:
			return []Scheme{RSAPKCS1SHA256, RSAPKCS1SHA384, RSAPKCS1SHA512, RSAPSSSHA256, RSAPSSSHA384, RSAPSSSHA512}
		case bits <= 7680:
			return []Scheme{RSAPKCS1SHA384, RSAPKCS1SHA512, RSAPKCS1SHA256, RSAPSSSHA384, RSAPSSSHA512, RSAPSSSHA256}
		}
		return []Scheme{RSAPKCS1SHA512, RSAPKCS1SHA384, RSAPKCS1SHA256, RSAPSSSHA512, RSAPSSSHA384, RSAPSSSHA256}
	case *ecdsa.PublicKey:
		switch k.Curve {
		case elliptic.P384():
			return []Scheme{ECDSASHA384, ECDSASHA512, ECDSASHA256}
		case elliptic.P521():
			return []Scheme{ECDSASHA512, ECDSASHA384, ECDSASHA256}
		}
		return []Scheme{ECDSASHA256, ECDSASHA384, ECDSASHA512}
	case ed25519.PublicKey:
		return []Scheme{Ed25519}
	}
	return nil
}
