package lookup

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/ipsecd/ipsecd/routing/routingtest"
)

// namespace moves the test's thread into a network namespace with two uplinks, a and b, of which a is preferred; packets to
// 203.0.113.0/24 go over a by a table of their own, and those from b's address over b by another.
func namespace(t *testing.T) {
	t.Helper()
	routingtest.Namespace(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	network := func(s string) *net.IPNet {
		_, n, err := net.ParseCIDR(s)
		must(err)
		return n
	}
	links := map[string]int{}
	for i, name := range []string{"a", "b"} {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = name
		must(netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: name + "peer"}))
		for _, n := range []string{name, name + "peer"} {
			l, err := netlink.LinkByName(n)
			must(err)
			must(netlink.LinkSetUp(l))
			links[n] = l.Attrs().Index
		}
		l, err := netlink.LinkByName(name)
		must(err)
		for _, text := range []string{fmt.Sprintf("10.9.%d.7/32", i), fmt.Sprintf("192.0.%d.1/24", i)} {
			a, err := netlink.ParseAddr(text)
			must(err)
			must(netlink.AddrAdd(l, a))
		}
		must(netlink.RouteAdd(&netlink.Route{Dst: network("0.0.0.0/0"), LinkIndex: links[name], Gw: net.IPv4(192, 0, byte(i), 254), Priority: 10 + i}))
	}
	must(netlink.RouteAdd(&netlink.Route{Dst: network("203.0.113.0/24"), LinkIndex: links["a"], Gw: net.IPv4(192, 0, 0, 253), Table: 100}))
	must(netlink.RouteAdd(&netlink.Route{Dst: network("0.0.0.0/0"), LinkIndex: links["b"], Gw: net.IPv4(192, 0, 1, 253), Table: 101}))
	rule := netlink.NewRule()
	rule.Table, rule.Priority, rule.Family = 100, 1000, netlink.FAMILY_V4
	must(netlink.RuleAdd(rule))
	rule = netlink.NewRule()
	rule.Table, rule.Priority, rule.Family, rule.Src = 101, 1001, netlink.FAMILY_V4, network("192.0.1.1/32")
	must(netlink.RuleAdd(rule))
}

// The way is the kernel's, unless that does not count: then it is the best of the others.
func TestFind(t *testing.T) {
	namespace(t)
	for _, c := range []struct {
		name   string
		filter Filter
		dst    string
		src    string
		want   string // link, gateway, source
	}{
		{"the kernel's", Filter{}, "198.51.100.1", "", "a 192.0.0.254 192.0.0.1"},
		{"the kernel's, by a rule", Filter{}, "203.0.113.1", "", "a 192.0.0.253 192.0.0.1"},
		{"all counts but what is not in the way", Filter{Ignore: []string{"b"}, Tables: []uint32{101}}, "198.51.100.1", "", "a 192.0.0.254 192.0.0.1"},
		{"not over a", Filter{Ignore: []string{"a"}}, "198.51.100.1", "", "b 192.0.1.254 192.0.1.1"},
		{"only over b", Filter{Use: []string{"b"}, Ignore: []string{"b"}}, "198.51.100.1", "", "b 192.0.1.254 192.0.1.1"},
		{"a neighbour", Filter{Ignore: []string{"a"}}, "192.0.1.9", "", "b invalid IP 192.0.1.1"},
		{"not by table 100", Filter{Tables: []uint32{100}}, "203.0.113.1", "", "a 192.0.0.254 192.0.0.1"},
		{"from b by its rule", Filter{Ignore: []string{"a"}}, "198.51.100.1", "192.0.1.1", "b 192.0.1.253 192.0.1.1"},
		{"from b without its rule", Filter{Tables: []uint32{101}, Ignore: []string{"a"}}, "198.51.100.1", "192.0.1.1", "b 192.0.1.254 192.0.1.1"},
		{"none is left", Filter{Ignore: []string{"a", "b"}}, "198.51.100.1", "", "no route"},
		{"no table is left", Filter{Tables: []uint32{254}}, "198.51.100.1", "", "no route"},
		{"there is none", Filter{}, "2001:db8::1", "", "no route"},
	} {
		var src netip.Addr
		if c.src != "" {
			src = netip.MustParseAddr(c.src)
		}
		p, err := c.filter.Find(netip.MustParseAddr(c.dst), src)
		got := "no route"
		if err == nil {
			l, err := netlink.LinkByIndex(p.Link)
			if err != nil {
				t.Fatal(err)
			}
			got = fmt.Sprint(l.Attrs().Name, " ", p.Gateway, " ", p.Source)
		}
		if got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.name, got, err, c.want)
		}
	}
}
