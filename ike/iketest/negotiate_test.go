package iketest

import (
	"cmp"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// negotiated are set-ups that take more than the four usual messages, or agree on less than was offered.
var negotiated = []scenario{
	{name: "another IKE group", setUp: true, a: events(initiate), edit: func(a, b *ike.Config) {
		persist(a, b)
		a.Connections[0].Proposals = Proposals(suite.IKE, "aes128gcm16-prfsha256-x25519-ecp256")
		b.Connections[0].Proposals = Proposals(suite.IKE, "aes128gcm16-prfsha256-ecp256")
	}},
	{name: "another ESP group for a rekey", a: events(rekeyChild), edit: func(a, b *ike.Config) {
		a.Connections[0].Children[0].Proposals = Proposals(suite.ESP, "aes128gcm16-x25519-ecp256")
		b.Connections[0].Children[0].Proposals = Proposals(suite.ESP, "aes128gcm16-ecp256")
	}},
	{name: "another IKE group for a rekey", b: events(rekeyIKE), edit: func(a, b *ike.Config) {
		a.Connections[0].Proposals = Proposals(suite.IKE, "aes128gcm16-prfsha256-ecp256")
		b.Connections[0].Proposals = Proposals(suite.IKE, "aes128gcm16-prfsha256-x25519-ecp256")
	}},
	{name: "fragments", setUp: true, a: events(initiate), edit: func(a, b *ike.Config) {
		persist(a, b)
		fragmented(a, b)
	}},
	{name: "fragments of a rekey", a: events(rekeyChild), edit: fragmented},
	{name: "fragments of two rekeys", a: events(rekeyChild), b: events(rekeyChild), edit: fragmented},
}

// fragmented gives the tunnel so many selectors that they do not fit into one packet.
func fragmented(a, b *ike.Config) {
	var local, remote []netip.Prefix
	for i := range 100 {
		local = append(local, netip.MustParsePrefix(fmt.Sprintf("10.1.%d.0/25", i)))
		remote = append(remote, netip.MustParsePrefix(fmt.Sprintf("10.2.%d.0/25", i)))
	}
	ca, cb := a.Connections[0].Children[0], b.Connections[0].Children[0]
	ca.LocalTS, ca.RemoteTS = Selectors(local...), Selectors(remote...)
	cb.LocalTS, cb.RemoteTS = ca.RemoteTS, ca.LocalTS
}

func TestNegotiatedWithEverySingleFault(t *testing.T) {
	for _, s := range negotiated {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.enumerate(t)
		})
	}
}

// TestFragmentsFit checks that what is too long for a packet does go in fragments, and that these are
// short enough (RFC 7383).
func TestFragmentsFit(t *testing.T) {
	for _, size := range []int{0, 576, 1400} { // 0: IPv6's smallest MTU
		p := NewPair(1, func(a, b *ike.Config) {
			fragmented(a, b)
			for _, c := range []*ike.Config{a, b} {
				c.FragmentSize4, c.FragmentSize6 = size, 999
			}
		})
		p.Record()
		establish(t, p)
		most := cmp.Or(size, 1280) - 20 - 8 // less an IPv4 and a UDP header
		fragments, longest := 0, 0
		for _, m := range p.Recorded() {
			if msg, err := wire.ParseMessage(m.Data, wire.Limits{}); err == nil && msg.Encrypted != nil {
				longest = max(longest, len(m.Data))
				if msg.Encrypted.IsFragment() {
					fragments++
				}
			}
		}
		if longest > most || longest < most-64 {
			t.Errorf("the longest packet has %d octets of UDP data, want %d or a little less", longest, most)
		}
		if fragments < 4 {
			failRun(t, p.Net, "%d fragments were sent, expected at least 2 in each direction", fragments)
		}
	}
}

// TestNoFragmentsUnlessBothAnnounce (RFC 7383 section 2.3).
func TestNoFragmentsUnlessBothAnnounce(t *testing.T) {
	p := NewPair(1, func(a, b *ike.Config) {
		fragmented(a, b)
		b.Connections[0].Fragmentation = false
	})
	p.Record()
	establish(t, p)
	for _, m := range p.Recorded() {
		if msg, err := wire.ParseMessage(m.Data, wire.Limits{}); err == nil && msg.Encrypted != nil && msg.Encrypted.IsFragment() {
			failRun(t, p.Net, "%v, and B did not announce that it can take fragments", m)
		}
	}
}

