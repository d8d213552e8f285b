package iketest

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// The pools of the gateway, B.
var (
	pool4 = &ike.Pool{Name: "rw4", Base: netip.MustParseAddr("10.3.0.1"), Size: 14, Attributes: []ike.PoolAttribute{{Type: 3, Value: "\x0a\x02\x00\x35"}}}
	pool6 = &ike.Pool{Name: "rw6", Base: netip.MustParseAddr("fd03::1"), Size: 14}

	first4, first6 = pool4.Base, pool6.Base
	any4, any6     = netip.IPv4Unspecified(), netip.IPv6Unspecified()
	everything     = Selectors(netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"))
)

// virtual makes A a client that asks for virtual addresses, and B a gateway that has pools of them.
func virtual(vips ...netip.Addr) func(a, b *ike.Config) {
	return func(a, b *ike.Config) {
		persist(a, b)
		dynamic := []ike.TrafficSelector{{Dynamic: true, EndPort: 65535}}
		a.Connections[0].VIPs = vips
		a.Connections[0].Children[0].LocalTS, a.Connections[0].Children[0].RemoteTS = dynamic, everything
		b.Pools = []*ike.Pool{pool4, pool6}
		b.Connections[0].Pools = []string{"rw4", "rw6"}
		b.Connections[0].Children[0].LocalTS, b.Connections[0].Children[0].RemoteTS = everything, dynamic
	}
}

// assigned says why A does not have just these virtual addresses: by its engine, by B's, in its kernel, in the selectors of
// every CHILD_SA, and as B's leases.
func assigned(p *Pair, at netip.Addr, want ...netip.Addr) error {
	if err := p.Agree(); err != nil {
		return err
	}
	a, _ := p.A.atRest(1)
	b, _ := p.B.atRest(1)
	if !slices.Equal(a.LocalVIPs, want) || !slices.Equal(b.RemoteVIPs, want) || len(a.RemoteVIPs)+len(b.LocalVIPs) > 0 {
		return fmt.Errorf("A has %v and B has given it %v, expected %v", a.LocalVIPs, b.RemoteVIPs, want)
	}
	if got := p.A.Virtual(at); !slices.Equal(got, want) {
		return fmt.Errorf("A's kernel has %v at %v, expected %v", got, at, want)
	}
	var ts []ike.TrafficSelector
	for _, v := range want {
		ts = append(ts, Selectors(netip.PrefixFrom(v, v.BitLen()))...)
	}
	for _, c := range append(a.Children, b.Children...) {
		if own := slices.Concat(c.SA.LocalTS, c.SA.RemoteTS); !slices.Equal(ts, own[:len(ts)]) && !slices.Equal(ts, own[len(own)-len(ts):]) {
			return fmt.Errorf("%s is not for %v", childText{c.SA}, want)
		}
	}
	return leasesOf(p.B, map[netip.Addr]bool{}, want...)
}

// leasesOf says why not just these addresses are online in a host's pools.
func leasesOf(h *Host, offline map[netip.Addr]bool, online ...netip.Addr) error {
	var got []netip.Addr
	for _, p := range h.Snapshot().Pools {
		n := 0
		for _, l := range p.Leases {
			if l.Online {
				got = append(got, l.Addr)
				n++
			} else if !offline[l.Addr] && len(offline) > 0 {
				return fmt.Errorf("%s keeps %v, which nobody had", h.Name, l.Addr)
			}
		}
		if p.Online != n || p.Online+p.Offline != len(p.Leases) {
			return fmt.Errorf("%s counts %d online and %d offline in the pool %s and lists %d", h.Name, p.Online, p.Offline, p.Config.Name, len(p.Leases))
		}
	}
	if !slices.Equal(got, online) {
		return fmt.Errorf("the leases of %s in use are %v, expected %v", h.Name, got, online)
	}
	return nil
}

// TestVirtualAddresses sets up with addresses of both families, and keeps them through rekeys and reauthentication from
// each end. A client that comes again gets them again.
func TestVirtualAddresses(t *testing.T) {
	for _, bbm := range []bool{false, true} {
		p := established(t, 1, func(a, b *ike.Config) {
			virtual(any4, any6)(a, b)
			a.BreakBeforeMake = bbm
		})
		same := func(when string) {
			t.Helper()
			noViolation(t, p.Net)
			if err := assigned(p, EndA.Addr, first4, first6); err != nil {
				failRun(t, p.Net, "%s: %v", when, err)
			}
		}
		same("set up")
		if dns := only(t, p.A).DNS; !slices.Equal(dns, []netip.Addr{netip.MustParseAddr("10.2.0.53")}) {
			t.Errorf("the name servers of the pool are %v", dns)
		}
		for _, ev := range []ike.Event{rekeyIKE, rekeyChild, reauthenticate} {
			for _, h := range []*Host{p.A, p.B} {
				if !bbm {
					p.GuardTraffic()
				}
				h.Do(ev)
				p.RunFor(settleTime)
				same(fmt.Sprintf("%+v by %s", ev, h.Name))
				p.UnguardTraffic()
			}
		}
		if text := "is the peer's to reauthenticate"; !strings.Contains(noted(p.B), text) {
			t.Errorf("B does not say that it %s", text)
		}
		p.A.Do(deleteIKE)
		p.RunFor(settleTime)
		empty(t, p.Net)
		if err := leasesOf(p.B, map[netip.Addr]bool{first4: true, first6: true}); err != nil {
			failRun(t, p.Net, "after the end: %v", err)
		}
		p.A.Initiate()
		p.RunFor(settleTime)
		same("a second time")
	}
}

// TestVirtualAddressWithEverySingleFault loses, repeats and delays each message of what assigns and keeps addresses.
func TestVirtualAddressWithEverySingleFault(t *testing.T) {
	for _, s := range []scenario{
		{name: "set up", setUp: true, a: events(initiate)},
		{name: "IKE rekey", a: events(rekeyIKE)},
		{name: "colliding IKE rekeys", a: events(rekeyIKE), b: events(rekeyIKE)},
		{name: "reauthentication", a: events(reauthenticate)},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.edit = virtual(any4)
			s.want = func(p *Pair) error { return assigned(p, EndA.Addr, first4) }
			s.enumerate(t)
		})
	}
}

