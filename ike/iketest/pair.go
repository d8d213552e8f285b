package iketest

import (
	"net/netip"

	"github.com/ipsecd/ipsecd/ike"
)

// Pair is two hosts with a tunnel between them.
type Pair struct {
	*Net
	A, B *Host
}

// The ends of a Pair.
var (
	EndA = End{ID: "a.example", Addr: netip.MustParseAddr("192.0.2.1"), Net: netip.MustParsePrefix("10.1.0.0/16")}
	EndB = End{ID: "b.example", Addr: netip.MustParseAddr("192.0.2.2"), Net: netip.MustParsePrefix("10.2.0.0/16")}
)

// NewPair returns hosts A and B with the configurations of Connect, after edit, which may be
// nil, has changed them.
func NewPair(seed uint64, edit func(a, b *ike.Config)) *Pair {
	a, b := Connect(EndA, EndB), Connect(EndB, EndA)
	if edit != nil {
		edit(a, b)
	}
	n := NewNet(seed)
	return &Pair{Net: n, A: n.AddHost("A", a, EndA.Addr), B: n.AddHost("B", b, EndB.Addr)}
}

// Both does the same at both hosts, at the same moment.
func (p *Pair) Both(ev ike.Event) {
	p.A.Do(ev)
	p.B.Do(ev)
}

// Initiate asks a host for its first connection and that one's first child.
func (h *Host) Initiate() {
	c := h.config.Connections[0]
	h.Do(ike.Initiate{Connection: c.Name, Child: c.Children[0].Name})
}

// Up reports whether the tunnel is up at both hosts.
func (p *Pair) Up() bool {
	return p.A.Up(ConnectionName, ChildName) && p.B.Up(ConnectionName, ChildName)
}
