package iketest

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// acquireFrom asks A for the child, as its kernel does for a TCP segment from 10.1.0.9 to dst, port 80.
func acquireFrom(p *Pair, dst string) {
	reqid := p.A.Engine().ReqID(ConnectionName, ChildName)
	p.A.Do(ike.Acquire{
		ReqID: reqid, Protocol: 6,
		Src: netip.AddrPortFrom(netip.MustParseAddr("10.1.0.9"), 1234), Dst: netip.AddrPortFrom(netip.MustParseAddr(dst), 80),
	})
}

// split gives B two children in the place of one, each for a part of its network.
func split(a, b *ike.Config) {
	a.Connections[0].Children[0].StartAction = ike.ActionTrap
	first := b.Connections[0].Children[0]
	second := *first
	second.Name = "second"
	first.LocalTS = Selectors(netip.MustParsePrefix("10.2.1.0/24"))
	second.LocalTS = Selectors(netip.MustParsePrefix("10.2.9.0/24"))
	b.Connections[0].Children = append(b.Connections[0].Children, &second)
}

func remotes(t *testing.T, h *Host) (list []string) {
	t.Helper()
	for _, c := range only(t, h).Children {
		for _, s := range c.SA.RemoteTS {
			list = append(list, s.String())
		}
	}
	slices.Sort(list)
	return list
}

// TestAcquire: the selectors of the packet that asked go first, so that a peer that narrows keeps them (RFC 7296
// section 2.9); without them B would choose its first child. A packet that the narrowed CHILD_SA is not for gets
// one of its own, with a reqid of its own: the kernel would send it on the first one otherwise.
func TestAcquire(t *testing.T) {
	p := NewPair(1, split)
	acquireFrom(p, "10.2.9.5")
	p.RunFor(time.Second)
	noViolation(t, p.Net)
	if got := remotes(t, p.A); !slices.Equal(got, []string{"10.2.9.0/24"}) {
		failRun(t, p.Net, "A has %v, want what the packet was for", got)
	}
	for range 3 { // repeated as kernels do
		acquireFrom(p, "10.2.9.6")
		acquireFrom(p, "10.2.1.7")
	}
	p.RunFor(time.Second)
	noViolation(t, p.Net)
	if got := remotes(t, p.A); !slices.Equal(got, []string{"10.2.1.0/24", "10.2.9.0/24"}) {
		failRun(t, p.Net, "A has %v, want one CHILD_SA for each part", got)
	}
	reqids := map[uint32]bool{p.A.Engine().ReqID(ConnectionName, ChildName): true}
	for _, c := range only(t, p.A).Children {
		if reqids[c.SA.ReqID] {
			failRun(t, p.Net, "the reqid %x is used twice", c.SA.ReqID)
		}
		reqids[c.SA.ReqID] = true
	}
	p.GuardTraffic()
	p.A.Do(rekeyChild)
	p.A.Do(rekeyIKE)
	p.RunFor(time.Minute)
	noViolation(t, p.Net)
	if got := remotes(t, p.A); !slices.Equal(got, []string{"10.2.1.0/24", "10.2.9.0/24"}) {
		failRun(t, p.Net, "after rekeying A has %v", got)
	}
	p.UnguardTraffic()
	p.A.Do(ike.Shutdown{})
	p.RunFor(settleTime)
	empty(t, p.Net)
}

// TestAcquireWhileTrying: traffic neither duplicates nor speeds up what is under way or has just failed.
func TestAcquireWhileTrying(t *testing.T) {
	p := NewPair(1, split)
	p.Cut(p.A, p.B)
	for range 100 {
		acquireFrom(p, "10.2.9.5")
		p.RunFor(100 * time.Millisecond)
	}
	if n := p.Sent(); n > 4 {
		failRun(t, p.Net, "%d messages in ten seconds", n)
	}
	p.Mend(p.A, p.B)
	p.RunFor(time.Minute)
	noViolation(t, p.Net)
	if got := remotes(t, p.A); !slices.Equal(got, []string{"10.2.9.0/24"}) {
		failRun(t, p.Net, "A has %v", got)
	}
}

// TestTrapActions: with dpd_action or close_action = trap, policies wait for traffic when the CHILD_SA is gone, and go
// with the child's configuration.
func TestTrapActions(t *testing.T) {
	trapping := func(a, _ *ike.Config) {
		a.Connections[0].DPDDelay = 10 * time.Second
		a.Connections[0].Children[0].CloseAction = ike.ActionTrap
		a.Connections[0].Children[0].DPDAction = ike.ActionTrap
	}
	for name, lose := range map[string]func(*Pair){
		"closed":     func(p *Pair) { p.B.Do(deleteChild) },
		"IKE closed": func(p *Pair) { p.B.Do(deleteIKE) },
		"dead": func(p *Pair) {
			p.B.Crash()
			p.RunFor(4 * time.Minute)
			p.B.Start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := established(t, 1, trapping)
			if p.A.Trapped(ConnectionName, ChildName) {
				failRun(t, p.Net, "there is a trap while all is well")
			}
			lose(p)
			p.RunFor(time.Minute)
			noViolation(t, p.Net)
			if !p.A.Trapped(ConnectionName, ChildName) || p.A.Up(ConnectionName, ChildName) {
				failRun(t, p.Net, "no trap, or the child is up")
			}
			acquireFrom(p, "10.2.0.5")
			p.RunFor(time.Second)
			agree(t, p)
			cfg := *p.A.Config()
			conn := *cfg.Connections[0]
			child := *conn.Children[0]
			child.CloseAction = ike.ActionClear
			conn.Children, cfg.Connections = []*ike.ChildConfig{&child}, []*ike.Connection{&conn}
			p.A.Do(ike.Reconfigure{Config: &cfg})
			p.RunFor(time.Minute)
			noViolation(t, p.Net)
			if p.A.Trapped(ConnectionName, ChildName) {
				failRun(t, p.Net, "the trap outlives its configuration")
			}
		})
	}
}

// TestShunts: shunts are for no peer, whoever asks.
func TestShunts(t *testing.T) {
	shunt := func(a, b *ike.Config) {
		for _, cfg := range []*ike.Config{a, b} {
			pass := *cfg.Connections[0].Children[0]
			pass.Name, pass.Mode, pass.StartAction = "pass", ike.ModePass, ike.ActionTrap
			cfg.Connections[0].Children = append([]*ike.ChildConfig{&pass}, cfg.Connections[0].Children...)
		}
	}
	p := NewPair(1, shunt)
	p.A.Do(ike.Initiate{Connection: ConnectionName, Child: "pass"})
	p.RunFor(time.Minute)
	if p.Sent() != 0 {
		failRun(t, p.Net, "a shunt was initiated")
	}
	p.A.Do(ike.Initiate{Connection: ConnectionName, Child: ChildName})
	p.RunFor(time.Second)
	noViolation(t, p.Net)
	for _, h := range p.Hosts() {
		if sa := only(t, h); len(sa.Children) != 1 || sa.Children[0].SA.Config.Name != ChildName {
			failRun(t, p.Net, "%s", h.Describe())
		}
	}
}
