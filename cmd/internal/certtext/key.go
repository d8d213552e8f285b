package certtext

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
)

// spki is a SubjectPublicKeyInfo (RFC 5280 section 4.1).
type spki struct {
	Algorithm pkix.AlgorithmIdentifier
	Key       asn1.BitString
}

var oidEd448 = asn1.ObjectIdentifier{1, 3, 101, 113} // RFC 8410

// PublicKey writes a SubjectPublicKeyInfo under the name that it was given, if any.
func (w *Writer) PublicKey(der []byte, subject string, hasKey bool) error {
	var info spki
	if rest, err := asn1.Unmarshal(der, &info); err != nil || len(rest) > 0 {
		return fmt.Errorf("it is no public key: %v", err)
	}
	fmt.Fprintln(w.W)
	if subject != "" {
		fmt.Fprintf(w.W, "  subject:  %q\n", subject)
	}
	w.key(der, hasKey)
	return nil
}

// key writes the kind of a key and the hashes that name it: of the SubjectPublicKeyInfo, and of the key in it.
func (w *Writer) key(der []byte, hasKey bool) {
	has := ""
	if hasKey {
		has = ", has private key"
	}
	var info spki
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return
	}
	w.line("pubkey:", "%s%s", keyName(der, info), has)
	w.line("keyid:", "%s", hash(der))
	w.line("subjkey:", "%s", keyHash(der))
}

// keyHash is the hash of the key in a SubjectPublicKeyInfo.
func keyHash(der []byte) string {
	var info spki
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return ""
	}
	return hash(info.Key.RightAlign())
}

func keyName(der []byte, info spki) string {
	if info.Algorithm.Algorithm.Equal(oidEd448) { // unknown to crypto/x509
		return "ED448 456 bits"
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return "unknown key"
	}
	switch k := key.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d bits", k.N.BitLen())
	case *ecdsa.PublicKey:
		return fmt.Sprintf("ECDSA %d bits", k.Curve.Params().BitSize)
	case ed25519.PublicKey:
		return "ED25519 256 bits"
	}
	return fmt.Sprintf("%T", key)
}
