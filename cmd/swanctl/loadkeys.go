package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
)

// keyFolders are the folders of private keys, in the order in which they are loaded.
var keyFolders = []string{"private", "rsa", "ecdsa", "bliss", "pkcs8"}

const folderPKCS12 = "pkcs12"

// keyTypes are what is said of the keys of a folder; of others it is any.
var keyTypes = map[string]string{"rsa": "rsa", "ecdsa": "ecdsa", "bliss": "bliss"}

// privateKey loads a private key: one that can be read is sent in the form of its kind, any other, and all with --noprompt, as it is.
func (c *credentials) privateKey(folder, path string, content []byte) {
	var key crypto.Signer
	if c.decrypt(folder, path, func(secret []byte) (err error) {
		key, err = config.ParsePrivateKey(content, secret)
		return err
	}, encrypted(content)) {
		c.sendKey(path, key)
		return
	}
	kind := keyTypes[folder]
	if kind == "" {
		kind = "any"
	}
	if m, ok := c.send("load-key", path, folder+" key", "type", kind, "data", string(content)); ok {
		c.loadedKey(text(m, "id"))
	}
}

func encrypted(key []byte) bool {
	_, err := config.ParsePrivateKey(key, nil)
	return errors.Is(err, config.ErrEncrypted)
}

// sendKey loads a decrypted key.
func (c *credentials) sendKey(path string, key crypto.Signer) {
	kind, der, err := encode(key)
	if err != nil {
		c.complain("encoding private key from '%s' failed: %v", path, err)
		return
	}
	defer clear(der)
	if m, ok := c.send("load-key", path, kind+" key", "type", kind, "data", string(der)); ok {
		c.loadedKey(text(m, "id"))
	}
}

// encode writes a private key in the form of its kind.
func encode(key crypto.Signer) (kind string, der []byte, err error) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return "RSA", x509.MarshalPKCS1PrivateKey(k), nil
	case *ecdsa.PrivateKey:
		der, err = x509.MarshalECPrivateKey(k)
		return "ECDSA", der, err
	case ed25519.PrivateKey:
		der, err = x509.MarshalPKCS8PrivateKey(k)
		return "ED25519", der, err
	}
	return "", nil, fmt.Errorf("a key of the kind %T", key)
}

// passphraseTries is how often a passphrase is asked for.
const passphraseTries = 3

// decrypt tries the passphrase of the file's section, or none and then those that are asked for if one is needed. False: there was none, or not the right one.
func (c *credentials) decrypt(folder, path string, try func(secret []byte) error, needed bool) bool {
	name := filepath.Base(path)
	if secret, ok := c.passphrase(folder, name); ok {
		err := try(secret)
		clear(secret)
		if err != nil {
			c.complain("configured decryption secret for '%s' invalid", name)
		}
		return err == nil
	}
	switch {
	case c.has("noprompt"):
		return false
	case try(nil) == nil:
		return true
	case !needed:
		return false
	}
	for range passphraseTries {
		c.out.Flush()
		secret, err := c.env.ask(fmt.Sprintf("Password for %s file '%s': ", folder, name))
		if err != nil || len(secret) == 0 {
			return false
		}
		err = try(secret)
		clear(secret)
		if err == nil {
			return true
		}
	}
	return false
}

// passphrase finds the passphrase for a file in the sections of secrets whose names begin like the folder's.
func (c *credentials) passphrase(folder, name string) ([]byte, bool) {
	for _, sec := range c.from.root.Section("secrets").Sections() {
		file, _ := sec.Value("file")
		if !strings.HasPrefix(sec.Name, folder) || file.Text != name {
			continue
		}
		if secret, ok := sec.Value("secret"); ok {
			if key, err := config.DecodeSecret(secret.Text); err == nil {
				return bytes.Clone(key.Bytes()), true
			}
			return nil, true // which is not the right one
		}
	}
	return nil, false
}

// container loads the certificates and the key of a PKCS#12 container, which nobody but we can decrypt.
func (c *credentials) container(path string, content []byte) {
	var key any
	var cert *x509.Certificate
	var cas []*x509.Certificate
	if !c.decrypt(folderPKCS12, path, func(secret []byte) (err error) {
		key, cert, cas, err = pkcs12.DecodeChain(content, string(secret))
		return err
	}, true) {
		return
	}
	for _, der := range append(cas, cert) {
		c.certificate(typeX509, "NONE", path, der.Raw)
	}
	if signer, ok := key.(crypto.Signer); ok {
		c.sendKey(path, signer)
	}
}
