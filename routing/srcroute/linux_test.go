package srcroute

import (
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/ipsecd/ipsecd/routing/lookup"
	"github.com/ipsecd/ipsecd/routing/routingtest"
)

// namespace moves the test's thread into a network namespace in which the link up
// has 192.0.2.1/24, and 10.1.0.1/32 is on lo. It needs root.
func namespace(t *testing.T) {
	t.Helper()
	routingtest.Namespace(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	lo, err := netlink.LinkByName("lo")
	must(err)
	must(netlink.LinkSetUp(lo))
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "up"
	must(netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "peer"}))
	for _, name := range []string{"up", "peer"} {
		l, err := netlink.LinkByName(name)
		must(err)
		must(netlink.LinkSetUp(l))
	}
	up, err := netlink.LinkByName("up")
	must(err)
	for text, link := range map[string]netlink.Link{"192.0.2.1/24": up, "10.1.0.1/32": lo} {
		a, err := netlink.ParseAddr(text)
		must(err)
		must(netlink.AddrAdd(link, a))
	}
}

// The kernel uses the source address of the route, and the way to the peer does not
// change although the tunnel covers it.
func TestLinux(t *testing.T) {
	namespace(t)
	m := New(Linux(DefaultTable, DefaultPriority, lookup.Filter{}))
	tunnels := []Tunnel{
		tunnel("10.1.0.0/16", "10.2.0.0/16", "192.0.2.1", "192.0.2.9"),
		tunnel("10.1.0.0/16", "0.0.0.0/0", "192.0.2.1", "192.0.2.8"),
	}
	source := func(dst string) string {
		routes, err := netlink.RouteGet(netip.MustParseAddr(dst).AsSlice())
		if err != nil {
			return err.Error()
		}
		return routes[0].Src.String()
	}
	for range 2 { // the second is one that another run began
		if err := m.Set(tunnels); err != nil {
			t.Fatal(err)
		}
		m = New(Linux(DefaultTable, DefaultPriority, lookup.Filter{}))
	}
	for dst, want := range map[string]string{"10.2.0.1": "10.1.0.1", "198.51.100.1": "10.1.0.1", "192.0.2.8": "192.0.2.1"} {
		if got := source(dst); got != want {
			t.Errorf("packets to %s come from %s, want %s", dst, got, want)
		}
	}
	if err := m.Set(tunnels[:1]); err != nil {
		t.Fatal(err)
	}
	list, err := Linux(DefaultTable, DefaultPriority, lookup.Filter{}).Routes()
	if err != nil || len(list) != 1 {
		t.Errorf("routes %v, %v", list, err)
	}
	if err := m.Clear(); err != nil {
		t.Fatal(err)
	}
	rules, err := netlink.RuleListFiltered(netlink.FAMILY_ALL, &netlink.Rule{Table: DefaultTable}, netlink.RT_FILTER_TABLE)
	if list, _ := Linux(DefaultTable, DefaultPriority, lookup.Filter{}).Routes(); err != nil || len(rules) > 0 || len(list) > 0 {
		t.Errorf("left: rules %v, routes %v, %v", rules, list, err)
	}
}
