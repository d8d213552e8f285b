package ike

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// manyTunnels returns configurations of n IKE SAs between two hosts, each with m children.
func manyTunnels(t *testing.T, n, m int, edit func(*ChildConfig)) (a, b *Config) {
	t.Helper()
	a, b = testConfigs(t)
	for _, cfg := range []*Config{a, b} {
		first := cfg.Connections[0]
		cfg.Connections = nil
		for i := range n {
			c := *first
			c.Name = fmt.Sprint("gw", i)
			c.Local.ID, c.Remote.ID = tunnelID(t, "a", i), tunnelID(t, "b", i)
			if cfg == b {
				c.Local.ID, c.Remote.ID = c.Remote.ID, c.Local.ID
			}
			c.Children = nil
			for j := range m {
				ch := *first.Children[0]
				ch.Name = fmt.Sprint("net", j)
				ch.Proposals = withoutKE(ch.Proposals)
				ch.LocalTS, ch.RemoteTS = clientNet(10, j), clientNet(20, j)
				if cfg == b {
					ch.LocalTS, ch.RemoteTS = ch.RemoteTS, ch.LocalTS
				}
				edit(&ch)
				c.Children = append(c.Children, &ch)
			}
			cfg.Connections = append(cfg.Connections, &c)
		}
	}
	return a, b
}

