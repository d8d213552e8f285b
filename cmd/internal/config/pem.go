package config

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/youmark/pkcs8"
)

// blocks returns the DER of the PEM blocks of a file that are of one of the types, or, if
// there is no PEM in it, the file itself.
func blocks(file []byte, types ...string) [][]byte {
	var out [][]byte
	found := false
	for rest := file; ; {
		var b *pem.Block
		if b, rest = pem.Decode(rest); b == nil {
			break
		}
		found = true
		for _, t := range types {
			if b.Type == t {
				out = append(out, b.Bytes)
			}
		}
	}
	if !found && len(file) > 0 {
		return [][]byte{file}
	}
	return out
}

// parseCertificates reads the certificates of a file, in PEM or DER.
func parseCertificates(file []byte) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	for _, der := range blocks(file, "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE") {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("it holds no X.509 certificate that can be read: %w", err)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errors.New("it holds no X.509 certificate, expected one in PEM or DER")
	}
	return out, nil
}

// parseCRLs reads the certificate revocation lists of a file.
func parseCRLs(file []byte) ([]*x509.RevocationList, error) {
	var out []*x509.RevocationList
	for _, der := range blocks(file, "X509 CRL", "CRL") {
		l, err := x509.ParseRevocationList(der)
		if err != nil {
			return nil, fmt.Errorf("it holds no CRL that can be read: %w", err)
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, errors.New("it holds no CRL, expected one in PEM or DER")
	}
	return out, nil
}

// parsePublicKeyFile reads a public key: a SubjectPublicKeyInfo, or RSA alone.
func parsePublicKeyFile(file []byte) (crypto.PublicKey, error) {
	for _, der := range blocks(file, "PUBLIC KEY", "RSA PUBLIC KEY") {
		if key, err := x509.ParsePKIXPublicKey(der); err == nil {
			return key, nil
		}
		if key, err := x509.ParsePKCS1PublicKey(der); err == nil {
			return key, nil
		}
	}
	return nil, errors.New("it holds no public key, expected a SubjectPublicKeyInfo in PEM or DER")
}

// ErrEncrypted says that a private key needs a passphrase.
var ErrEncrypted = errors.New("the key is encrypted; its passphrase is expected in secrets { private-NAME { file = …, secret = … } }")

// ParsePrivateKey reads a private key: PKCS#8, also encrypted, or the older forms
// of RSA and ECDSA keys, also as OpenSSL encrypted them. Its errors do not repeat what it read.
func ParsePrivateKey(file, passphrase []byte) (crypto.Signer, error) {
	for rest := file; ; {
		var b *pem.Block
		if b, rest = pem.Decode(rest); b == nil {
			break
		}
		switch b.Type {
		case "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY":
			return decryptKey(b, passphrase)
		}
	}
	if len(passphrase) > 0 {
		if key, err := pkcs8.ParsePKCS8PrivateKey(file, passphrase); err == nil {
			return asSigner(key)
		}
	}
	return keyFromDER(file)
}

func decryptKey(b *pem.Block, passphrase []byte) (crypto.Signer, error) {
	der := b.Bytes
	//lint:ignore SA1019 keys that OpenSSL encrypted in this way are all over /etc
	old := x509.IsEncryptedPEMBlock(b)
	switch {
	case (old || b.Type == "ENCRYPTED PRIVATE KEY") && len(passphrase) == 0:
		return nil, ErrEncrypted
	case b.Type == "ENCRYPTED PRIVATE KEY":
		key, err := pkcs8.ParsePKCS8PrivateKey(der, passphrase)
		if err != nil {
			return nil, errors.New("the key cannot be decrypted: is the passphrase right?")
		}
		return asSigner(key)
	case old:
		var err error
		//lint:ignore SA1019 as above
		if der, err = x509.DecryptPEMBlock(b, passphrase); err != nil {
			return nil, errors.New("the key cannot be decrypted: is the passphrase right?")
		}
	}
	defer clear(der)
	return keyFromDER(der)
}

// keyFromDER tries the forms in turn: no file name says which it is.
func keyFromDER(der []byte) (crypto.Signer, error) {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return asSigner(key)
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key, nil
	}
	if bytes.Contains(der, []byte("OPENSSH PRIVATE KEY")) {
		return nil, errors.New("it holds a key of OpenSSH; convert it: ssh-keygen -p -m pkcs8")
	}
	return nil, errors.New("it holds no private key, expected PKCS#8, RSA or ECDSA in PEM or DER")
}

func asSigner(key any) (crypto.Signer, error) {
	s, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("it holds a key of the kind %T, which cannot sign", key)
	}
	return s, nil
}
