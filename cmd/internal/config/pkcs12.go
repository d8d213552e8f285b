package config

import (
	"errors"
	"fmt"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// container reads a PKCS#12 container (RFC 7292): our private key, its certificate, and
// those of CAs, which are trusted as those in the folder x509ca are.
func (l *loader) container(name string) {
	p, configured := l.creds.passphrases[name]
	b, _, err := l.content(name)
	if err == nil {
		err = l.unpack(name, b, string(p.secret))
	}
	switch {
	case err != nil && configured:
		l.fail(p.at, "%s: %s: %v", p.path, name, err)
	case err != nil:
		l.warn(Position{File: name, Line: 1}, "not used: %v; its passphrase is expected in secrets { pkcs12-NAME { file = …, secret = … } }", err)
	default:
		l.seen(name, b)
	}
}

func (l *loader) unpack(name string, b []byte, secret string) error {
	key, cert, cas, err := pkcs12.DecodeChain(b, secret)
	switch {
	case errors.Is(err, pkcs12.ErrIncorrectPassword):
		return errors.New("the container cannot be decrypted: is the passphrase right?")
	case err != nil:
		return fmt.Errorf("it is no PKCS#12 container with one private key and its certificate: %w", err)
	}
	signer, err := asSigner(key)
	if err != nil {
		return err
	}
	private, err := auth.NewPrivateKey(name, signer)
	if err != nil {
		return err
	}
	l.creds.keys = append(l.creds.keys, private)
	l.creds.certs = append(l.creds.certs, cert)
	l.creds.cas = append(l.creds.cas, cas...)
	return nil
}
