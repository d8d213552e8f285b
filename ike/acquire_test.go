package ike

import (
	"net/netip"
	"testing"
)

// What the kernel tells of a packet becomes selectors as RFC 7296 section 3.13.1 has them: for ICMP the type is
// in the place of the source port, the code in that of the other.
func TestPacketSelectors(t *testing.T) {
	at := func(a string, port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(a), port) }
	for _, c := range []struct {
		name          string
		ev            Acquire
		local, remote string
	}{
		{"TCP", Acquire{Src: at("10.1.0.1", 1234), Dst: at("10.2.0.1", 80), Protocol: 6}, "10.1.0.1/32[6/1234]", "10.2.0.1/32[6/80]"},
		{"echo request", Acquire{Src: at("10.1.0.1", 8), Dst: at("10.2.0.1", 0), Protocol: 1}, "10.1.0.1/32[1/2048]", "10.2.0.1/32[1/2048]"},
		{"ICMPv6, port unreachable", Acquire{Src: at("2001:db8::1", 1), Dst: at("2001:db8::2", 4), Protocol: 58}, "2001:db8::1/128[58/260]", "2001:db8::2/128[58/260]"},
		{"GRE has no ports", Acquire{Src: at("10.1.0.1", 0), Dst: at("10.2.0.1", 0), Protocol: 47}, "10.1.0.1/32[47]", "10.2.0.1/32[47]"},
	} {
		p := c.ev.selectors()
		if p == nil || p.local.String() != c.local || p.remote.String() != c.remote {
			t.Errorf("%s: %+v, want %s === %s", c.name, p, c.local, c.remote)
		}
	}
	if p := (Acquire{ReqID: 1}).selectors(); p != nil {
		t.Errorf("of nothing: %+v", p)
	}
}

// The packet's selectors stand before those of the child, which stay; what the child is not for is not proposed.
func TestPacketGoesFirst(t *testing.T) {
	o := &offer{localTS: sels(t, "10.1.0.0/16"), remoteTS: sels(t, "10.2.0.0/16")}
	inside := &packet{local: sel(t, "10.1.0.1/32[6/80]"), remote: sel(t, "10.2.0.1/32[6/80]")}
	inside.first(o)
	inside.first(o) // a second try
	if got := tsString(o.localTS) + " === " + tsString(o.remoteTS); got != "10.1.0.1/32[6/80] 10.1.0.0/16 === 10.2.0.1/32[6/80] 10.2.0.0/16" {
		t.Errorf("got %s", got)
	}
	outside := &packet{local: sel(t, "10.1.0.1/32"), remote: sel(t, "10.9.0.1/32")}
	before := len(o.localTS)
	if outside.first(o); len(o.localTS) != before {
		t.Errorf("got %s", tsString(o.localTS))
	}
	(*packet)(nil).first(o)
}

// RFC 7296 section 2.9: of children that fit in part, that which keeps the first selectors.
func TestFitness(t *testing.T) {
	proposed := sels(t, "10.2.9.5/32[6/80] 10.2.0.0/16")
	for _, c := range []struct {
		policy string
		want   int
	}{{"0.0.0.0/0", 4}, {"10.2.9.0/24", 2}, {"10.2.1.0/24", 1}, {"10.3.0.0/16", 0}} {
		if got := fitness(narrow(sels(t, c.policy), proposed), proposed); got != c.want {
			t.Errorf("%s: %d, want %d", c.policy, got, c.want)
		}
	}
}
