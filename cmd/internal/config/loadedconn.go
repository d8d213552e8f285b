package config

import (
	"reflect"
	"slices"
	"sync"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// readConnections remembers what was read from the sections of connections that clients have loaded, so that loading one
// more does not read a thousand others again.
type readConnections struct {
	mu    sync.Mutex
	ports Ports           // with which they were read
	child ike.ChildConfig // likewise
	known map[*settings.Section]readConnection
}

// readConnection is a connection as it was read, and what else came of it.
type readConnection struct {
	connection  ike.Connection // without its children
	children    []ike.ChildConfig
	bindings    []binding // of the children, in their order
	warnings    []Warning
	credentials bool // it needs those of the folders
}

// loadedConnections reads the connections that clients have loaded.
func (l *loader) loadedConnections() {
	r := l.loaded.read
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ports != l.config.Ports || !reflect.DeepEqual(r.child, l.child) {
		r.known = nil
	}
	r.ports, r.child = l.config.Ports, l.child
	known := make(map[*settings.Section]readConnection, len(l.loaded.connections))
	for _, s := range l.loaded.connections {
		was, ok := r.known[s]
		if !ok {
			was, ok = l.readLoaded(s)
		} else {
			l.takeOver(s, was)
		}
		if ok {
			known[s] = was
		}
	}
	r.known = known
}

// readLoaded reads a section. It reports whether what came of it is all in its result.
func (l *loader) readLoaded(s *settings.Section) (readConnection, bool) {
	errs, warnings, bindings, files, used := len(l.errs), len(l.config.Warnings), len(l.bindings), len(l.config.Credentials), l.creds.used
	l.creds.used = false
	c := l.connection(s)
	l.config.IKE.Connections = append(l.config.IKE.Connections, c)
	k := readConnection{
		connection: *c, bindings: slices.Clone(l.bindings[bindings:]), warnings: slices.Clone(l.config.Warnings[warnings:]),
		credentials: l.creds.used,
	}
	l.creds.used = l.creds.used || used
	for _, ch := range c.Children {
		k.children = append(k.children, *ch)
	}
	return k, len(l.errs) == errs && len(l.config.Credentials) == files && len(k.bindings) == len(k.children)
}

// takeOver is readLoaded of a section that has been read before.
func (l *loader) takeOver(s *settings.Section, k readConnection) {
	c := k.connection
	c.Children = nil
	for i := range k.children {
		ch, b := k.children[i], k.bindings[i]
		b.child = &ch
		c.Children = append(c.Children, &ch)
		l.bindings = append(l.bindings, b)
	}
	l.config.IKE.Connections = append(l.config.IKE.Connections, &c)
	l.config.Warnings = append(l.config.Warnings, k.warnings...)
	l.creds.used = l.creds.used || k.credentials
	l.places[&c] = s.Position
}
