package config

import (
	"reflect"
	"slices"

	"github.com/ipsecd/ipsecd/ike"
)

// Verb is what a reload does with something.
type Verb string

// The verbs.
const (
	Start   Verb = "start"
	Stop    Verb = "stop"
	Replace Verb = "replace"
)

// Kind is what a change is about.
type Kind string

// The kinds; those without a name are sections of which there is one.
const (
	KindConnection Kind = "connection"
	KindChild      Kind = "child" // named connection.child
	KindPool       Kind = "pool"
	KindSecret     Kind = "secret"
	KindCredential Kind = "credential" // file of a certificate, key or CRL
	KindAuthority  Kind = "authority"
	KindRevocation Kind = "revocation"
	KindInterface  Kind = "interface"
	KindNeighbor   Kind = "neighbor"
	KindBGP        Kind = "bgp"
	KindRouting    Kind = "routing"
	KindProtect    Kind = "protect"
	KindMetrics    Kind = "metrics"
	KindControl    Kind = "control"
	KindPorts      Kind = "ports"
	KindLimits     Kind = "limits"
	KindTiming     Kind = "timing"
)

// Change is one thing that a reload does.
type Change struct {
	Verb   Verb
	Kind   Kind
	Name   string
	Fields []string // Replace: what differs, in the words of the files where they have one
}

// Plan is what a reload changes. What is not in it is left alone.
type Plan struct {
	Changes   []Change
	Unchanged int // connections, children, secrets, interfaces, neighbours and sections that stay
}

// Empty reports whether the reload changes nothing.
func (p Plan) Empty() bool { return len(p.Changes) == 0 }

// id names an item.
type id struct {
	kind Kind
	name string
}

// item is one thing that can be compared by itself.
type item struct {
	id
	value  any    // a struct without positions
	parent string // of a child: its connection
}

// Diff compares the configuration in force with a new one. Either may be nil,
// which is one without anything. A connection that is replaced, started or stopped
// brings its children with it: they have no changes of their own.
func Diff(old, new *Config) Plan {
	var p Plan
	same := theSame(old, new)
	for c := range same {
		p.Unchanged += 1 + len(c.Children)
	}
	before, after := items(old, same), items(new, same)
	was, is := index(before), index(after)
	whole := map[string]bool{} // connections that change as a whole
	for _, it := range slices.Concat(before, after) {
		if it.kind == KindConnection && !reflect.DeepEqual(was[it.id], is[it.id]) {
			whole[it.name] = true
		}
	}
	for _, it := range before {
		if _, stays := is[it.id]; !stays && !whole[it.parent] {
			p.Changes = append(p.Changes, Change{Verb: Stop, Kind: it.kind, Name: it.name})
		}
	}
	for _, it := range after {
		old, known := was[it.id]
		switch {
		case whole[it.parent]:
		case !known:
			p.Changes = append(p.Changes, Change{Verb: Start, Kind: it.kind, Name: it.name})
		case !reflect.DeepEqual(old, it.value):
			p.Changes = append(p.Changes, Change{Replace, it.kind, it.name, changedFields(old, it.value)})
		default:
			p.Unchanged++
		}
	}
	return p
}

// theSame returns the connections that are not only alike in both but the very same.
func theSame(a, b *Config) map[*ike.Connection]bool {
	same := map[*ike.Connection]bool{}
	if a == nil || b == nil {
		return same
	}
	in := make(map[*ike.Connection]bool, len(a.IKE.Connections))
	for _, c := range a.IKE.Connections {
		in[c] = true
	}
	for _, c := range b.IKE.Connections {
		if in[c] {
			same[c] = true
		}
	}
	return same
}

// index returns the values of the items.
func index(list []item) map[id]any {
	m := make(map[id]any, len(list))
	for _, it := range list {
		m[it.id] = it.value
	}
	return m
}

// items lists what a configuration holds, less what says where it was written:
// a line that has moved is not a change. Nor do our own certificates change a
// connection: their files are items, and count at the next authentication.
// Connections in skip are left out.
func items(c *Config, skip map[*ike.Connection]bool) []item {
	if c == nil {
		return nil
	}
	var out []item
	add := func(kind Kind, name string, value any) { out = append(out, item{id{kind, name}, value, ""}) }
	for _, conn := range c.IKE.Connections {
		if skip[conn] {
			continue
		}
		bare := *conn
		bare.Source, bare.Lines, bare.Children = "", nil, nil
		bare.Local.Terms.Certs, bare.Local.Terms.Pubkeys = nil, nil
		add(KindConnection, conn.Name, bare)
		for _, child := range conn.Children {
			bare := *child
			bare.Source, bare.Lines = "", nil
			out = append(out, item{id{KindChild, conn.Name + "." + child.Name}, bare, conn.Name})
		}
	}
	for _, p := range c.IKE.Pools {
		bare := *p
		bare.Source = ""
		add(KindPool, p.Name, bare)
	}
	for _, s := range c.IKE.Secrets {
		s.Source = ""
		add(KindSecret, s.Name, s)
	}
	for _, s := range c.IKE.PPKs {
		add(KindSecret, s.Name, s)
	}
	for _, f := range c.Credentials {
		add(KindCredential, f.File, Credential{Digest: f.Digest})
	}
	for _, a := range c.Authorities {
		add(KindAuthority, a.Name, a)
	}
	add(KindRevocation, "", c.Revocation)
	for _, i := range c.Interfaces {
		i.Position = Position{}
		add(KindInterface, i.Name, i)
	}
	if c.BGP != nil {
		bare := *c.BGP
		bare.Position, bare.Neighbors = Position{}, nil
		add(KindBGP, "", bare)
		for _, n := range c.BGP.Neighbors {
			n.Position = Position{}
			add(KindNeighbor, n.Name, n)
		}
	}
	add(KindRouting, "", c.Routing)
	add(KindProtect, "", protected{c.Protect})
	add(KindMetrics, "", c.Metrics)
	add(KindControl, "", c.Control)
	add(KindPorts, "", c.Ports)
	add(KindLimits, "", c.IKE.Limits)
	add(KindTiming, "", c.IKE.Timing)
	return out
}
