package routing_test

import (
	"net"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/ipsecd/ipsecd/routing"
)

// TestLegDownMovesSockets asserts that a connected socket, which caches its
// route, leaves a lost leg although the link stays up.
func TestLegDownMovesSockets(t *testing.T) {
	newNamespace(t, links)
	for i := 1; i <= 2; i++ {
		address(t, leg(i), 24)
		address(t, leg6(i), 64)
	}
	m := start(t, dial(t), routing.Config{})
	set(t, m, "10.9.0.0/16", leg(1), leg(2))
	set(t, m, "2001:db8:1::/48", leg6(1), leg6(2))
	apply(t, m)
	for dst, legs := range map[string][]routing.Leg{
		"10.9.0.1:9":        {leg(1), leg(2)},
		"[2001:db8:1::1]:9": {leg6(1), leg6(2)},
	} {
		conn, err := net.Dial("udp", dst)
		if err != nil {
			t.Fatal(err)
		}
		used := legs[0]
		if sent(t, conn, used) == 0 {
			used = legs[1]
		}
		if n := sent(t, conn, used); n != burst {
			t.Fatalf("%s: %d of %d packets use one leg; the test needs a stable choice", dst, n, burst)
		}
		if _, err := m.LegDown(used.Nexthop); err != nil {
			t.Fatal(err)
		}
		if n := sent(t, conn, used); n != 0 {
			t.Errorf("%s: %d of %d packets still use the lost leg", dst, n, burst)
		}
		_ = conn.Close()
	}
}

const burst = 50

// sent writes a burst and returns how many packets went over l.
func sent(t *testing.T, conn net.Conn, l routing.Leg) uint64 {
	t.Helper()
	before := linkNamed(t, l.Interface).Attrs().Statistics.TxPackets
	for range burst {
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	return linkNamed(t, l.Interface).Attrs().Statistics.TxPackets - before
}

// address gives the leg's link an address beside the gateway's, and the gateway
// a link-layer address.
func address(t *testing.T, l routing.Leg, bits int) {
	t.Helper()
	link := linkNamed(t, l.Interface)
	own := net.IPNet{IP: l.Gateway.Prev().AsSlice(), Mask: net.CIDRMask(bits, l.Gateway.BitLen())}
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: &own}); err != nil {
		t.Fatal(err)
	}
	if err := netlink.NeighAdd(&netlink.Neigh{
		LinkIndex:    link.Attrs().Index,
		State:        netlink.NUD_PERMANENT,
		IP:           l.Gateway.AsSlice(),
		HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 1},
	}); err != nil {
		t.Fatal(err)
	}
}
