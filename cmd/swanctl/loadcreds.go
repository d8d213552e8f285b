package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// credentials are being loaded.
type credentials struct {
	*session
	from    source
	keys    []string // names of private keys that the daemon has and that were not loaded again
	secrets []string // likewise of secrets
}

// certFolders are the folders of certificates with the type and the flag of what is in them, in the order in which they are loaded.
var certFolders = []struct{ folder, kind, flag string }{
	{"x509", typeX509, "NONE"}, {"x509ca", typeX509, "CA"}, {"x509ocsp", typeX509, "OCSP"}, {"x509aa", typeX509, "AA"},
	{"x509ac", "X509_AC", ""}, {"x509crl", "X509_CRL", ""}, {"pubkey", "PUBKEY", ""},
}

// loadCreds loads the folders and the secrets, and unloads keys and secrets that are there no more. What the daemon refuses is told, and is
// no failure of the command.
func loadCreds(s *session, from source) error {
	if s.has("clear") {
		if _, err := s.load("clear-creds", vici.NewMessage()); err != nil && !isRefusal(err) {
			return err
		}
	}
	c := &credentials{session: s, from: from}
	var err error
	if c.keys, err = names("get-keys", "keys")(s); err != nil {
		return err
	}
	if c.secrets, err = names("get-shared", "keys")(s); err != nil {
		return err
	}
	for _, f := range certFolders {
		c.eachFile(f.folder, func(path string, content []byte) { c.certificate(f.kind, f.flag, path, content) })
	}
	for _, folder := range keyFolders {
		c.eachFile(folder, func(path string, content []byte) { c.privateKey(folder, path, content) })
	}
	c.eachFile(folderPKCS12, c.container)
	secrets := from.root.Section("secrets").Sections()
	for _, sec := range secrets {
		if strings.HasPrefix(sec.Name, "token") {
			c.token(sec)
		}
	}
	for _, sec := range secrets {
		c.secret(sec)
	}
	for _, id := range c.keys {
		s.unload("unload-key", "key", "id", id)
	}
	for _, id := range c.secrets {
		s.unload("unload-shared", "key", "id", id)
	}
	return nil
}

// eachFile reads the files of a folder in the order of their names. A folder that is not there is empty.
func (c *credentials) eachFile(folder string, f func(path string, content []byte)) {
	dir := filepath.Join(c.from.dir, folder)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.complain("opening directory '%s' failed: %v", dir, unnamed(err))
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			continue
		}
		content, err := readFile(path)
		if err != nil {
			c.complain("mapping '%s' failed: %v, skipped", path, err)
			continue
		}
		f(path, content)
		clear(content)
	}
}

// maxValue is how long a value of a message may be.
const maxValue = 65535

// readFile reads a file with a credential. Its errors do not name the file.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unnamed(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxValue+1))
	switch {
	case err != nil:
		return nil, unnamed(err)
	case len(b) > maxValue:
		return nil, fmt.Errorf("it is longer than %d octets", maxValue)
	}
	return b, nil
}

// unnamed is an error without the name of the file, as a sentence.
func unnamed(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return errors.New(sentence(err))
}

// send loads a credential of a file, and tells of it.
func (c *credentials) send(command, path, what string, keyValues ...string) (*vici.Message, bool) {
	args := vici.NewMessage()
	for i := 0; i+1 < len(keyValues); i += 2 {
		if key, value := keyValues[i], keyValues[i+1]; value != "" || key == "data" {
			_ = args.Set(key, value) // strings fit
		}
	}
	m, err := c.load(command, args)
	if err != nil {
		c.failed(err, "loading '%s' failed", path)
		return nil, false
	}
	c.told("loaded %s from '%s'\n", what, path)
	return m, true
}

func (c *credentials) certificate(kind, flag, path string, content []byte) {
	c.send("load-cert", path, "certificate", "type", kind, "flag", flag, "data", string(content))
}

// sharedKinds are the kinds of secrets that are no passphrases, by the beginning of their sections' names.
var sharedKinds = []string{"eap", "xauth", "ntlm", "ike", "ppk"}

// secret loads a shared secret.
func (c *credentials) secret(sec *settings.Section) {
	hasPrefix := func(kind string) bool { return strings.HasPrefix(sec.Name, kind) }
	i := slices.IndexFunc(sharedKinds, hasPrefix)
	if i < 0 {
		if !slices.ContainsFunc(append([]string{"token", folderPKCS12}, keyFolders...), hasPrefix) {
			c.complain("ignoring unsupported secret '%s'", sec.Name)
		}
		return
	}
	kind := sharedKinds[i]
	value, ok := sec.Value("secret")
	if !ok {
		c.complain("missing secret in '%s', ignored", sec.Name)
		return
	}
	c.secrets = slices.DeleteFunc(c.secrets, func(id string) bool { return id == sec.Name })
	key, err := config.DecodeSecret(value.Text)
	if err != nil {
		c.complain("loading shared secret '%s' failed: %v", sec.Name, err)
		return
	}
	owners := []string{}
	for _, k := range sec.Keys() {
		if strings.HasPrefix(k.Name, "id") {
			owners = append(owners, k.Value.Text)
		}
	}
	args := vici.NewMessage()
	for _, kv := range []struct {
		key   string
		value any
	}{{"id", sec.Name}, {"type", kind}, {"data", string(key.Bytes())}, {"owners", owners}} {
		_ = args.Set(kv.key, kv.value) // strings and lists fit
	}
	if _, err = c.load("load-shared", args); err != nil {
		c.failed(err, "loading shared secret failed")
		return
	}
	c.told("loaded %s secret '%s'\n", kind, sec.Name)
}

// token has the daemon use a private key on a smartcard.
func (c *credentials) token(sec *settings.Section) {
	args := vici.NewMessage()
	for _, k := range sec.Keys() {
		_ = args.Set(k.Name, k.Value.Text)
	}
	if _, ok := sec.Value("pin"); !ok && !c.has("noprompt") {
		if pin, err := c.env.ask(fmt.Sprintf("PIN for %s: ", sec.Name)); err == nil && len(pin) > 0 {
			_ = args.Set("pin", string(pin))
		}
	}
	m, err := c.load("load-token", args)
	if err != nil {
		c.failed(err, "loading '%s' failed", sec.Name)
		return
	}
	c.loadedKey(text(m, "id"))
	c.told("loaded key %s from token [keyid: %s]\n", sec.Name, text(m, "id"))
}

// loadedKey keeps a private key from being unloaded.
func (c *credentials) loadedKey(id string) {
	c.keys = slices.DeleteFunc(c.keys, func(k string) bool { return strings.EqualFold(k, id) })
}
