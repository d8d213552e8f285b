package ike

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// numbered returns a pair whose end b gives its SAs numbers of their own, as %unique and %unique-dir ask for.
func numbered(t *testing.T, conn, child, mark Numbering) *pair {
	return established(t, func(_, b *Config) {
		c := b.Connections[0]
		c.IfIDInBy, c.IfIDOutBy = conn, conn
		ch := c.Children[0]
		ch.IfIDInBy, ch.IfIDOutBy, ch.MarkInBy, ch.MarkOutBy = child, child, mark, mark
		ch.MarkIn.Mask, ch.MarkOut.Mask = math.MaxUint32, math.MaxUint32
		ch.SetMarkInSame, ch.SetMarkIn.Mask = mark != NumberConfigured, 0xff
	})
}

// numbersOf writes the numbers of the first IKE SA and its CHILD_SA.
func (h *host) numbersOf() string {
	sa := h.e.Snapshot(h.pair.now).IKESAs[0]
	c := sa.Children[0].SA
	set, _ := c.SetMarks()
	return fmt.Sprintf("ike %d %d child %d %d mark %d %d set %d/%x", sa.IfIDIn, sa.IfIDOut, c.IfIDIn, c.IfIDOut, c.MarkIn.Value, c.MarkOut.Value, set.Value, set.Mask)
}

// TestGeneratedNumbers: the numbers of an SA outlive rekeys by either end and a handover, and the next SA has others.
func TestGeneratedNumbers(t *testing.T) {
	const no, each, dir = NumberConfigured, NumberEach, NumberEachDir
	for _, c := range []struct {
		conn, child, mark Numbering
		want, next        string
	}{
		{each, no, no, "ike 1 1 child 1 1 mark 0 0 set 0/ff", "ike 2 2 child 2 2 mark 0 0 set 0/ff"},
		{dir, no, no, "ike 1 2 child 1 2 mark 0 0 set 0/ff", "ike 3 4 child 3 4 mark 0 0 set 0/ff"},
		{no, each, no, "ike 0 0 child 1 1 mark 0 0 set 0/ff", "ike 0 0 child 2 2 mark 0 0 set 0/ff"},
		{each, dir, no, "ike 1 1 child 2 3 mark 0 0 set 0/ff", "ike 4 4 child 5 6 mark 0 0 set 0/ff"},
		{no, no, each, "ike 0 0 child 0 0 mark 1 1 set 1/ff", "ike 0 0 child 0 0 mark 2 2 set 2/ff"},
		{no, no, dir, "ike 0 0 child 0 0 mark 1 2 set 1/ff", "ike 0 0 child 0 0 mark 3 4 set 3/ff"},
	} {
		p := numbered(t, c.conn, c.child, c.mark)
		check := func(when, want string) {
			t.Helper()
			if got := p.b.numbersOf(); got != want {
				t.Errorf("%s: %s; want %s", when, got, want)
			}
		}
		check("at first", c.want)
		for _, h := range []*host{p.a, p.b} {
			h.event(Rekey{Connection: "gw"})
			p.settle()
			h.event(Rekey{Child: "net"})
			p.settle()
			p.run(6 * time.Second)
			p.wantUp(t)
			check("after rekeys by "+h.name, c.want)
		}
		data, left, err := p.b.e.HandOver(p.now)
		if err != nil || left > 0 {
			t.Fatal(left, err)
		}
		next := New(p.b.e.cfg, rand.NewChaCha8([32]byte{9}), 2)
		if _, err := next.TakeOver(p.now, data); err != nil {
			t.Fatal(err)
		}
		p.b.e = next
		p.b.drain()
		check("after a handover", c.want)
		p.a.event(Terminate{Connection: "gw"})
		p.settle()
		p.a.event(Initiate{Connection: "gw", Child: "net"})
		p.settle()
		check("of the next SA", c.next)
	}
}

// TestGeneratedNumbersAvoidOthers: what is configured, or belongs to an interface of the host, is nobody else's.
func TestGeneratedNumbersAvoidOthers(t *testing.T) {
	p := established(t, func(_, b *Config) {
		b.InterfaceIDs = []uint32{1, 3}
		other := *b.Connections[0]
		other.Name, other.RemoteAddrs, other.IfIDIn = "other", []AddrMatch{{Name: "elsewhere.example"}}, 2
		ch := DefaultChild()
		ch.Name, ch.IfIDOut, ch.MarkIn, ch.MarkOut, ch.SetMarkOut = "o", 4, Mark{0x100, 0xff00}, Mark{0x200, 0xffff}, Mark{0x301, 0x3ff}
		other.Children = []*ChildConfig{&ch}
		b.Connections = append(b.Connections, &other)
		c := b.Connections[0].Children[0]
		c.IfIDInBy, c.IfIDOutBy, c.MarkInBy, c.MarkOutBy = NumberEachDir, NumberEachDir, NumberEach, NumberEach
		c.MarkIn.Mask, c.MarkOut.Mask = 0xff00, 0xff00
	})
	if got, want := p.b.numbersOf(), fmt.Sprintf("ike 0 0 child 5 6 mark %d %d set 0/0", 0x400, 0x400); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// TestNarrowMaskRunsOut: with more SAs than a mask has room for, they come up all the same, and the log says so.
func TestNarrowMaskRunsOut(t *testing.T) {
	p := established(t, func(_, b *Config) {
		ch := DefaultChild()
		ch.Name, ch.MarkIn, ch.MarkOut, ch.SetMarkIn = "other", Mark{1, 3}, Mark{2, 3}, Mark{3, 3}
		c := b.Connections[0]
		c.Children[0].MarkInBy, c.Children[0].MarkIn.Mask = NumberEach, 3
		c.Children = append(c.Children, &ch)
	})
	if log := p.b.log(); !strings.Contains(log, "no mark is left under the mask of CHILD_SA net") {
		t.Error(log)
	}
}

// TestNumbersAboveLeftovers: beside SAs that an earlier run has left in the kernel, generated numbers begin above theirs; configured
// ones are not what is counted.
func TestNumbersAboveLeftovers(t *testing.T) {
	p := numbered(t, NumberEach, NumberConfigured, NumberEachDir)
	cfg := *p.b.e.cfg
	cfg.InterfaceIDs = []uint32{1000}
	next := New(&cfg, rand.NewChaCha8([32]byte{9}), 2)
	next.NumberAbove([]Mark{{}, {7, math.MaxUint32}, {0x300, 0xff00}}, []uint32{0, 41, 1000})
	p.a.event(Terminate{Connection: "gw"})
	p.settle()
	p.b.e = next
	p.b.event(AddressChanged{[]netip.Addr{p.b.addr}})
	p.a.event(Initiate{Connection: "gw", Child: "net"})
	p.settle()
	if got, want := p.b.numbersOf(), "ike 42 42 child 42 42 mark 8 9 set 8/ff"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