// TestVirtualAddressMoves has the address follow when the client moves, and stay the same when it then authenticates anew.
func TestVirtualAddressMoves(t *testing.T) {
	p := established(t, 1, func(a, b *ike.Config) {
		virtual(any4)(a, b)
		twoAddresses(a, b)
	})
	p.A.Do(moveA)
	p.RunFor(time.Minute)
	if err := assigned(p, secondA, first4); err != nil {
		failRun(t, p.Net, "after the move: %v", err)
	}
	p.A.Do(reauthenticate)
	p.RunFor(time.Minute)
	if err := assigned(p, secondA, first4); err != nil {
		failRun(t, p.Net, "after reauthentication: %v", err)
	}
}

// TestFixedVirtualAddress asks for an address of its own choice: a pool without a range gives it, one with gives the next.
func TestFixedVirtualAddress(t *testing.T) {
	wish := netip.MustParseAddr("10.9.9.9")
	p := established(t, 1, func(a, b *ike.Config) {
		virtual(wish)(a, b)
		b.Pools = []*ike.Pool{{Name: "any"}}
		b.Connections[0].Pools = []string{"any"}
	})
	if err := assigned(p, EndA.Addr, wish); err != nil {
		failRun(t, p.Net, "%v", err)
	}
	p.A.Do(deleteIKE)
	p.RunFor(settleTime)
	if err := leasesOf(p.B, nil); err != nil {
		failRun(t, p.Net, "%v", err)
	}
	p = established(t, 1, virtual(wish))
	if err := assigned(p, EndA.Addr, first4); err != nil {
		failRun(t, p.Net, "%v", err)
	}
}

// TestCrashedClientGetsItsAddressAgain has the gateway believe that the client is there, when it comes anew.
func TestCrashedClientGetsItsAddressAgain(t *testing.T) {
	p := established(t, 1, virtual(any4))
	p.A.Crash()
	p.RunFor(time.Second)
	p.A.Start()
	p.A.Initiate()
	p.RunFor(settleTime)
	if err := assigned(p, EndA.Addr, first4); err != nil {
		failRun(t, p.Net, "%v", err)
	}
}

// TestNoVirtualAddress refuses who asks where there is none, and who does not ask where it must. The IKE SA ends, and is tried
// again; with an address there, or a request, it comes up.
func TestNoVirtualAddress(t *testing.T) {
	for _, c := range []struct {
		name, says string
		wrong      func(a, b *ike.Config)
	}{
		{"no pool", "INTERNAL_ADDRESS_FAILURE", func(_, b *ike.Config) { b.Connections[0].Pools = nil }},
		{"unknown pool", "there is no pool rw5", func(_, b *ike.Config) { b.Connections[0].Pools = []string{"rw5"} }},
		{"other family", "INTERNAL_ADDRESS_FAILURE", func(_, b *ike.Config) { b.Connections[0].Pools = []string{"rw6"} }},
		{"not asked", "FAILED_CP_REQUIRED", func(a, _ *ike.Config) { a.Connections[0].VIPs = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPair(1, func(a, b *ike.Config) {
				virtual(any4)(a, b)
				c.wrong(a, b)
				a.Connections[0].Children[0].StartAction = ike.ActionStart
			})
			p.RunFor(3 * time.Minute)
			noViolation(t, p.Net)
			if p.Up() || p.A.Kernel.Children()+p.B.Kernel.Children() > 0 {
				failRun(t, p.Net, "a CHILD_SA came up")
			}
			if all := noted(p.A) + noted(p.B); !strings.Contains(all, c.says) {
				failRun(t, p.Net, "nobody says %q", c.says)
			}
			if n := len(p.A.Failures()); n < 3 || n > 12 {
				failRun(t, p.Net, "A has tried %d times in 3 minutes", n)
			}
			a, b := Connect(EndA, EndB), Connect(EndB, EndA)
			virtual(any4)(a, b)
			a.Connections[0].Children[0].StartAction = ike.ActionStart
			p.A.Do(ike.Reconfigure{Config: a})
			p.B.Do(ike.Reconfigure{Config: b})
			p.RunFor(settleTime)
			if err := assigned(p, EndA.Addr, first4); err != nil {
				failRun(t, p.Net, "%v", err)
			}
		})
	}
}