func tunnelID(t *testing.T, side string, i int) auth.Identity {
	id, err := auth.Parse(fmt.Sprintf("%s%d.example", side, i))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestTenThousandExpiries: ten thousand CHILD_SAs with the same lifetimes come up at the same moment. Each is rekeyed
// in time; the rekeys are spread over rand_time, and no hard lifetime is reached.
func TestTenThousandExpiries(t *testing.T) {
	tunnels, children := 100, 100
	if os.Getenv("IKETEST_SEEDS") == "" { // else all of it: 'make simulator'
		tunnels = 5
	}
	const rekey, random, life = time.Hour, 10 * time.Minute, 62 * time.Minute
	ca, cb := manyTunnels(t, tunnels, children, func(c *ChildConfig) {
		c.RekeyTime, c.RandTime, c.LifeTime = rekey, random, life
	})
	for _, c := range ca.Connections {
		c.RekeyTime = 0
	}
	for _, c := range cb.Connections {
		c.RekeyTime = 0
	}
	p := newPair(t, ca, cb)
	p.delays = func() []time.Duration { return []time.Duration{10 * time.Millisecond} }
	p.run(time.Minute)
	all := tunnels * children
	if len(p.a.kernel) != all || len(p.b.kernel) != all {
		t.Fatalf("%d and %d of %d CHILD_SAs are up", len(p.a.kernel), len(p.b.kernel), all)
	}
	perMinute := map[time.Duration]int{}
	for minute := range time.Duration(100) {
		before := p.a.e.counters.rekeyed()
		p.run(time.Minute)
		perMinute[minute] = int(p.a.e.counters.rekeyed() - before)
	}
	for _, h := range []*host{p.a, p.b} {
		if len(h.kernel) < all || len(h.kernel) > all+all/50 {
			t.Errorf("%s has %d CHILD_SAs, expected %d and a few that are being replaced", h.name, len(h.kernel), all)
		}
		for _, n := range h.notes {
			if strings.Contains(n.Text, "hard lifetime") {
				t.Fatalf("%s: %s", h.name, n.Text)
			}
		}
		if n := h.e.counters.Retransmits; n > 0 {
			t.Errorf("%s: %d retransmissions on a wire that loses nothing", h.name, n)
		}
	}
	total, most := 0, 0
	for _, n := range perMinute {
		total, most = total+n, max(most, n)
	}
	if total < all {
		t.Errorf("%d rekeys of %d CHILD_SAs in 100 minutes", total, all)
	}
	if most > all/3 {
		t.Errorf("%d of %d CHILD_SAs were rekeyed within a minute, with rand_time = %v", most, all, random)
	}
}

// rekeyed counts the CHILD_SAs that were replaced.
func (c *Counters) rekeyed() (n uint64) {
	for k, v := range c.Rekeys {
		if k.Child && k.OK {
			n += v
		}
	}
	return n
}

// clientNet returns the selector of the network 10.net.i.0/24.
func clientNet(net, i int) []TrafficSelector {
	return []TrafficSelector{PrefixSelector(netip.MustParsePrefix(fmt.Sprintf("10.%d.%d.0/24", net, i)))}
}

// TestExpiryInPeersRekey: the kernel ends a CHILD_SA (its clock was set) while our answer to the peer's rekey of it is under
// way. A Delete of ours could overtake that answer, whereupon some peers delete both. We send on the new one, and leave the
// old one to the peer.
func TestExpiryInPeersRekey(t *testing.T) {
	p := established(t)
	old := p.a.e.sorted()[0].children[0]
	p.delays = func() []time.Duration { return []time.Duration{time.Second} }
	p.b.event(Rekey{Child: "net"})
	p.run(1500 * time.Millisecond)
	heir := old.heir()
	if heir == nil || p.a.out[heir.info.ID] {
		t.Fatalf("no new CHILD_SA waits for the peer\n%s", p.history())
	}
	p.lose = func(from *host, k Packet) bool {
		if from == p.a && k.Data[19]&0x20 == 0 {
			t.Errorf("a sends a request\n%s", p.history())
		}
		return false
	}
	p.a.event(Expire{SPI: old.info.SPIIn, Dst: old.info.Local, Hard: true})
	if !p.a.out[heir.info.ID] {
		t.Error("nothing is sent on the new CHILD_SA")
	}
	p.run(10 * time.Second)
	p.wantUp(t)
}

// TestExpiryAndRekeyTakenBack: the peer deletes what it had made to replace a CHILD_SA that the kernel ended meanwhile. It is
// made anew, though nothing but an operator's command had asked for it.
func TestExpiryAndRekeyTakenBack(t *testing.T) {
	a, b := testConfigs(t)
	a.Connections[0].Children[0].StartAction = ActionClear
	p := newPair(t, a, b)
	p.a.event(Initiate{Connection: "gw", Child: "net"})
	p.settle()
	p.wantUp(t)
	old := p.a.e.sorted()[0].children[0]
	p.delays = func() []time.Duration { return []time.Duration{time.Second} }
	p.b.event(Rekey{Child: "net"})
	p.run(1500 * time.Millisecond)
	p.a.event(Expire{SPI: old.info.SPIIn, Dst: old.info.Local, Hard: true})
	p.b.e.enqueue(p.b.e.sorted()[0], &deleteChildTask{spi: old.heir().info.SPIOut})
	p.run(20 * time.Second)
	if len(p.a.kernel) != 1 || p.a.up["net"] != 1 {
		t.Errorf("%d CHILD_SAs, want a new one\n%s", len(p.a.kernel), p.history())
	}
	p.wantWorking(t)
}

// TestExpiryOfBothInARekey: both ends rekey a CHILD_SA, and before our response is here the kernel ends the old one, and what
// the peer has made as well. The peer's Delete of the old one finds neither.
func TestExpiryOfBothInARekey(t *testing.T) {
	p := established(t)
	old := p.a.e.sorted()[0].children[0]
	p.delays = func() []time.Duration { return []time.Duration{time.Second} }
	p.lose = func(from *host, k Packet) bool {
		return from == p.a && k.Data[18] == byte(wire.ExchangeCreateChildSA) && k.Data[19]&0x20 == 0
	}
	p.a.event(Rekey{Child: "net"})
	p.b.event(Rekey{Child: "net"})
	p.run(1500 * time.Millisecond)
	for _, c := range []*childSA{old, old.heir()} {
		p.a.event(Expire{SPI: c.info.SPIIn, Dst: c.info.Local, Hard: true})
	}
	p.run(3 * time.Second)
	p.lose = nil
	p.run(time.Minute)
	p.wantUp(t)
}
