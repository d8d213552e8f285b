package ike

import (
	"net/netip"
	"testing"
	"time"
)

// anyPeers makes both ends trap for any peer.
func anyPeers(t *testing.T) (a, b *Config) {
	a, b = testConfigs(t)
	for _, c := range []*Config{a, b} {
		conn := c.Connections[0]
		conn.RemoteAddrs = nil
		ch := conn.Children[0]
		ch.Mode, ch.StartAction = ModeTransport, ActionTrap
		ch.LocalTS = []TrafficSelector{{Dynamic: true, EndPort: anyPort}}
		ch.RemoteTS = ch.LocalTS
	}
	return a, b
}

// Peers of which nothing is left are forgotten, whoever began and however it ended; else traffic to ever new addresses
// would fill the memory.
func TestPeersAreForgotten(t *testing.T) {
	ping := func(h *host, dst string) {
		h.e.HandleEvent(h.pair.now, Acquire{ReqID: h.e.ReqID("gw", "net"), Protocol: 1, Src: netip.AddrPortFrom(h.addr, 8), Dst: netip.AddrPortFrom(netip.MustParseAddr(dst), 0)})
		h.drain()
	}
	do := func(h *host, ev Event) {
		h.e.HandleEvent(h.pair.now, ev)
		h.drain()
	}
	for name, end := range map[string]func(p *pair){
		"terminated":  func(p *pair) { do(p.a, Terminate{Connection: "gw"}) },
		"by the peer": func(p *pair) { do(p.b, Terminate{Connection: "gw"}) },
		"removed":     func(p *pair) { do(p.a, Reconfigure{Config: &Config{Limits: DefaultLimits(), Timing: DefaultTiming()}}) },
		"shut down":   func(p *pair) { do(p.a, Shutdown{}) },
	} {
		a, b := anyPeers(t)
		p := newPair(t, a, b)
		p.settle()
		ping(p.a, "192.0.2.2")
		ping(p.a, "192.0.2.2")
		p.settle()
		bases := []*connection{p.a.e.byName["gw"], p.b.e.byName["gw"]}
		for _, c := range bases {
			if len(c.peers) != 1 || len(c.sas) > 0 || len(c.peers[0].sas) != 1 {
				t.Fatalf("%s: %d peers", name, len(c.peers))
			}
		}
		end(p)
		p.settle()
		p.run(5 * time.Minute)
		for i, c := range bases {
			if len(c.peers) > 0 {
				t.Errorf("%s: %d peers are left at end %d", name, len(c.peers), i)
			}
		}
	}
	a, b := anyPeers(t)
	p := newPair(t, a, b)
	p.settle()
	p.lose = func(*host, Packet) bool { return true }
	ping(p.a, "192.0.2.2")
	p.run(10 * time.Minute)
	if c := p.a.e.byName["gw"]; len(c.peers) > 0 {
		t.Error("a peer that does not answer is left")
	}
}

// What the policies of a trap for any peer catch: all that remote_addrs and the selectors allow.
func TestAnyPeerTrap(t *testing.T) {
	match := func(list ...string) (out []AddrMatch) {
		for _, s := range list {
			out = append(out, AddrMatch{Prefix: netip.MustParsePrefix(s)})
		}
		return out
	}
	dynamic := func(proto uint8, port uint16) []TrafficSelector {
		return []TrafficSelector{{Dynamic: true, Protocol: proto, StartPort: port, EndPort: max(port, anyPort*uint16(1-min(port, 1)))}}
	}
	for _, c := range []struct {
		name           string
		local, remote  []AddrMatch
		localTS, remTS []TrafficSelector
		mode           Mode
		wantL, wantR   string
		one            bool
	}{
		{name: "all", mode: ModeTransport, wantL: "0.0.0.0/0", wantR: "0.0.0.0/0"},
		{name: "tunnel mode", mode: ModeTunnel, one: true},
		{name: "one address", mode: ModeTransport, remote: match("192.0.2.2/32"), one: true},
		{name: "a name", mode: ModeTransport, remote: []AddrMatch{{Name: "peer.example"}}, one: true},
		{name: "a subnet", mode: ModeTransport, remote: match("192.0.2.0/24"), local: match("192.0.2.1/32"), wantL: "192.0.2.1/32", wantR: "192.0.2.0/24"},
		{name: "a range", mode: ModeTransport, remote: []AddrMatch{{Prefix: netip.MustParsePrefix("192.0.2.0/31")}, {Prefix: netip.MustParsePrefix("192.0.2.2/32"), Part: true}}, wantL: "0.0.0.0/0", wantR: "192.0.2.0/31 192.0.2.2/32"},
		{name: "remote_ts", mode: ModeTransport, remTS: sels(t, "192.0.2.0/30"), wantL: "0.0.0.0/0", wantR: "192.0.2.0/30"},
		{name: "ports", mode: ModeTransport, localTS: dynamic(6, 22), remTS: dynamic(6, 0), wantL: "0.0.0.0/0[6/22]", wantR: "0.0.0.0/0[6]"},
		{name: "IPv6", mode: ModeTransport, local: match("2001:db8::1/128"), wantL: "2001:db8::1/128", wantR: "::/0"},
		{name: "%any6", mode: ModeTransport, remote: match("::/0"), wantL: "::/0", wantR: "::/0"},
		{name: "two families", mode: ModeTransport, local: match("192.0.2.1/32"), remote: match("2001:db8::/32"), one: true},
	} {
		ch := &ChildConfig{Mode: c.mode, LocalTS: c.localTS, RemoteTS: c.remTS}
		conn := &Connection{LocalAddrs: c.local, RemoteAddrs: c.remote, Children: []*ChildConfig{ch}}
		l, r, ok := conn.AnyPeerTrap(ch)
		if ok == c.one || ok && (tsString(l) != c.wantL || tsString(r) != c.wantR) {
			t.Errorf("%s: %s === %s, %v", c.name, tsString(l), tsString(r), ok)
		}
	}
}
