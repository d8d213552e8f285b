//go:build lab

package scenario

import (
	"fmt"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// pair is our host and a peer's, with two ways between them: a direct link, and
// one through a router that hides whoever opens a conversation behind its own
// address.
//
//	     10.50.0.0/16, fd50::/64
//	us ------------------------- them
//	 |  10.51.0.0/16   10.52.0.0/16 |
//	 +------------- nat ------------+
//
// Tunnel n has addresses of its own on each link, so that a daemon can tell
// connections apart by address as it does in the field.
type pair struct {
	us, them, nat *labtest.Netns
}

// maxTunnels of one pair.
const maxTunnels = 60

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{
		us:   labtest.NewNetns(t, "us"),
		them: labtest.NewNetns(t, "them"),
		nat:  labtest.NewNetns(t, "nat"),
	}
	labtest.Link(t,
		labtest.End{Netns: p.us, Device: "direct", Addresses: hosts("10.50.0.%d/16", "fd50::1:%d/64")},
		labtest.End{Netns: p.them, Device: "direct", Addresses: hosts("10.50.1.%d/16", "fd50::2:%d/64")})
	labtest.Link(t,
		labtest.End{Netns: p.us, Device: "nat", Addresses: hosts("10.51.0.%d/16")},
		labtest.End{Netns: p.nat, Device: "us", Addresses: []string{"10.51.255.254/16"}})
	labtest.Link(t,
		labtest.End{Netns: p.them, Device: "nat", Addresses: hosts("10.52.0.%d/16")},
		labtest.End{Netns: p.nat, Device: "them", Addresses: []string{"10.52.255.254/16"}})
	p.us.IP(t, "route add 10.52.0.0/16 via 10.51.255.254")
	p.them.IP(t, "route add 10.51.0.0/16 via 10.52.255.254")
	p.nat.Router(t)
	p.nat.Nft(t, `
table ip nat {
    chain postrouting {
        type nat hook postrouting priority srcnat
        masquerade
    }
}
`)
	return p
}

// hosts lists the addresses of all tunnels.
func hosts(patterns ...string) []string {
	var out []string
	for _, p := range patterns {
		for n := 1; n <= maxTunnels; n++ {
			out = append(out, fmt.Sprintf(p, n))
		}
	}
	return out
}

// tunnel is connection n over the direct link, IPv4 inside and outside, as our
// side is configured.
func (p *pair) tunnel(name string, n int, s suite) connection {
	return connection{
		name:     name,
		local:    fmt.Sprintf("10.50.0.%d", n),
		remote:   fmt.Sprintf("10.50.1.%d", n),
		localID:  name + ".us.example",
		remoteID: name + ".them.example",
		ike:      s.ike,
		esp:      s.esp,
		localTS:  "0.0.0.0/0",
		remoteTS: "0.0.0.0/0",
		ifID:     n,
		psk:      "psk of " + name,
	}
}

// usInterface is the xfrm interface of tunnel n on our side.
func (p *pair) usInterface(n int) tunnelInterface {
	return tunnelInterface{fmt.Sprintf("x%d", n), n, []string{p.usInner(n) + "/30"}, 1380}
}

// themInterface is that of the peer.
func (p *pair) themInterface(n int) tunnelInterface {
	return tunnelInterface{fmt.Sprintf("x%d", n), n, []string{p.themInner(n) + "/30"}, 1380}
}

func (p *pair) usInner(n int) string   { return fmt.Sprintf("172.20.%d.1", n) }
func (p *pair) themInner(n int) string { return fmt.Sprintf("172.20.%d.2", n) }
