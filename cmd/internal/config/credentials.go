package config

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/config/starter"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// Credential is a file with a certificate, a key or a CRL that was read.
type Credential struct {
	File   string
	Digest string // SHA-256 of its content
}

// credentials collects what the Store is made of.
type credentials struct {
	certs       []*x509.Certificate // of the folder x509; those of CAs are trusted as such
	cas         []*x509.Certificate
	crls        []*x509.RevocationList
	keys        []auth.PrivateKey
	authorities []namedAuthority
	passphrases map[string]passphrase // by file
	used        bool                  // some connection has public key authentication
}

// passphrase is the secret of a section for private keys.
type passphrase struct {
	at     Position
	path   string
	secret []byte

	container bool // of a PKCS#12 container, not of a key
	asked     bool // it was to be asked for, so that the file may turn out unreadable
}

// seen records a file that was read, once.
func (l *loader) seen(name string, content []byte) {
	sum := sha256.Sum256(content)
	l.config.Credentials = union(l.config.Credentials, []Credential{{File: name, Digest: hex.EncodeToString(sum[:])}})
}

// union returns list with those of more that it does not have.
func union(list, more []Credential) []Credential {
	for _, c := range more {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// named reads the credential that an item of a list names, or is.
func (l *loader) named(folder string, v settings.Value, item string) ([]byte, error) {
	if b, ok := blob(item); ok {
		return b, nil
	}
	name, err := l.locate([]string{folder}, v, item)
	if err != nil {
		return nil, err
	}
	b, _, err := l.content(name)
	if err == nil {
		l.seen(name, b)
	}
	return b, err
}

// readFolders reads the credentials that are in the folders beside the files.
func (l *loader) readFolders() {
	c := &l.creds
	for _, name := range l.inFolder(folderCAs) {
		loadFile(l, name, parseCertificates, &c.cas)
	}
	for _, name := range l.inFolder(folderCerts) {
		loadFile(l, name, parseCertificates, &c.certs)
	}
	for _, name := range l.inFolder(folderCRLs) {
		loadFile(l, name, parseCRLs, &c.crls)
	}
	for _, name := range l.inFolder(folderOCSP) {
		loadFile(l, name, parseCertificates, &l.config.Revocation.Signers)
	}
	for _, name := range l.inFolder(folderAAs) {
		loadFile(l, name, parseCertificates, &l.config.AACerts)
	}
	for _, name := range l.inFolder(folderACs) {
		l.warn(Position{File: name, Line: 1}, "not used: attribute certificates are not supported; it would say which groups its holder belongs to")
	}
	read := map[string]bool{}
	for _, folder := range keyFolders {
		for _, name := range l.inFolder(folder) {
			l.privateKey(name)
			read[name] = true
		}
	}
	for _, name := range l.inFolder(folderPKCS12) {
		l.container(name)
		read[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(c.passphrases)) {
		switch p := c.passphrases[name]; {
		case read[name]:
		case p.container:
			l.container(name) // named by its section alone
		default:
			l.privateKey(name)
		}
		clear(c.passphrases[name].secret)
	}
}

// store makes the Store of all credentials.
func (l *loader) store() *auth.Store {
	c := &l.creds
	cas := slices.Clip(c.cas)
	for _, cert := range c.certs {
		if isCA(cert) {
			cas = append(cas, cert)
		}
	}
	var authorities []auth.Authority
	for _, a := range c.authorities {
		cas, authorities = append(cas, a.CA), append(authorities, a.Authority)
	}
	return auth.NewStore(auth.Contents{
		Keys: c.keys, Certs: c.certs, CAs: cas, Revocation: &auth.RevocationData{CRLs: c.crls}, Authorities: authorities,
		OCSPSigners: l.config.Revocation.Signers,
	})
}

// isCA reports whether a certificate says itself that it is a CA's. With charon, any with the basic constraint is trusted as such; but
// that is what OpenSSL puts into the self-signed certificates of hosts, too, of which each would then vouch for all others.
func isCA(c *x509.Certificate) bool { return c.IsCA && c.KeyUsage&x509.KeyUsageCertSign != 0 }

// loadFile reads a file of a folder. One that cannot be read is pointed out: others
// may still do.
func loadFile[T any](l *loader, name string, parse func([]byte) ([]T, error), into *[]T) {
	b, _, err := l.content(name)
	if err == nil {
		var got []T
		if got, err = parse(b); err == nil {
			l.seen(name, b)
			*into = append(*into, got...)
			return
		}
	}
	l.warn(Position{File: name, Line: 1}, "not used: %v", err)
}

// notAsked points out an encrypted file whose passphrase was to be asked for.
func (l *loader) notAsked(p passphrase, name string) {
	l.warn(p.at, "%s is not used, since its passphrase cannot be asked for; write it here in place of %s", name, starter.Prompt)
}

// privateKey reads a private key, with the passphrase of its section if it has one.
func (l *loader) privateKey(name string) {
	p, configured := l.creds.passphrases[name]
	b, mode, err := l.content(name)
	var signer crypto.Signer
	if err == nil {
		defer clear(b)
		if signer, err = ParsePrivateKey(b, p.secret); err != nil && configured {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	var key auth.PrivateKey
	if err == nil {
		key, err = auth.NewPrivateKey(name, signer)
	}
	switch {
	case errors.Is(err, ErrEncrypted) && p.asked:
		l.notAsked(p, name)
	case err != nil && configured:
		l.fail(p.at, "%s: %v", p.path, err)
	case err != nil:
		l.warn(Position{File: name, Line: 1}, "not used: %v", err)
	default:
		if mode.Perm()&0o077 != 0 {
			l.warn(Position{File: name, Line: 1}, "this private key can be read by others than its owner (mode %04o); run: chmod 600 %s", mode.Perm(), name)
		}
		l.seen(name, b)
		l.creds.keys = append(l.creds.keys, key)
	}
}

// keySecret reads a section of secrets that gives the passphrase of a private key, or of a
// container with one.
func (l *loader) keySecret(kind string, sec *settings.Section) {
	r := l.section(sec, "secrets."+kind+"*", "secrets."+sec.Name)
	file, hasFile := r.value("file")
	secret, hasSecret := r.value("secret")
	r.finish()
	if !hasFile {
		r.fail(sec.Position, "%s has no file; expected the name of a private key", r.path)
		return
	}
	folders := keyFolders
	switch kind {
	case "private":
	case folderPKCS12:
		folders = []string{folderPKCS12}
	default:
		folders = []string{kind, "private"}
	}
	name, err := l.locate(folders, file, file.Text)
	if err != nil {
		r.fail(file.Position, "%s.file = %q: %v", r.path, file.Text, err)
		return
	}
	p := passphrase{asked: hasSecret && secret.As != "" && secret.Text == starter.Prompt, at: file.Position, path: r.path + ".file", container: kind == folderPKCS12}
	if hasSecret && !p.asked {
		key, err := DecodeSecret(secret.Text)
		if err != nil {
			r.fail(secret.Position, "%s.secret: %v", r.path, err)
			return
		}
		p.secret = key.Bytes()
	}
	l.creds.passphrases[name] = p
}

// certList reads the certificates that a key names.
func (r *reader) certList(key, folder string) []*x509.Certificate {
	v, ok := r.value(key)
	if !ok {
		return nil
	}
	var out []*x509.Certificate
	for _, item := range split(v.Text) {
		out = append(out, r.certificate(r.path+"."+key, folder, v, item)...)
	}
	return out
}

// certSections reads the sections cert* or cacert*, of which each names a file. own: they are not what a peer's
// certificate is measured by.
func (r *reader) certSections(prefix, folder string, own bool) []*x509.Certificate {
	var out []*x509.Certificate
	for _, s := range r.sec.Sections() {
		if len(s.Name) < len(prefix) || s.Name[:len(prefix)] != prefix {
			continue
		}
		r.known[s.Name] = true
		sub := r.section(s, "connections.*."+prefix+"*", r.path+"."+s.Name)
		file, ok := sub.value("file")
		token, onToken := sub.value("handle")
		switch {
		case ok:
			out = append(out, r.certificate(sub.path+".file", folder, file, file.Text)...)
		case !onToken:
			r.fail(s.Position, "%s names no certificate; expected file = …", sub.path)
		case own && token.File != LoadedFile:
			r.warn(token.Position, "%s.handle is not honoured; it would have us authenticate with a certificate on a smartcard", sub.path)
		default: // left out, it would let more peers in, or the client would think that it is used
			r.beyond(token.Position, "unable to load certificate: %s: certificates on smartcards are not supported", s.Name)
		}
		sub.known["slot"], sub.known["module"] = true, true
		sub.finish()
	}
	return out
}

// certificate reads one named certificate. Only the first of a file counts.
func (r *reader) certificate(key, folder string, v settings.Value, item string) []*x509.Certificate {
	b, err := r.named(folder, v, item)
	if err == nil {
		var certs []*x509.Certificate
		if certs, err = parseCertificates(b); err == nil {
			return certs[:1]
		}
	}
	r.fail(v.Position, "%s = %q: %v", key, item, err)
	return nil
}

// pubkeyList reads the public keys that a key names.
func (r *reader) pubkeyList(key string) []crypto.PublicKey {
	v, ok := r.value(key)
	if !ok {
		return nil
	}
	var out []crypto.PublicKey
	for _, item := range split(v.Text) {
		b, err := r.named(folderPubkeys, v, item)
		var pub crypto.PublicKey
		if err == nil {
			pub, err = parsePublicKeyFile(b)
		}
		if err == nil {
			err = auth.CheckPublicKey(pub)
		}
		if err != nil {
			r.fail(v.Position, "%s.%s = %q: %v", r.path, key, item, err)
			continue
		}
		out = append(out, pub)
	}
	return out
}
