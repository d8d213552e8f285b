package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// AuthMethod numbers of RFC 7296 section 3.8 that are signatures.
const (
	MethodRSA       uint8 = 1
	MethodECDSAP256 uint8 = 9 // RFC 4754
	MethodECDSAP384 uint8 = 10
	MethodECDSAP521 uint8 = 11
	MethodDigital   uint8 = 14 // RFC 7427
)

// ecdsaMethods are the older methods: curve and hash belong together (RFC 4754 section 7).
var ecdsaMethods = map[uint8]struct {
	curve  elliptic.Curve
	scheme Scheme
	size   int // of each of r and s, in octets
}{
	MethodECDSAP256: {elliptic.P256(), ECDSASHA256, 32},
	MethodECDSAP384: {elliptic.P384(), ECDSASHA384, 48},
	MethodECDSAP521: {elliptic.P521(), ECDSASHA512, 66},
}

// Signature is how a signature in an AUTH payload is made.
type Signature struct {
	Method uint8 // AUTH method
	Scheme Scheme
}

// String is charon's name for it.
func (s Signature) String() string {
	switch s.Method {
	case MethodRSA:
		return "RSA signature"
	case MethodECDSAP256:
		return "ECDSA-256 signature"
	case MethodECDSAP384:
		return "ECDSA-384 signature"
	case MethodECDSAP521:
		return "ECDSA-521 signature"
	}
	return s.Scheme.String()
}

// ChooseSignature says how to sign for a peer, with one of the hashes that it
// announced (RFC 7427 section 4), or, where it announced none, by the
// older methods. The rule is that of our local section.
func ChooseSignature(key crypto.PublicKey, peer HashSet, announced bool, rule Rule) (Signature, error) {
	if announced {
		for _, s := range preferred(key) {
			if peer.Has(s.Hash()) && rule.allows(s) {
				return Signature{MethodDigital, s}, nil
			}
		}
		return Signature{}, fmt.Errorf("the peer verifies signatures with the hashes %v only, and with these our key cannot sign as auth = %v demands", peer, rule)
	}
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		for method, m := range ecdsaMethods {
			if m.curve == k.Curve && rule.allows(m.scheme) {
				return Signature{method, m.scheme}, nil
			}
		}
	case *rsa.PublicKey:
		if rule.allows(RSAPKCS1SHA1) {
			return Signature{MethodRSA, RSAPKCS1SHA1}, nil
		}
		return Signature{}, errors.New("the peer does not know RFC 7427, so that only RSA with SHA-1 is left: " +
			"enable signature authentication there, use an ECDSA key, or allow SHA-1 by auth = rsa-sha1")
	}
	return Signature{}, errors.New("the peer does not know RFC 7427, which our key needs: enable signature authentication there")
}

// Sign returns the data of an AUTH payload: the signature of octets, which are those
// of RFC 7296 section 2.15. RSASSA-PSS draws its salt from rand.
func (k PrivateKey) Sign(rand io.Reader, sig Signature, octets []byte) ([]byte, error) {
	if k.signer == nil {
		return nil, errors.New("there is no private key")
	}
	digest := sig.Scheme.Hash().sum(octets)
	raw, err := (**k.signer).Sign(rand, digest, signerOpts(sig.Scheme))
	if err != nil {
		return nil, fmt.Errorf("%s cannot sign: %w", k, err)
	}
	if sig.Method == MethodDigital {
		return append(appendAlgorithm(nil, sig.Scheme), raw...), nil
	}
	if m, ok := ecdsaMethods[sig.Method]; ok {
		return fixedECDSA(raw, m.size)
	}
	return raw, nil
}

func signerOpts(s Scheme) crypto.SignerOpts {
	h := hashes[s.Hash()].hash
	if s.pss() {
		return &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: h}
	}
	return h
}

// fixedECDSA turns the DER form of a signature into r and s side by side (RFC
// 4754 section 7).
func fixedECDSA(der []byte, size int) ([]byte, error) {
	var r, s big.Int
	in, inner := cryptobyte.String(der), cryptobyte.String(nil)
	if !in.ReadASN1(&inner, cbasn1.SEQUENCE) || !inner.ReadASN1Integer(&r) || !inner.ReadASN1Integer(&s) ||
		r.Sign() < 0 || s.Sign() < 0 || r.BitLen() > 8*size || s.BitLen() > 8*size {
		return nil, errors.New("the signer returned a malformed ECDSA signature")
	}
	out := make([]byte, 2*size)
	r.FillBytes(out[:size])
	s.FillBytes(out[size:])
	return out, nil
}

// derECDSA is the inverse of fixedECDSA.
func derECDSA(fixed []byte) ([]byte, error) {
	half := len(fixed) / 2
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1BigInt(new(big.Int).SetBytes(fixed[:half]))
		b.AddASN1BigInt(new(big.Int).SetBytes(fixed[half:]))
	})
	return b.Bytes()
}
