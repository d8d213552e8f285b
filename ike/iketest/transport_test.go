package iketest

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// transport makes both ends use transport mode, for UDP port 1701 at B's end as L2TP has it.
func transport(a, b *ike.Config) {
	host := ike.TrafficSelector{Dynamic: true, Protocol: 17, EndPort: 65535}
	l2tp := ike.TrafficSelector{Dynamic: true, Protocol: 17, StartPort: 1701, EndPort: 1701}
	ca, cb := a.Connections[0].Children[0], b.Connections[0].Children[0]
	ca.Mode, cb.Mode = ike.ModeTransport, ike.ModeTransport
	ca.LocalTS, ca.RemoteTS = []ike.TrafficSelector{host}, []ike.TrafficSelector{l2tp}
	cb.LocalTS, cb.RemoteTS = ca.RemoteTS, ca.LocalTS
}

// TestTransport sets up and rekeys a CHILD_SA in transport mode from either end, without a NAT and with one on either
// side or both. The invariants check that the selectors are those of each end's own packets (RFC 7296 section 2.23.1).
func TestTransport(t *testing.T) {
	for _, nat := range []string{"", "A", "B", "AB"} {
		for _, forced := range []bool{false, true} {
			p := NewPair(1, func(a, b *ike.Config) {
				transport(a, b)
				a.Connections[0].ForceEncap = forced
				if strings.Contains(nat, "A") {
					b.Connections[0].RemoteAddrs = nil
				}
				if strings.Contains(nat, "B") {
					a.Connections[0].RemoteAddrs = Addrs(otherAddr)
				}
			})
			if strings.Contains(nat, "A") {
				p.AddNAT(natAddr, p.A)
			}
			if strings.Contains(nat, "B") {
				n := p.AddNAT(otherAddr, p.B)
				n.Forward(500, netip.AddrPortFrom(EndB.Addr, 500))
				n.Forward(4500, netip.AddrPortFrom(EndB.Addr, 4500))
			}
			establish(t, p)
			p.GuardTraffic()
			for _, h := range p.Hosts() {
				for _, ev := range []ike.Event{rekeyChild, rekeyIKE, rekeyChild} {
					h.Do(ev)
					p.RunFor(time.Minute)
					agree(t, p)
				}
				if sa := only(t, h).Children[0].SA; sa.Mode != ike.ModeTransport || sa.Encap != (nat != "" || forced) {
					failRun(t, p.Net, "NAT %q, forced %v: %s has mode %v, in UDP: %v", nat, forced, h.Name, sa.Mode, sa.Encap)
				}
			}
		}
	}
}

// TestTransportAndTunnel: what one end has only as a tunnel is not made in transport mode, and the operator is told
// which line says so (RFC 7296 section 1.3.1).
func TestTransportAndTunnel(t *testing.T) {
	for _, v := range []struct {
		atA, atB ike.Mode
		want     string
	}{
		{ike.ModeTransport, ike.ModeTunnel, "peer uses TUNNEL mode, and we want TRANSPORT"},
		{ike.ModeTunnel, ike.ModeTransport, "no proposal chosen"},
	} {
		p := NewPair(1, func(a, b *ike.Config) {
			transport(a, b)
			a.Connections[0].Children[0].Mode, b.Connections[0].Children[0].Mode = v.atA, v.atB
		})
		p.A.Initiate()
		p.RunFor(time.Minute)
		noViolation(t, p.Net)
		if f := p.A.Failures(); len(f) != 1 || !strings.Contains(f[0], v.want) {
			failRun(t, p.Net, "%v and %v: failures %q, want one with %q", v.atA, v.atB, f, v.want)
		}
		for _, h := range p.Hosts() {
			if h.Kernel.Children() != 0 {
				failRun(t, p.Net, "%s has a CHILD_SA", h.Name)
			}
		}
	}
}

// TestBothModes: one connection has a child of each mode, and each proposal finds its own.
func TestBothModes(t *testing.T) {
	p := NewPair(1, func(a, b *ike.Config) {
		for _, cfg := range []*ike.Config{a, b} {
			tunnel := *cfg.Connections[0].Children[0]
			tunnel.Name = "tunnel"
			cfg.Connections[0].Children = append(cfg.Connections[0].Children, &tunnel)
		}
		transport(a, b)
	})
	for _, child := range []string{"tunnel", ChildName} {
		p.A.Do(ike.Initiate{Connection: ConnectionName, Child: child})
		p.RunFor(time.Second)
	}
	agree(t, p)
	for _, h := range p.Hosts() {
		for _, c := range only(t, h).Children {
			if want := map[string]ike.Mode{ChildName: ike.ModeTransport}[c.SA.Config.Name]; c.SA.Mode != want {
				failRun(t, p.Net, "%s: %s is in %v mode", h.Name, c.SA.Config.Name, c.SA.Mode)
			}
		}
	}
}
