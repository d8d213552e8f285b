package iketest

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// The addresses to which the hosts move.
var (
	secondA = netip.MustParseAddr("203.0.113.1")
	secondB = netip.MustParseAddr("203.0.113.2")
)

// twoAddresses lets each host use two addresses.
func twoAddresses(a, b *ike.Config) {
	a.Connections[0].LocalAddrs, a.Connections[0].RemoteAddrs = Addrs(EndA.Addr, secondA), Addrs(EndB.Addr, secondB)
	b.Connections[0].LocalAddrs, b.Connections[0].RemoteAddrs = Addrs(EndB.Addr, secondB), Addrs(EndA.Addr, secondA)
	a.RoutabilityCheck, b.RoutabilityCheck = true, true
}

// moveA and moveB take the first address away from a host that has two.
var (
	moveA = ike.AddressChanged{Addrs: []netip.Addr{secondA}}
	moveB = ike.AddressChanged{Addrs: []netip.Addr{secondB}}
)

// TestMove lets the hosts move in turn, with and without a return routability check: one round trip, or two, later
// traffic flows again, on the same SAs (RFC 4555).
func TestMove(t *testing.T) {
	for _, check := range []bool{true, false} {
		p := NewPair(1, func(a, b *ike.Config) {
			twoAddresses(a, b)
			a.RoutabilityCheck, b.RoutabilityCheck = check, check
		})
		establish(t, p)
		ikeSPI, childSPI := spis(t, p.B)
		for _, step := range []struct {
			h    *Host
			to   netip.Addr
			a, b netip.Addr
		}{
			{p.A, secondA, secondA, EndB.Addr},
			{p.B, secondB, secondA, secondB},
			{p.A, EndA.Addr, EndA.Addr, secondB},
			{p.B, EndB.Addr, EndA.Addr, EndB.Addr},
		} {
			step.h.Do(ike.AddressChanged{Addrs: []netip.Addr{step.to}})
			p.RunFor(time.Second)
			agree(t, p)
			if sa := only(t, p.A); sa.Local.Addr() != step.a || sa.Remote.Addr() != step.b {
				failRun(t, p.Net, "A is on %v - %v", sa.Local, sa.Remote)
			}
			for _, h := range p.Hosts() {
				if h.SendESP() != 1 {
					failRun(t, p.Net, "%s sends into nothing", h.Name)
				}
			}
		}
		if i, c := spis(t, p.B); i != ikeSPI || c != childSPI {
			failRun(t, p.Net, "the SAs are not the same any more")
		}
		p.GuardTraffic()
		p.B.Do(rekeyIKE)
		p.RunFor(time.Minute)
		p.A.Do(rekeyChild)
		p.RunFor(time.Minute)
		agree(t, p)
	}
}

// TestMoveWithoutMOBIKE: a host that must not use MOBIKE finds its peer dead, and sets up anew.
func TestMoveWithoutMOBIKE(t *testing.T) {
	p := NewPair(1, func(a, b *ike.Config) {
		twoAddresses(a, b)
		restart(a, b)
		b.Connections[0].MOBIKE = false
	})
	establish(t, p)
	if port := only(t, p.A).Remote.Port(); port != 4500 {
		failRun(t, p.Net, "A announces MOBIKE and is on port %d", port)
	}
	p.A.Do(moveA)
	p.RunFor(settleTime)
	agree(t, p)
}

// TestPathProbe: a path dies, with all addresses in place. The initiator tries the others (RFC 4555 section 3.10).
func TestPathProbe(t *testing.T) {
	p := scenario{moves: true, edit: func(a, b *ike.Config) {
		twoAddresses(a, b)
		a.Connections[0].DPDDelay = 10 * time.Second
	}}.start(1)
	ikeSPI, _ := spis(t, p.A)
	p.Fate = func(m *Message) Fate {
		return Fate{Lose: m.Dst.Addr() == EndB.Addr || m.Src.Addr() == EndB.Addr}
	}
	p.RunFor(3 * time.Minute)
	agree(t, p)
	if sa := only(t, p.A); sa.Remote.Addr() != secondB || sa.SPIi != ikeSPI {
		failRun(t, p.Net, "A is on %v - %v", sa.Local, sa.Remote)
	}
}

// TestForgedMove: a peer that claims to be where it does not receive gets no traffic sent there.
func TestForgedMove(t *testing.T) {
	p := NewPair(1, twoAddresses)
	establish(t, p)
	p.Fate = func(m *Message) Fate { return Fate{Lose: m.Dst.Addr() == secondA} }
	p.A.Do(moveA)
	p.RunFor(time.Minute)
	noViolation(t, p.Net)
	if sa := only(t, p.B).Children[0].SA; sa.Remote != EndA.Addr {
		failRun(t, p.Net, "B sends ESP to %v, from where no COOKIE2 has come back", sa.Remote)
	}
}

// moves are changes of addresses, alone and together with every other exchange.
func moves() []scenario {
	single := []scenario{
		{name: "move by A", a: events(moveA)},
		{name: "move by B", b: events(moveB)},
		{name: "child rekey and move by A", a: events(rekeyChild, moveA)},
		{name: "IKE rekey and move by A", a: events(rekeyIKE, moveA)},
		{name: "move and IKE rekey by A", a: events(moveA, rekeyIKE)},
		{name: "IKE rekey and move by B", b: events(rekeyIKE, moveB)},
		{name: "move and child rekey by B", b: events(moveB, rekeyChild)},
		{name: "moves there and back by A", a: events(moveA, ike.AddressChanged{Addrs: []netip.Addr{EndA.Addr}})},
	}
	for _, offset := range offsets {
		for _, x := range exchanges {
			single = append(single,
				scenario{name: fmt.Sprintf("move by A, after %v %s by B", offset, x.name), a: events(moveA), b: events(x.ev), offset: offset, want: x.want()},
				scenario{name: fmt.Sprintf("%s by A, after %v move by B", x.name, offset), a: events(x.ev), b: events(moveB), offset: offset, want: x.want()})
		}
		single = append(single, scenario{name: fmt.Sprintf("move by A, after %v move by B", offset), a: events(moveA), b: events(moveB), offset: offset})
	}
	for i := range single {
		s := &single[i]
		s.moves, s.loses, s.edit = true, true, func(a, b *ike.Config) { twoAddresses(a, b); persist(a, b) }
	}
	return single
}

// want returns what an exchange leads to.
func (x exchange) want() func(*Pair) error {
	switch {
	case x.ike:
		return (*Pair).Empty
	case x.child:
		return noChildren
	}
	return nil
}

// TestMovesWithEverySingleFault lets changes of addresses collide with everything, each message meeting every kind of fault.
func TestMovesWithEverySingleFault(t *testing.T) {
	for _, s := range moves() {
		if brief() && s.offset%(10*time.Millisecond) == 5*time.Millisecond {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.enumerate(t)
		})
	}
}
