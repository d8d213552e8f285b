package vaddr

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/routing/routingtest"
)

// TestLinux has addresses of both families on a link of a network namespace, found by a second run. It needs root.
func TestLinux(t *testing.T) {
	routingtest.Namespace(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "up"
	must(netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "peer"}))
	link, err := netlink.LinkByName("up")
	must(err)
	must(netlink.LinkSetUp(link))
	outer, err := netlink.ParseAddr("192.0.2.1/24")
	must(err)
	must(netlink.AddrAdd(link, outer))

	local := netip.MustParseAddr("192.0.2.1")
	both := []Want{{netip.MustParseAddr("10.3.0.1"), local}, {netip.MustParseAddr("fd03::1"), local}}
	must(New(Linux(), "").Set(both))
	must(New(Linux(), "up").Set(both)) // a second run, which finds them by their number or has them already
	list, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	must(err)
	var found []netip.Addr
	for _, a := range list {
		addr, _ := netip.AddrFromSlice(a.IP)
		ones, bits := a.Mask.Size()
		if ones == bits && a.Flags&unix.IFA_F_DEPRECATED != 0 && a.Flags&unix.IFA_F_TENTATIVE == 0 {
			found = append(found, addr.Unmap())
		}
	}
	if want := []netip.Addr{both[0].Addr, both[1].Addr}; !slices.Equal(found, want) {
		t.Fatalf("the link has the single deprecated addresses %v, expected %v", found, want)
	}
	ours, err := Linux().Ours()
	must(err)
	if len(ours) != 2 {
		t.Fatalf("found by the protocol number: %v", ours)
	}
	must(New(Linux(), "").Set(nil)) // a third run that wants none
	if ours, _ := Linux().Ours(); len(ours) > 0 {
		t.Errorf("left: %v", ours)
	}
	list, err = netlink.AddrList(link, netlink.FAMILY_V4)
	must(err)
	if len(list) != 1 {
		t.Errorf("what is not ours: %v", list)
	}
}
