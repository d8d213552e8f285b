package config

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/config/suggest"
	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// otherSecrets are the kinds of secrets that are not read yet.
var otherSecrets = map[string]string{
	"eap": "EAP", "xauth": "XAuth", "ntlm": "EAP-MSCHAPv2", "token": "a private key on a smartcard",
}

// secrets reads the section of that name.
func (l *loader) secrets(sec *settings.Section) {
	for _, k := range sec.Keys() {
		l.fail(k.Value.Position, "found the key %s, expected sections such as ike-hq { id = …, secret = … }", k.Name)
	}
	for _, s := range sec.Sections() {
		before := len(l.errs)
		switch kind := secretKind(s.Name); kind {
		case "ike":
			l.config.IKE.Secrets = append(l.config.IKE.Secrets, l.sharedSecret(kind, s))
		case "ppk":
			l.config.IKE.PPKs = append(l.config.IKE.PPKs, l.sharedSecret(kind, s))
		case "":
			l.otherSecret(s)
		default:
			l.keySecret(kind, s)
		}
		within(part{secret: s.Name}, l.errs[before:])
	}
}

// secretKind returns the kind of a section that is read, or nothing.
func secretKind(name string) string {
	for _, kind := range append([]string{"ike", "ppk", folderPKCS12}, keyFolders...) {
		if strings.HasPrefix(name, kind) {
			return kind
		}
	}
	return ""
}

func (l *loader) otherSecret(s *settings.Section) {
	var kinds []string
	for kind, use := range otherSecrets {
		kinds = append(kinds, kind)
		if strings.HasPrefix(s.Name, kind) {
			l.warn(s.Position, "secrets.%s is not read; it would be used for %s", s.Name, use)
			return
		}
	}
	l.fail(s.Position, "unknown kind of secret %s; a pre-shared key is in a section that begins with ike%s", s.Name, suggest.DidYouMean(s.Name, append(append(kinds, "ike", "ppk", folderPKCS12), keyFolders...)))
}

// sharedSecret reads a pre-shared key, given as secret or in a file: of IKE, or a post-quantum one (RFC 8784). A faulty
// one is returned too, so that its connection is not reported as well.
func (l *loader) sharedSecret(kind string, sec *settings.Section) auth.Secret {
	r := l.section(sec, "secrets."+kind+"*", "secrets."+sec.Name)
	s := auth.Secret{Name: sec.Name, Source: sec.Position.String()}
	r.known["id"] = true
	for _, k := range sec.Keys() {
		if !strings.HasPrefix(k.Name, "id") {
			continue
		}
		var owner auth.Identity
		if r.identity(k.Name, &owner) {
			s.Owners = append(s.Owners, owner)
		}
	}
	secret, hasSecret := r.value("secret")
	file, hasFile := r.value("file")
	var err error
	switch {
	case hasSecret && hasFile:
		r.fail(file.Position, "%s has both secret and file; expected one of them", r.path)
	case hasSecret:
		if s.Key, err = DecodeSecret(secret.Text); err != nil {
			r.fail(secret.Position, "%s.secret: %v", r.path, err)
		}
	case hasFile:
		var b string
		if b, err = l.secretFile(file); err == nil {
			s.Key, err = DecodeSecret(b)
		}
		if err != nil {
			r.fail(file.Position, "%s.file = %q: %v", r.path, file.Text, err)
		}
	default:
		r.fail(sec.Position, "%s has no key; expected secret = \"…\", or file = the name of a file that holds it", r.path)
	}
	r.finish()
	return s
}

// DecodeSecret reads a secret as it is written: 0x before hexadecimal digits,
// 0s before base64, otherwise the key itself. Its errors do not repeat it.
func DecodeSecret(s string) (suite.Key, error) {
	var b []byte
	var err error
	switch {
	case strings.HasPrefix(s, "0x"):
		if b, err = hex.DecodeString(strings.ReplaceAll(s[2:], ":", "")); err != nil {
			return suite.Key{}, errors.New("after 0x an even number of hexadecimal digits is expected")
		}
	case strings.HasPrefix(s, "0s"):
		if b, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(s[2:], "=")); err != nil {
			return suite.Key{}, errors.New("after 0s base64 is expected")
		}
	default:
		b = []byte(s)
	}
	if len(b) == 0 {
		return suite.Key{}, errors.New("the key is empty")
	}
	return suite.NewKey(b), nil
}

// secretFile returns the text of a file that holds a secret, less the newline
// at its end. Its name is relative to the file that names it.
func (l *loader) secretFile(v settings.Value) (string, error) {
	name := v.Text
	if !path.IsAbs(name) {
		name = path.Join(path.Dir(v.File), name)
	}
	name = path.Clean(name)
	f, err := l.fsys.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, cause(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, cause(err))
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s can be read by others than its owner (mode %04o); run: chmod 600 %s", name, info.Mode().Perm(), name)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, cause(err))
	}
	if len(b) > maxSecretFile {
		return "", fmt.Errorf("%s is longer than %d octets", name, maxSecretFile)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// cause is the error less the name that the file system put before it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
