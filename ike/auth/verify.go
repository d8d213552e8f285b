package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
)

// verifySignature checks the data of an AUTH payload with a public key, which has passed
// checkKey. announced says that both sides exchanged
// SIGNATURE_HASH_ALGORITHMS; the rule is that of the remote section.
func verifySignature(key crypto.PublicKey, method uint8, data, octets []byte, announced bool, rule Rule) (Signature, error) {
	switch {
	case method == MethodDigital:
		scheme, sig, err := splitAlgorithm(data)
		if err != nil {
			return Signature{}, err
		}
		if !announced {
			return Signature{}, errors.New("the peer signs as in RFC 7427 without the exchange of hash algorithms that it demands")
		}
		return check(key, Signature{method, scheme}, sig, octets, rule)
	case method == MethodRSA:
		return verifyOldRSA(key, data, octets, announced, rule)
	}
	m, ok := ecdsaMethods[method]
	if !ok {
		return Signature{}, fmt.Errorf("AUTH method %d is no signature that we know", method)
	}
	k, ok := key.(*ecdsa.PublicKey)
	if !ok || k.Curve != m.curve {
		return Signature{}, fmt.Errorf("AUTH method %d wants a key on %s, and the peer's is another", method, m.curve.Params().Name)
	}
	if len(data) != 2*m.size {
		return Signature{}, fmt.Errorf("the ECDSA signature has %d octets, expected %d", len(data), 2*m.size)
	}
	sig, err := derECDSA(data)
	if err != nil {
		return Signature{}, errWrongSignature
	}
	return check(key, Signature{method, m.scheme}, sig, octets, rule)
}

// verifyOldRSA checks an RSA signature of which the hash is not told. It is
// SHA-1, or any that the signer believes we know (RFC 7296 section 3.8).
func verifyOldRSA(key crypto.PublicKey, data, octets []byte, announced bool, rule Rule) (Signature, error) {
	if announced {
		return Signature{}, errors.New("the peer knows RFC 7427 and signs by the old RSA method: that would be a downgrade")
	}
	var first error
	for _, s := range []Scheme{RSAPKCS1SHA256, RSAPKCS1SHA384, RSAPKCS1SHA512, RSAPKCS1SHA1} {
		got, err := check(key, Signature{MethodRSA, s}, data, octets, rule)
		if err == nil {
			return got, nil
		}
		if first == nil || s == RSAPKCS1SHA1 && !rule.allows(s) {
			first = err
		}
	}
	return Signature{}, first
}

var errWrongSignature = errors.New("the signature is wrong: the peer has another private key than the one of its certificate, or somebody has changed a message")

// check verifies one signature with what nobody may choose for us: the kind
// of the key must be that of the scheme.
func check(key crypto.PublicKey, how Signature, sig, octets []byte, rule Rule) (Signature, error) {
	s := how.Scheme
	if !rule.allows(s) {
		return Signature{}, fmt.Errorf("the peer signs with %v, and auth = %v does not allow that", s, rule)
	}
	digest, h := s.Hash().sum(octets), hashes[s.Hash()].hash
	ok := false
	switch k := key.(type) {
	case *rsa.PublicKey:
		switch {
		case s.Kind() != KeyRSA:
			return Signature{}, mixedUp(s, KeyRSA)
		case s.pss():
			ok = rsa.VerifyPSS(k, h, digest, sig, &rsa.PSSOptions{SaltLength: h.Size()}) == nil
		default:
			ok = rsa.VerifyPKCS1v15(k, h, digest, sig) == nil
		}
	case *ecdsa.PublicKey:
		if s.Kind() != KeyECDSA {
			return Signature{}, mixedUp(s, KeyECDSA)
		}
		ok = ecdsa.VerifyASN1(k, digest, sig)
	case ed25519.PublicKey:
		if s.Kind() != KeyEd25519 {
			return Signature{}, mixedUp(s, KeyEd25519)
		}
		ok = len(sig) == ed25519.SignatureSize && ed25519.Verify(k, digest, sig)
	}
	if !ok {
		return Signature{}, errWrongSignature
	}
	return how, nil
}

func mixedUp(s Scheme, k KeyKind) error {
	return fmt.Errorf("the peer signs with %v, and its key is %v", s, k)
}