// roadwarriors returns a gateway with a pool of some addresses and clients that come by themselves.
func roadwarriors(clients int, size uint32, id func(i int) string) (n *Net, gateway *Host, others []*Host) {
	n = NewNet(1)
	cfg := Connect(EndB, EndA)
	virtual(any4)(Connect(EndA, EndB), cfg)
	cfg.Pools = []*ike.Pool{{Name: "rw4", Base: first4, Size: size}}
	cfg.Connections[0].RemoteAddrs, cfg.Connections[0].Remote.ID, cfg.Connections[0].Pools = nil, Identity("%any"), []string{"rw4"}
	cfg.Connections[0].Unique = ike.UniqueNever
	gateway = n.AddHost("gateway", cfg, EndB.Addr)
	for i := range clients {
		end := End{ID: id(i), Addr: netip.AddrFrom4([4]byte{198, 18, 0, byte(i)}), Net: EndA.Net}
		cfg := Connect(end, EndB)
		virtual(any4)(cfg, Connect(EndB, end))
		others = append(others, n.AddHost(fmt.Sprintf("client%d", i), cfg, end.Addr))
	}
	return n, gateway, others
}

// TestPoolExhausted has more clients than addresses: who comes last gets one when somebody leaves. Nobody shares.
func TestPoolExhausted(t *testing.T) {
	n, gateway, clients := roadwarriors(3, 2, func(i int) string { return fmt.Sprintf("c%d.example", i) })
	second := first4.Next()
	for _, h := range clients {
		h.Initiate()
		n.RunFor(time.Second)
	}
	noViolation(t, n)
	if err := leasesOf(gateway, nil, first4, second); err != nil {
		failRun(t, n, "%v", err)
	}
	if !strings.Contains(noted(gateway), "pool 'rw4' is full, unable to assign address") || clients[2].Up(ConnectionName, ChildName) {
		failRun(t, n, "the pool of two has addresses for three")
	}
	clients[0].Do(deleteIKE)
	n.RunFor(settleTime)
	noViolation(t, n)
	if err := leasesOf(gateway, nil, first4, second); err != nil {
		failRun(t, n, "%v", err)
	}
	if got := clients[2].Virtual(netip.AddrFrom4([4]byte{198, 18, 0, 2})); !slices.Equal(got, []netip.Addr{first4}) {
		failRun(t, n, "the third has %v", got)
	}
	for _, h := range clients {
		h.Do(ike.Shutdown{})
	}
	n.RunFor(settleTime)
	empty(t, n)
}

// TestOneIdentityTwice gives each of two clients with one identity an address, and both the same again.
func TestOneIdentityTwice(t *testing.T) {
	n, gateway, clients := roadwarriors(2, 14, func(int) string { return "c.example" })
	for range 2 {
		for _, h := range clients {
			h.Initiate()
			n.RunFor(time.Minute)
		}
		noViolation(t, n)
		if err := leasesOf(gateway, nil, first4, first4.Next()); err != nil {
			failRun(t, n, "%v", err)
		}
		for i, h := range clients {
			if got := h.Virtual(netip.AddrFrom4([4]byte{198, 18, 0, byte(i)})); len(got) != 1 || (got[0] == first4) != (i == 0) {
				failRun(t, n, "client %d has %v", i, got)
			}
			h.Do(deleteIKE)
		}
		n.RunFor(settleTime)
		empty(t, n)
	}
}

// TestPoolReconfigured keeps the leases that another range has, too, and gives what is in use to nobody else.
func TestPoolReconfigured(t *testing.T) {
	n, gateway, clients := roadwarriors(2, 14, func(i int) string { return fmt.Sprintf("c%d.example", i) })
	clients[0].Initiate()
	n.RunFor(time.Minute)
	cfg := *gateway.Config()
	cfg.Pools = []*ike.Pool{{Name: "rw4", Base: first4.Prev(), Size: 2}}
	gateway.Do(ike.Reconfigure{Config: &cfg})
	clients[1].Initiate()
	n.RunFor(time.Minute)
	noViolation(t, n)
	if err := leasesOf(gateway, nil, first4.Prev(), first4); err != nil {
		failRun(t, n, "%v", err)
	}
	clients[0].Do(deleteIKE)
	n.RunFor(settleTime)
	clients[0].Initiate()
	n.RunFor(time.Minute)
	if err := leasesOf(gateway, nil, first4.Prev(), first4); err != nil {
		failRun(t, n, "%v", err)
	}
}
