package vici

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// loadCert adds certificates, public keys or revocation lists.
func (c *call) loadCert() error {
	kind := strings.ToUpper(c.req.Keys["type"])
	if kind == "" {
		return errors.New("certificate type missing")
	}
	if !slices.Contains(certTypes, kind) || kind == "ANY" {
		return errors.New("invalid certificate type " + single(c.req.Keys["type"]))
	}
	data := []byte(c.req.Keys["data"])
	if len(data) == 0 {
		return errors.New("certificate data missing")
	}
	add, ok := loaders[kind]
	if kind == typeX509 {
		add, ok = x509Loaders[strings.ToUpper(c.req.Keys["flag"])]
		if !ok {
			return fmt.Errorf("invalid certificate flag %s: ipsecd uses NONE, CA, AA and OCSP", single(c.req.Keys["flag"]))
		}
	}
	if !ok {
		return fmt.Errorf("loading a certificate of type %s: ipsecd uses X509, X509_CRL and PUBKEY", kind)
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) {
		next, err := add(l, data)
		if err != nil {
			err = fmt.Errorf("parsing %s certificate failed: %w", kind, err)
		}
		return next, err
	})
}

type loader func(*config.Loaded, []byte) (*config.Loaded, error)

var loaders = map[string]loader{typeCRL: (*config.Loaded).WithCRL, typePubkey: (*config.Loaded).WithPublicKey}

// x509Loaders are the loaders of X.509 certificates by their flag.
var x509Loaders = map[string]loader{
	"": loadX509(false), flagNone: loadX509(false), flagCA: loadX509(true), flagOCSP: (*config.Loaded).WithOCSPSigner,
	flagAA: (*config.Loaded).WithAACert,
}

func loadX509(ca bool) loader {
	return func(l *config.Loaded, data []byte) (*config.Loaded, error) { return l.WithCertificate(data, ca) }
}

// keyTypes are the types of private keys that requests may name; the key itself says which it is.
var keyTypes = []string{"any", "rsa", "ecdsa", "ed25519", "ed448", "bliss"}

// loadKey adds a private key and answers its name.
func (c *call) loadKey() error {
	kind := strings.ToLower(c.req.Keys["type"])
	switch {
	case kind == "":
		return errors.New("key type missing")
	case !slices.Contains(keyTypes, kind):
		return errors.New("invalid key type: " + cut(c.req.Keys["type"]))
	case c.req.Keys["data"] == "":
		return errors.New("key data missing")
	}
	b := []byte(c.req.Keys["data"])
	defer clear(b)
	var id string
	err := c.edit(func(l *config.Loaded) (next *config.Loaded, err error) {
		if next, id, err = l.WithKey(b); err != nil {
			err = fmt.Errorf("parsing %s private key failed: %w", strings.ToUpper(kind), err)
		}
		return next, err
	})
	if err == nil {
		c.reply.Key("id", id)
	}
	return err
}

func (c *call) unloadKey() error {
	id := c.req.Keys["id"]
	if id == "" {
		return errors.New("key id missing")
	}
	if !slices.ContainsFunc(c.ctl.Status().Loaded.KeyIDs(), func(k string) bool { return strings.EqualFold(k, id) }) {
		return errors.New("key not found")
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithoutKey(id), nil })
}

func (c *call) getKeys() error {
	c.reply.List("keys", c.ctl.Status().Loaded.KeyIDs())
	return nil
}

// loadToken refuses: keys on smartcards are not used.
func (c *call) loadToken() error {
	if c.req.Keys["handle"] == "" {
		return errors.New("keyid missing")
	}
	return errors.New("loading private key from token failed: ipsecd uses keys in files only")
}

// loadShared adds a shared secret. Kinds that only other protocols need are taken
// and not kept.
func (c *call) loadShared() error {
	kind := strings.ToUpper(c.req.Keys["type"])
	add := (*config.Loaded).WithSecret
	switch kind {
	case "":
		return errors.New("shared key type missing")
	case "IKE":
	case "PPK":
		add = (*config.Loaded).WithPPK
	case "EAP", "XAUTH", "NTLM":
		c.conn.srv.log.Warn("a secret loaded over VICI is not used", "type", kind)
		return c.ok()
	default:
		return errors.New("invalid shared key type: " + cut(c.req.Keys["type"]))
	}
	data := c.req.Keys["data"]
	if data == "" {
		return errors.New("shared key data missing")
	}
	s := auth.Secret{Name: c.req.Keys["id"], Source: config.LoadedFile, Key: suite.NewKey([]byte(data))}
	if s.Name == "" {
		s.Name = strings.Join(c.req.Lists["owners"], ",") // the same owners: the same secret
	}
	for _, o := range c.req.Lists["owners"] {
		id, err := auth.Parse(o)
		if err != nil {
			return fmt.Errorf("owners: %s: %w", quote(o), err)
		}
		s.Owners = append(s.Owners, id)
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return add(l, s), nil })
}

func (c *call) unloadShared() error {
	id := c.req.Keys["id"]
	if id == "" {
		return errors.New("unique identifier missing")
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithoutSecret(id), nil })
}

func (c *call) getShared() error {
	c.reply.List("keys", c.ctl.Status().Loaded.SecretNames())
	return nil
}

// clearCreds takes away what clients have loaded; the files' credentials stay.
func (c *call) clearCreds() error {
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithoutCredentials(), nil })
}
