package ipsecconf

import (
	"io/fs"
	"path"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/config/source"
)

// Position is a place in a file.
type Position = source.Position

// File is an ipsec.conf with all that it includes.
type File struct {
	Setup    *Section // nil: there is none
	Conns    []*Section
	CAs      []*Section
	Names    []string // every file read, in order
	Warnings []*settings.Error
}

// Section is a section with all that it takes over from others.
type Section struct {
	Position
	Kind string // "config", "conn" or "ca"
	Name string
	keys []settings.Key
}

// Keys returns the parameters that are set: the section's own in their order,
// then those taken over.
func (s *Section) Keys() []settings.Key {
	if s == nil {
		return nil
	}
	return s.keys
}

// Parse reads the ipsec.conf at an absolute path and all that it includes, from a
// file system whose root is "/". Its error names a place, or wraps that of the
// file system.
func Parse(fsys fs.FS, name string) (*File, error) {
	p := &parser{Reader: source.Reader{FS: fsys}, byName: map[[2]string]*raw{}}
	name = path.Clean("/" + name)
	if err := p.File(name, Position{File: name}, p.body); err != nil {
		return nil, err
	}
	f := &File{Names: p.Names}
	for _, r := range p.sections {
		if r.name == defaultName {
			continue
		}
		s, err := p.resolve(r)
		if err != nil {
			return nil, err
		}
		switch r.kind {
		case "config":
			f.Setup = s
		case "conn":
			f.Conns = append(f.Conns, s)
		case "ca":
			f.CAs = append(f.CAs, s)
		}
	}
	f.Warnings = p.Warnings
	return f, nil
}

// parser is the state that the files of one Parse share: a section goes on where
// an included file ends.
type parser struct {
	source.Reader
	sections []*raw
	byName   map[[2]string]*raw // by kind and name
	current  *raw
}

func (p *parser) body(name, text string) error {
	l := &lexer{file: name, text: text, line: 1}
	for {
		s, ok, err := l.next()
		if err != nil || !ok {
			return err
		}
		if err := p.statement(s); err != nil {
			return err
		}
	}
}

func (p *parser) statement(s statement) error {
	first := s.tokens[0]
	switch {
	case first.text == "version" && !first.quoted:
		return nil // of the file format; there is only one
	case first.text == "include" && !first.quoted && len(s.tokens) > 1 && !s.tokens[1].equals:
		return p.Include(s.tokens[1].text, s.Position, func(name string) error { return p.File(name, s.Position, p.body) })
	case s.indented:
		return p.parameter(s)
	}
	return p.section(s)
}

// section begins a section, or goes on with one of that name.
func (p *parser) section(s statement) error {
	kind := s.tokens[0].text
	if kind != "config" && kind != "conn" && kind != "ca" {
		return s.Errorf("found %s at the beginning of a line, expected \"config setup\", \"conn NAME\", \"ca NAME\" or \"include FILE\"; indent the parameters of a section", show(s.tokens[0]))
	}
	if len(s.tokens) < 2 || s.tokens[1].equals || s.tokens[1].text == "" {
		return s.Errorf("%s has no name, expected %s", kind, map[string]string{"config": "config setup", "conn": "conn NAME", "ca": "ca NAME"}[kind])
	}
	name := s.tokens[1].text
	if kind == "config" && name != "setup" {
		return s.Errorf("found config %s, expected config setup", show(s.tokens[1]))
	}
	if len(s.tokens) > 2 {
		return s.Errorf("found %s after %s %s, expected the end of the line; parameters begin on the next one, indented", show(s.tokens[2]), kind, name)
	}
	key := [2]string{kind, name}
	p.current = p.byName[key]
	if p.current == nil {
		p.current = &raw{Position: s.Position, kind: kind, name: name, index: map[string]int{}}
		p.byName[key] = p.current
		p.sections = append(p.sections, p.current)
	}
	return nil
}

// parameter reads "name = value".
func (p *parser) parameter(s statement) error {
	name := s.tokens[0]
	switch {
	case name.equals || name.text == "":
		return s.Errorf("found %s, expected the name of a parameter", show(name))
	case len(s.tokens) < 2 || !s.tokens[1].equals:
		return s.Errorf("found %s without a value, expected %s=VALUE", show(name), printable(name.text))
	case p.current == nil:
		return s.Errorf("the parameter %s is in no section; expected \"config setup\", \"conn NAME\" or \"ca NAME\" before it", printable(name.text))
	}
	v := settings.Value{Position: s.Position}
	var parts []string
	for _, t := range s.tokens[2:] {
		if t.equals {
			return s.Errorf("found '=' in the value of %s; there is one parameter a line, and a value that holds '=' is quoted: %s=\"…\"", printable(name.text), printable(name.text))
		}
		v.Quoted = v.Quoted || t.quoted
		parts = append(parts, t.text)
	}
	v.Text = strings.Join(parts, " ")
	p.current.set(name.text, v)
	return nil
}

// show quotes a token for messages.
func show(t token) string {
	if t.equals {
		return "'='"
	}
	return `"` + printable(t.text) + `"`
}

// printable shows text that may hold anything.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '�' {
			return '?'
		}
		return r
	}, s)
}