// TestNarrowing (RFC 7296 section 2.9): the responder's policy is within the offer, or overlaps it.
func TestNarrowing(t *testing.T) {
	prefixes := func(s ...string) []ike.TrafficSelector {
		var ps []netip.Prefix
		for _, x := range s {
			ps = append(ps, netip.MustParsePrefix(x))
		}
		return Selectors(ps...)
	}
	cases := []struct {
		name             string
		offered, allowed []ike.TrafficSelector // of B's side
		want             []ike.TrafficSelector
	}{
		{"equal", prefixes("10.2.0.0/16"), prefixes("10.2.0.0/16"), prefixes("10.2.0.0/16")},
		{"responder has less", prefixes("10.2.0.0/16"), prefixes("10.2.5.0/24"), prefixes("10.2.5.0/24")},
		{"responder has more", prefixes("10.2.5.0/24"), prefixes("10.2.0.0/16"), prefixes("10.2.5.0/24")},
		{"any", prefixes("0.0.0.0/0"), prefixes("10.2.0.0/16"), prefixes("10.2.0.0/16")},
		{"two of three", prefixes("10.2.1.0/24", "10.2.2.0/24", "10.2.3.0/24"), prefixes("10.2.1.0/24", "10.2.3.0/24"), prefixes("10.2.1.0/24", "10.2.3.0/24")},
		{"IPv6", prefixes("2001:db8::/32"), prefixes("2001:db8:1::/48"), prefixes("2001:db8:1::/48")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := established(t, 1, func(a, b *ike.Config) {
				a.Connections[0].Children[0].RemoteTS = c.offered
				b.Connections[0].Children[0].LocalTS = c.allowed
			})
			check := func(when string) {
				t.Helper()
				if got := only(t, p.A).Children[0].SA.RemoteTS; fmt.Sprint(got) != fmt.Sprint(c.want) {
					failRun(t, p.Net, "%s A may send to %v, expected %v", when, got, c.want)
				}
			}
			check("first")
			// RFC 7296 section 2.9.2: a rekey does not narrow further, whoever begins it.
			p.GuardTraffic()
			p.A.Do(rekeyChild)
			p.RunFor(time.Minute)
			p.B.Do(rekeyChild)
			p.RunFor(settleTime)
			agree(t, p)
			check("after two rekeys")
		})
	}
}

// TestCookies sets up while the responder has enough half-open IKE SAs to demand cookies
// (RFC 7296 section 2.6), with every message of the set-up met by every fault.
func TestCookies(t *testing.T) {
	for _, group := range []string{"x25519", "ecp384-x25519"} { // the second one is refused after the cookie
		s := scenario{setUp: true, a: events(initiate), edit: func(a, b *ike.Config) {
			persist(a, b)
			a.Connections[0].Proposals = Proposals(suite.IKE, "aes128gcm16-prfsha256-"+group)
			b.Limits.CookieThreshold, b.Limits.CookiePerIP = 3, 0
			b.Connections[0].RemoteAddrs = nil
			b.Timing.HalfOpenTimeout = time.Hour
		}}
		begin := func(seed uint64) *Pair {
			p := s.start(seed)
			halfOpen(p, 5)
			return p
		}
		p := begin(1)
		if err := s.play(p); err != nil {
			failRun(t, p.Net, "%v", err)
		}
		if p.B.Snapshot().Counters.CookiesSent == 0 {
			failRun(t, p.Net, "B demanded no cookie")
		}
		for n := 1; n <= 8; n++ {
			for _, kind := range Kinds() {
				p := begin(2)
				if err := s.play(p, Fault{kind, n}); err != nil {
					failRun(t, p.Net, "%v: %v", Fault{kind, n}, err)
				}
			}
		}
	}
}

// halfOpen begins IKE SAs at B that nobody goes on with.
func halfOpen(p *Pair, n int) {
	x := NewPair(99, nil)
	x.Record()
	x.A.Initiate()
	x.RunFor(time.Millisecond)
	request := x.Recorded()[0].Data
	for i := range n {
		copied := append([]byte(nil), request...)
		copied[7] = byte(i) // another SPI
		p.B.Spoof(netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}), 500), 500, copied)
		p.RunFor(time.Millisecond)
	}
}
