package config

import (
	"errors"
	"fmt"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/ipsecd/ipsecd/ike/auth"
)

var errWrongPassphrase = errors.New("the container cannot be decrypted: is the passphrase right?")

// container reads a PKCS#12 container (RFC 7292): our private key, its certificate, and others, which are trusted as
// those in the folders x509ca and x509 are.
func (l *loader) container(name string) {
	p, configured := l.creds.passphrases[name]
	b, _, err := l.content(name)
	if err == nil {
		err = l.unpack(name, b, string(p.secret))
	}
	switch {
	case errors.Is(err, errWrongPassphrase) && p.asked:
		l.notAsked(p, name)
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
		return errWrongPassphrase
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
	for _, c := range cas {
		if c.IsCA {
			l.creds.cas = append(l.creds.cas, c)
		} else {
			l.creds.certs = append(l.creds.certs, c)
		}
	}
	return nil
}
