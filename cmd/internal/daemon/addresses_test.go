package daemon

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/ipsecd/ipsecd/routing/lookup"
	"github.com/ipsecd/ipsecd/routing/routingtest"
)

// The addresses of an ignored interface are not ours, what comes to them is dropped, and no peer is reached over it. An address
// that another interface has too stays.
func TestIgnoredInterface(t *testing.T) {
	routingtest.Namespace(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, addrs := range map[string][]string{"a": {"192.0.2.1/24", "2001:db8::1/64", "10.9.9.9/32"}, "b": {"198.51.100.1/24", "10.9.9.9/32"}} {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = name
		must(netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: name + "peer"}))
		for _, n := range []string{name, name + "peer"} {
			l, err := netlink.LinkByName(n)
			must(err)
			must(netlink.LinkSetUp(l))
		}
		l, err := netlink.LinkByName(name)
		must(err)
		for _, text := range addrs {
			a, err := netlink.ParseAddr(text)
			must(err)
			a.Flags = 2 // IFA_F_NODAD
			must(netlink.AddrAdd(l, a))
		}
	}
	addr := netip.MustParseAddr
	for _, c := range []struct {
		name    string
		ways    lookup.Filter
		addrs   string
		ignored []netip.Addr
		routedA bool
		sourceA netip.Addr
	}{
		{"all", lookup.Filter{}, "[10.9.9.9 10.9.9.9 192.0.2.1 198.51.100.1 2001:db8::1]", nil, true, addr("192.0.2.1")},
		{"without a", lookup.Filter{Ignore: []string{"a"}}, "[10.9.9.9 198.51.100.1]", []netip.Addr{addr("192.0.2.1"), addr("2001:db8::1")}, false, netip.Addr{}},
		{"only b", lookup.Filter{Use: []string{"b"}}, "[10.9.9.9 198.51.100.1]", []netip.Addr{addr("192.0.2.1"), addr("2001:db8::1")}, false, netip.Addr{}},
	} {
		var h hostAddresses
		l, err := h.read(nil, c.ways)
		must(err)
		slices.SortFunc(l.addrs, netip.Addr.Compare)
		if got := fmt.Sprint(l.addrs); got != c.addrs {
			t.Errorf("%s: the addresses are %s, want %s", c.name, got, c.addrs)
		}
		for _, a := range []string{"192.0.2.1", "2001:db8::1", "198.51.100.1", "10.9.9.9", "203.0.113.1"} {
			if got, want := h.ignores(addr(a)), slices.Contains(c.ignored, addr(a)); got != want {
				t.Errorf("%s: packets to %s are dropped: %v", c.name, a, got)
			}
		}
		if got := h.routed(addr("192.0.2.1"), addr("192.0.2.9")); got != c.routedA {
			t.Errorf("%s: from 192.0.2.1 to a neighbour: %v", c.name, got)
		}
		if !h.routed(addr("198.51.100.1"), addr("198.51.100.9")) {
			t.Errorf("%s: no way over b", c.name)
		}
		if got := sourceAddress(addr("192.0.2.9"), nil, c.ways); got != c.sourceA {
			t.Errorf("%s: to a neighbour on a from %v", c.name, got)
		}
	}
}
