package ipsecconf

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/config/source"
)

// Secrets is an ipsec.secrets with all that it includes.
type Secrets struct {
	Entries  []Entry
	Names    []string // every file read, in order
	Warnings []*settings.Error
}

// Entry is one secret.
type Entry struct {
	Position
	IDs    []string // whose it is, as written; none: anybody's
	Kind   string   // "PSK", "RSA", …, one of Kinds
	File   string   // of RSA, ECDSA, PKCS8 and P12: the name, as written
	Secret []byte   // the key or password; of a file, its passphrase: nil if there is none
	Prompt bool     // the passphrase was to be asked for (%prompt)
}

// Kinds are the kinds of secrets.
var Kinds = []string{"PSK", "RSA", "ECDSA", "PKCS8", "P12", "EAP", "XAUTH", "NTLM", "PIN", "BLISS"}

// fileKinds are those that name a file.
var fileKinds = []string{"RSA", "ECDSA", "PKCS8", "P12", "BLISS", "PIN"}

// ParseSecrets reads the ipsec.secrets at an absolute path and all that it includes.
// An error never repeats a secret.
func ParseSecrets(fsys fs.FS, name string) (*Secrets, error) {
	p := &secretsParser{Reader: source.Reader{FS: fsys}}
	name = path.Clean("/" + name)
	if err := p.File(name, Position{File: name}, p.body); err != nil {
		return nil, err
	}
	return &Secrets{Entries: p.entries, Names: p.Names, Warnings: p.Warnings}, nil
}

type secretsParser struct {
	source.Reader
	entries []Entry
}

// body reads a file line by line: nothing goes on over the end of one.
func (p *secretsParser) body(name, text string) error {
	line := 0
	for s := range strings.SplitSeq(text, "\n") {
		line++
		at := Position{File: name, Line: line}
		s = strings.Trim(s, " \t\r")
		switch word, rest := cutBlank(s); {
		case s == "" || s[0] == '#':
		case word == "include" && rest != "":
			pattern, _ := cutBlank(rest)
			if err := p.Include(pattern, at, func(name string) error { return p.File(name, at, p.body) }); err != nil {
				return err
			}
		default:
			e, err := p.entry(at, s)
			if err != nil {
				return err
			}
			p.entries = append(p.entries, e)
		}
	}
	return nil
}

// entry reads "ids : KIND value".
func (p *secretsParser) entry(at Position, s string) (Entry, error) {
	e := Entry{Position: at}
	for !strings.HasPrefix(s, ":") {
		id, rest, _, err := value(s)
		if err != nil {
			return e, at.Errorf("%v", err)
		}
		if rest == "" {
			return e, at.Errorf("found no ' : ' between the identities and the kind of secret, expected a line such as 192.0.2.1 192.0.2.2 : PSK \"…\"")
		}
		e.IDs, s = append(e.IDs, id), rest
	}
	kind, rest := cutBlank(strings.Trim(s[1:], " \t"))
	e.Kind = kind
	switch {
	case kind == "":
		return e, at.Errorf("found nothing after ':', expected one of %s", strings.Join(Kinds, ", "))
	case !slices.Contains(Kinds, kind):
		return e, at.Errorf("found something else after ':' than one of %s", strings.Join(Kinds, ", ")) // it may be the secret
	case rest == "":
		return e, at.Errorf("found nothing after %s, expected %s", kind, wanted(kind))
	}
	if slices.Contains(fileKinds, kind) {
		file, more, _, err := value(rest)
		if err != nil {
			return e, at.Errorf("%v", err)
		}
		if file == "{" {
			return e, at.Errorf("found a key that is written out, expected the name of a file in ipsec.d/private")
		}
		if e.File, rest = file, more; rest == "" || rest[0] == '#' {
			return e, nil
		}
	}
	if rest == "%prompt" && kind != "PSK" {
		e.Prompt = true
		return e, nil
	}
	return e, p.secret(&e, rest)
}

func wanted(kind string) string {
	if slices.Contains(fileKinds, kind) {
		return "the name of a file"
	}
	return "the secret in quotes, or after 0x or 0s"
}

// secret reads a secret: in quotes it is what stands there, otherwise 0x stands
// before hexadecimal digits and 0s before base64.
func (p *secretsParser) secret(e *Entry, s string) error {
	text, rest, quoted, err := value(s)
	if err != nil {
		return e.Errorf("%v", err)
	}
	if !quoted && rest != "" && rest[0] != '#' && e.File == "" {
		p.Warnings = append(p.Warnings, e.Errorf("the secret ends at the first blank; put it in quotes if what follows belongs to it"))
	}
	lower := strings.ToLower(text)
	switch {
	case !quoted && strings.HasPrefix(lower, "0x"):
		if e.Secret, err = hex.DecodeString(strings.ReplaceAll(text[2:], ":", "")); err != nil {
			return e.Errorf("after 0x an even number of hexadecimal digits is expected")
		}
	case !quoted && strings.HasPrefix(lower, "0s"):
		if e.Secret, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(text[2:], "=")); err != nil {
			return e.Errorf("after 0s base64 is expected")
		}
	default:
		e.Secret = []byte(text)
	}
	if len(e.Secret) == 0 {
		return e.Errorf("the secret is empty")
	}
	return nil
}

// value reads a word, or what stands between single or double quotes.
func value(s string) (text, rest string, quoted bool, err error) {
	if q := s[0]; q == '"' || q == '\'' {
		text, rest, ok := strings.Cut(s[1:], string(q))
		if !ok {
			return "", "", true, errors.New("the string that begins here has no closing quote")
		}
		return text, strings.Trim(rest, " \t"), true, nil
	}
	text, rest = cutBlank(s)
	return text, rest, false, nil
}

// cutBlank cuts a line after its first word.
func cutBlank(s string) (word, rest string) {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimLeft(s[i:], " \t")
	}
	return s, ""
}
