package ike

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// conns makes connections from lines "name local remote localID remoteID"; "-" is any.
func conns(t *testing.T, lines ...string) *Engine {
	t.Helper()
	cfg := &Config{Limits: DefaultLimits(), Timing: DefaultTiming()}
	for _, line := range lines {
		f := strings.Fields(line)
		c := DefaultConnection()
		c.Name = f[0]
		c.Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519")
		for i, list := range []*[]AddrMatch{&c.LocalAddrs, &c.RemoteAddrs} {
			if f[1+i] != "-" {
				*list = append(*list, AddrMatch{Prefix: netip.MustParsePrefix(f[1+i])})
			}
		}
		for i, id := range []*auth.Identity{&c.Local.ID, &c.Remote.ID} {
			if f[3+i] != "-" {
				*id, _ = auth.Parse(f[3+i])
			}
		}
		cfg.Connections = append(cfg.Connections, &c)
	}
	return New(cfg, nil, 0)
}

func names(list []*connection) string {
	var s []string
	for _, c := range list {
		s = append(s, c.cfg.Name)
	}
	return strings.Join(s, " ")
}

func TestCandidates(t *testing.T) {
	e := conns(t,
		"any        -            -             - -",
		"net        -            192.0.2.0/24  - -",
		"peer       -            192.0.2.9/32  - -",
		"peer-local 10.0.0.1/32  192.0.2.9/32  - -",
		"elsewhere  10.0.0.2/32  192.0.2.9/32  - -",
		"peer2      -            192.0.2.9/32  - -",
		"six        -            2001:db8::/32 - -",
	)
	for _, c := range []struct{ local, remote, want string }{
		{"10.0.0.1", "192.0.2.9", "peer-local peer peer2 net any"},
		{"10.0.0.1", "192.0.2.8", "net any"},
		{"10.0.0.1", "198.51.100.1", "any"},
		{"2001:db8::1", "2001:db8::2", "six any"},
	} {
		got := names(e.directory.candidates(netip.MustParseAddr(c.local), netip.MustParseAddr(c.remote)))
		if got != c.want {
			t.Errorf("%s from %s: %s, want %s", c.local, c.remote, got, c.want)
		}
	}
}

func TestSelectConnection(t *testing.T) {
	e := conns(t,
		"first  - - us.example  -",
		"other  - - two.example -",
		"named  - - us.example  them.example",
		"us-any - - -           them.example",
	)
	parse := func(s string) auth.Identity { id, _ := auth.Parse(s); return id }
	sa := &ikeSA{candidates: e.connections, local: netip.MustParseAddrPort("10.0.0.1:500")}
	for _, c := range []struct{ peer, asks, want string }{
		{"them.example", "", "named"},
		{"them.example", "us.example", "named"},
		{"them.example", "two.example", "us-any"}, // its own identity is whatever the peer asks for
		{"x.example", "two.example", "other"},
		{"x.example", "", "first"},
		{"x.example", "three.example", ""},
	} {
		var idr *wire.Identification
		if c.asks != "" {
			idr = idPayload(wire.PayloadIDr, parse(c.asks))
		}
		list, why := sa.selectConnections(parse(c.peer), idr, wire.AuthSharedKey)
		var got *connection
		if len(list) > 0 {
			got = list[0]
		}
		switch {
		case got == nil && c.want != "" || got != nil && got.cfg.Name != c.want:
			t.Errorf("peer %s asking for %q gets %+v, want %q", c.peer, c.asks, got, c.want)
		case got == nil && !strings.Contains(why, c.peer):
			t.Errorf("the refusal does not name the peer: %s", why)
		}
	}
}
