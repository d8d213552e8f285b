package lookup

import (
	"fmt"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/routing/routingtest"
)

// TestAddresses: of these links and addresses, charon 5.9.8 was seen to list the same ones, in the same order.
func TestAddresses(t *testing.T) {
	routingtest.Namespace(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pair := range [][2]string{{"vea", "veb"}, {"down", "downpeer"}} {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = pair[0]
		must(netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: pair[1]}))
	}
	for _, name := range []string{"lo", "vea", "veb"} {
		l, err := netlink.LinkByName(name)
		must(err)
		must(netlink.LinkSetUp(l))
	}
	for _, a := range []struct {
		link, addr string
		old        bool // not to be used for anything new
	}{
		{"lo", "10.99.0.1/32", false}, {"veb", "198.51.100.1/24", false}, {"down", "203.0.113.2/24", false},
		{"vea", "192.0.2.1/24", false}, {"vea", "169.254.5.5/24", false}, {"vea", "192.0.2.2/24", false},
		{"vea", "2001:db8::1/64", false}, {"vea", "fe80::1/64", false}, {"vea", "2001:db8::2/64", true},
	} {
		l, err := netlink.LinkByName(a.link)
		must(err)
		addr, err := netlink.ParseAddr(a.addr)
		must(err)
		addr.Flags = unix.IFA_F_NODAD
		if a.old {
			addr.ValidLft = 3600
		}
		must(netlink.AddrAdd(l, addr))
	}
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "[198.51.100.1 192.0.2.1 169.254.5.5 192.0.2.2 2001:db8::1]"},
		{Filter{Ignore: []string{"veb"}}, "[192.0.2.1 169.254.5.5 192.0.2.2 2001:db8::1]"},
		{Filter{Use: []string{"veb", "lo"}}, "[198.51.100.1]"},
	} {
		got, err := c.filter.Addresses()
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v, %v; want %s", c.filter, got, err, c.want)
		}
	}
}
