package iketest

import (
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

var (
	natAddr   = netip.MustParseAddr("198.51.100.1")
	otherAddr = netip.MustParseAddr("198.51.100.2")
)

// behindNAT puts A behind a NAT.
func behindNAT(seed uint64, edit func(a, b *ike.Config)) (*Pair, *NAT) {
	p := NewPair(seed, func(a, b *ike.Config) {
		b.Connections[0].RemoteAddrs = nil // B does not know where A comes from
		if edit != nil {
			edit(a, b)
		}
	})
	return p, p.AddNAT(natAddr, p.A)
}

// TestNAT sets up, rekeys and deletes from behind a NAT: on port 4500, with ESP in UDP (RFC 7296
// section 2.23).
func TestNAT(t *testing.T) {
	p, _ := behindNAT(1, nil)
	establish(t, p)
	a, b := only(t, p.A), only(t, p.B)
	if !a.NATLocal || a.NATRemote || b.NATLocal || !b.NATRemote {
		failRun(t, p.Net, "A says that it is behind a NAT: %v, that B is: %v; B says %v and %v", a.NATLocal, a.NATRemote, b.NATLocal, b.NATRemote)
	}
	if a.Local.Port() != 4500 || a.Remote.Port() != 4500 || b.Local.Port() != 4500 {
		failRun(t, p.Net, "ports are not 4500: A %v-%v, B %v-%v", a.Local, a.Remote, b.Local, b.Remote)
	}
	if sa := b.Children[0].SA; !sa.Encap || sa.Remote != natAddr || sa.RemotePort < firstNATPort {
		failRun(t, p.Net, "B's CHILD_SA is not in UDP to the NAT: %+v", sa)
	}
	p.GuardTraffic()
	for _, h := range p.Hosts() {
		for _, ev := range []ike.Event{rekeyChild, rekeyIKE, rekeyChild} {
			h.Do(ev)
			p.RunFor(time.Minute)
			agree(t, p)
		}
	}
	p.UnguardTraffic()
	p.B.Do(ike.Shutdown{})
	p.RunFor(settleTime)
	empty(t, p.Net)
}

// TestKeepalive: whoever is behind the NAT keeps its mapping alive every 20 s (RFC 3948 section 4).
func TestKeepalive(t *testing.T) {
	p, _ := behindNAT(1, nil)
	establish(t, p)
	p.RunFor(10 * time.Minute)
	agree(t, p)
	if a, b := p.A.Keepalives, p.B.Keepalives; a < 28 || a > 31 || b != 0 {
		failRun(t, p.Net, "A sent %d keepalives in ten minutes and B, which is not behind the NAT, %d", a, b)
	}
}

// TestNATRebinding: the NAT forgets; B follows A's next authenticated message, with the kernel.
func TestNATRebinding(t *testing.T) {
	for _, ev := range []ike.Event{rekeyChild, rekeyIKE, ike.Terminate{Connection: ConnectionName}} {
		p, nat := behindNAT(1, func(a, _ *ike.Config) { a.Connections[0].MOBIKE = false })
		establish(t, p)
		nat.Rebind()
		p.A.Do(ev)
		p.RunFor(settleTime)
		noViolation(t, p.Net)
		if _, deletes := ev.(ike.Terminate); deletes {
			empty(t, p.Net)
			continue
		}
		agree(t, p)
	}
}

// TestNATRebindingByLivenessCheck: nothing but a liveness check of A tells B where A is now. With MOBIKE, A finds out
// by its answer, and tells (RFC 4555 section 3.8).
func TestNATRebindingByLivenessCheck(t *testing.T) {
	for _, mobike := range []bool{false, true} {
		p, nat := behindNAT(1, func(a, _ *ike.Config) {
			a.Connections[0].DPDDelay, a.Connections[0].MOBIKE = 10*time.Second, mobike
		})
		establish(t, p)
		p.RunFor(15 * time.Second)
		before, _ := spis(t, p.B)
		nat.Rebind()
		p.RunFor(30 * time.Second)
		agree(t, p)
		if after, _ := spis(t, p.B); after != before {
			failRun(t, p.Net, "the IKE SA was replaced")
		}
	}
}

// TestNATRebindingByESP: the kernel has seen ESP from A's new port, and B follows at once.
func TestNATRebindingByESP(t *testing.T) {
	p, nat := behindNAT(1, nil)
	establish(t, p)
	nat.Rebind()
	if p.B.SendESP() != 0 {
		failRun(t, p.Net, "the NAT still lets B in")
	}
	if p.A.SendESP() != 1 || p.B.SendESP() != 1 {
		failRun(t, p.Net, "B does not answer where A's ESP came from")
	}
	agree(t, p)
}

// TestMappingBehindOwnNAT: what our own NAT does to the source of the peer's packets moves nothing (RFC 7296 section 2.23).
func TestMappingBehindOwnNAT(t *testing.T) {
	p, _ := behindNAT(1, nil)
	establish(t, p)
	sa := only(t, p.A)
	p.A.Do(ike.PeerMoved{SPI: sa.Children[0].SA.SPIIn, New: netip.AddrPortFrom(otherAddr, 4500)})
	if now := only(t, p.A).Remote; now != sa.Remote {
		failRun(t, p.Net, "A is behind the NAT itself, and moves its peer to %v", now)
	}
}

// TestReplayDoesNotMove: copies of old messages that come from elsewhere move nothing (RFC 7296
// section 2.23: only a fresh authenticated message does).
func TestReplayDoesNotMove(t *testing.T) {
	p, _ := behindNAT(1, nil)
	p.Record()
	establish(t, p)
	p.A.Do(rekeyChild)
	p.RunFor(time.Minute)
	agree(t, p)
	for _, m := range p.Recorded() {
		for _, h := range p.Hosts() {
			before := h.Snapshot().IKESAs
			h.Spoof(netip.AddrPortFrom(otherAddr, 4500), 4500, m.Data)
			noViolation(t, p.Net)
			for i, sa := range h.Snapshot().IKESAs[:len(before)] {
				if sa.Remote != before[i].Remote || sa.Local != before[i].Local {
					failRun(t, p.Net, "a replay of %v moves the peer of %s from %v to %v", m, h.Name, before[i].Remote, sa.Remote)
				}
			}
		}
	}
	p.RunFor(settleTime)
	agree(t, p)
}

// TestTwoBehindOneNAT: the same identities apart from one, and the same address for B.
func TestTwoBehindOneNAT(t *testing.T) {
	third := End{ID: "c.example", Addr: netip.MustParseAddr("192.0.2.3"), Net: netip.MustParsePrefix("10.3.0.0/16")}
	p, nat := behindNAT(1, func(_, b *ike.Config) {
		c := Connect(EndB, third).Connections[0]
		c.Name, c.RemoteAddrs = "third", nil
		b.Connections = append(b.Connections, c)
	})
	cfg := Connect(third, EndB)
	c := p.AddHost("C", cfg, third.Addr)
	c.nat = nat
	p.A.Initiate()
	c.Initiate()
	p.RunFor(settleTime)
	noViolation(t, p.Net)
	if !p.Up() || !c.Up(ConnectionName, ChildName) || !p.B.Up("third", ChildName) || p.B.Kernel.Children() != 2 {
		failRun(t, p.Net, "not both are up")
	}
	p.GuardTraffic()
	p.RunFor(time.Minute)
	noViolation(t, p.Net)
}

// TestForcedEncapsulation: encap = yes pretends to be behind a NAT where there is none.
func TestForcedEncapsulation(t *testing.T) {
	for _, end := range []string{"A", "B"} {
		p := established(t, 1, func(a, b *ike.Config) {
			if end == "A" {
				a.Connections[0].ForceEncap = true
			} else {
				b.Connections[0].ForceEncap = true
			}
		})
		for _, h := range p.Hosts() {
			if !only(t, h).Children[0].SA.Encap {
				failRun(t, p.Net, "encap = yes at %s: %s does not use UDP", end, h.Name)
			}
		}
		p.GuardTraffic()
		p.B.Do(rekeyIKE)
		p.RunFor(time.Minute)
		p.B.Do(rekeyChild)
		p.RunFor(time.Minute)
		agree(t, p)
	}
}
