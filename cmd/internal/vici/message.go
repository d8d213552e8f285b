package vici

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The element types of a message.
const (
	sectionStart = 1
	sectionEnd   = 2
	keyValue     = 3
	listStart    = 4
	listItem     = 5
	listEnd      = 6
)

// Limits of the format.
const (
	maxName  = 255   // octets of a name
	maxValue = 65535 // octets of a value
	maxDepth = 32    // of sections in a request
)

// Builder writes a message: keys, lists and sections in the order of the
// calls, which is part of VICI's contract. Its zero value is an empty message.
type Builder struct{ buf []byte }

// Bytes returns the message.
func (b *Builder) Bytes() []byte { return b.buf }

// Key adds a key and its value. A value longer than the format allows is cut.
func (b *Builder) Key(name, value string) {
	b.buf = append(b.buf, keyValue)
	b.name(name)
	b.value(value)
}

// Keyf adds a key with a formatted value.
func (b *Builder) Keyf(name, format string, args ...any) { b.Key(name, fmt.Sprintf(format, args...)) }

// Flag adds name=yes if set, and nothing otherwise.
func (b *Builder) Flag(name string, set bool) {
	if set {
		b.Key(name, "yes")
	}
}

// Bool adds name=yes or name=no.
func (b *Builder) Bool(name string, v bool) {
	if v {
		b.Key(name, "yes")
	} else {
		b.Key(name, "no")
	}
}

// List adds a list, which may be empty.
func (b *Builder) List(name string, items []string) {
	b.buf = append(b.buf, listStart)
	b.name(name)
	for _, it := range items {
		b.buf = append(b.buf, listItem)
		b.value(it)
	}
	b.buf = append(b.buf, listEnd)
}

// Section adds a section with what fill writes.
func (b *Builder) Section(name string, fill func()) {
	b.buf = append(b.buf, sectionStart)
	b.name(name)
	fill()
	b.buf = append(b.buf, sectionEnd)
}

func (b *Builder) name(s string) {
	s = s[:min(len(s), maxName)]
	b.buf = append(append(b.buf, byte(len(s))), s...)
}

func (b *Builder) value(s string) {
	s = s[:min(len(s), maxValue)]
	b.buf = append(binary.BigEndian.AppendUint16(b.buf, uint16(len(s))), s...)
}

// Section is a decoded message, or a section in it. Of a name that comes twice
// the last one counts.
type Section struct {
	Keys     map[string]string
	Lists    map[string][]string
	Sections map[string]*Section
	Order    []string // of the sections' names
}

func newSection() *Section {
	return &Section{Keys: map[string]string{}, Lists: map[string][]string{}, Sections: map[string]*Section{}}
}

var errShort = errors.New("vici: message ends within an element")

// Parse decodes a message.
func Parse(data []byte) (*Section, error) {
	p := parser{data: data}
	root := newSection()
	if err := p.section(root, 0); err != nil {
		return nil, err
	}
	return root, nil
}

type parser struct{ data []byte }

func (p *parser) take(n int) ([]byte, error) {
	if len(p.data) < n {
		return nil, errShort
	}
	b := p.data[:n]
	p.data = p.data[n:]
	return b, nil
}

func (p *parser) name() (string, error) {
	n, err := p.take(1)
	if err != nil {
		return "", err
	}
	b, err := p.take(int(n[0]))
	return string(b), err
}

func (p *parser) value() (string, error) {
	n, err := p.take(2)
	if err != nil {
		return "", err
	}
	b, err := p.take(int(binary.BigEndian.Uint16(n)))
	return string(b), err
}

// section reads elements up to the end of the section, or of the message at
// depth 0.
func (p *parser) section(s *Section, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("vici: sections are nested deeper than %d", maxDepth)
	}
	for len(p.data) > 0 {
		t, _ := p.take(1)
		if t[0] == sectionEnd && depth > 0 {
			return nil
		}
		name, err := p.elementName(t[0])
		if err != nil {
			return err
		}
		switch t[0] {
		case keyValue:
			s.Keys[name], err = p.value()
		case listStart:
			s.Lists[name], err = p.list()
		case sectionStart:
			sub := newSection()
			if s.Sections[name] == nil {
				s.Order = append(s.Order, name)
			}
			s.Sections[name] = sub
			err = p.section(sub, depth+1)
		}
		if err != nil {
			return err
		}
	}
	if depth > 0 {
		return errShort
	}
	return nil
}

func (p *parser) elementName(t byte) (string, error) {
	switch t {
	case keyValue, listStart, sectionStart:
		return p.name()
	}
	return "", fmt.Errorf("vici: element of type %d where a key, list or section is expected", t)
}

func (p *parser) list() ([]string, error) {
	items := []string{}
	for {
		t, err := p.take(1)
		if err != nil {
			return nil, err
		}
		switch t[0] {
		case listEnd:
			return items, nil
		case listItem:
			v, err := p.value()
			if err != nil {
				return nil, err
			}
			items = append(items, v)
		default:
			return nil, fmt.Errorf("vici: element of type %d in a list", t[0])
		}
	}
}
