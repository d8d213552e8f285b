package settings

import (
	"io/fs"
	"path"

	"github.com/ipsecd/ipsecd/cmd/internal/config/source"
)

// Parse reads the file at an absolute path and all that it includes, from a
// file system whose root is "/" (os.DirFS("/"), or a test's own). Its error is
// an *Error, or wraps that of the file system.
func Parse(fsys fs.FS, name string) (*File, error) {
	return ParseAll(fsys, []string{name}, nil)
}

// ParseAll is Parse for several files, which are read as if they were one. One
// that has been read already is passed over. A file for which foreign returns
// true is of another grammar: it is listed in File.Foreign.
func ParseAll(fsys fs.FS, names []string, foreign func(name, text string) bool) (*File, error) {
	p := &parser{files: source.Reader{FS: fsys}, once: map[string]bool{}, foreign: foreign}
	for i := range names {
		names[i] = path.Clean("/" + names[i])
		p.once[names[i]] = false
	}
	p.root = newNode("", Position{File: names[0], Line: 1})
	for _, name := range names {
		if err := p.file(name, Position{File: name}, p.root); err != nil {
			return nil, err
		}
	}
	r, err := resolve(p.root)
	if err != nil {
		return nil, err
	}
	return &File{
		Root:       &Section{Position: p.root.Position, layers: p.root.layers},
		Names:      p.names,
		Foreign:    p.others,
		Warnings:   append(p.files.Warnings, r.warnings...),
		referenced: r.referenced,
	}, nil
}

// parser is the state that the files of one Parse share.
type parser struct {
	files   source.Reader
	root    *node
	once    map[string]bool // the files asked for, and whether they have been read
	foreign func(name, text string) bool
	others  []string
	names   []string
}

// file reads one file into a section; from is the place that asks for it.
func (p *parser) file(name string, from Position, into *node) error {
	read, asked := p.once[name]
	if read {
		return nil
	}
	err := p.files.File(name, from, func(name, text string) error {
		if p.foreign != nil && p.foreign(name, text) {
			if into != p.root {
				return from.Errorf("%s is not in this grammar; include it outside of sections", name)
			}
			p.others = append(p.others, name)
			return nil
		}
		p.names = append(p.names, name)
		return p.body(&lexer{file: name, text: text, line: 1}, into, 0)
	})
	if asked && err == nil {
		p.once[name] = true
	}
	return err
}

// body reads statements into a section until its closing brace, which it
// leaves, or the end of the file.
func (p *parser) body(l *lexer, into *node, depth int) error {
	for {
		l.space()
		if l.end() {
			return nil
		}
		if l.peek() == '}' {
			if depth > 0 {
				return nil
			}
			return l.at().Errorf("found '}', but no section of this file is open")
		}
		if err := p.statement(l, into, depth); err != nil {
			return err
		}
	}
}

// statement reads an include, a key with its value, or a section.
func (p *parser) statement(l *lexer, into *node, depth int) error {
	at := l.at()
	name := l.name()
	if name == "" {
		return at.Errorf("found %s, expected the name of a key or section, or '}'", l.found())
	}
	spaced := isBlank(l.peek())
	l.blanks()
	if name == "include" && spaced && l.peek() != '=' && l.peek() != '{' {
		return p.include(l, at, into)
	}
	if l.peek() == '=' {
		l.next()
		v, err := l.value()
		if err != nil {
			return err
		}
		into.set(name, v)
		return nil
	}
	return p.section(l, at, name, into, depth)
}

// section reads references and body of a section whose name has been read.
func (p *parser) section(l *lexer, at Position, name string, into *node, depth int) error {
	var refs []reference
	if l.peek() == ':' {
		l.next()
		var err error
		if refs, err = references(l, name); err != nil {
			return err
		}
	}
	after := l.found()
	l.space()
	if l.peek() != '{' {
		return at.Errorf("found %s after %q, expected '= value' for a key or '{' for a section", after, name)
	}
	l.next()
	if depth+1 > MaxDepth {
		return at.Errorf("sections are nested more than %d deep", MaxDepth)
	}
	sub := into.sub(name, at)
	sub.refs = append(sub.refs, refs...)
	if err := p.body(l, sub, depth+1); err != nil {
		return err
	}
	if l.end() {
		return at.Errorf("section %s, which begins here, has no closing '}'", name)
	}
	l.next()
	return nil
}

// references reads what follows the colon of a section.
func references(l *lexer, section string) ([]reference, error) {
	var refs []reference
	for {
		l.space()
		at := l.at()
		name := l.name()
		if name == "" {
			return nil, at.Errorf("found %s, expected the name of a section that %s inherits from", l.found(), section)
		}
		refs = append(refs, reference{at, name})
		l.blanks()
		if l.peek() != ',' {
			return refs, nil
		}
		l.next()
	}
}

// include reads the files that a pattern names, in the order of their names.
func (p *parser) include(l *lexer, at Position, into *node) error {
	pattern, err := l.pattern()
	if err != nil {
		return err
	}
	if pattern == "" {
		return at.Errorf("include: found %s, expected the name of a file", l.found())
	}
	return p.files.Include(pattern, at, func(name string) error { return p.file(name, at, into) })
}
