package router

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/routing"
)

// TestKernelResolver asks the kernel that runs the test, which at least knows
// its own addresses.
func TestKernelResolver(t *testing.T) {
	if hop, err := kernelResolver(netip.MustParseAddr("127.0.0.9")); !errors.Is(err, errOwnAddress) {
		t.Errorf("a gateway on the loopback: %v, %v", hop, err)
	}
}

func TestGatewaysAskOnce(t *testing.T) {
	asked := 0
	g := newGateways(func(a netip.Addr) (routing.Nexthop, error) {
		asked++
		if a.Is6() {
			return routing.Nexthop{}, errTest
		}
		return routing.Nexthop{Interface: "eth0", Gateway: a}, nil
	})
	for range 3 {
		if hop, err := g.resolve(netip.MustParseAddr("192.0.2.1")); err != nil || hop.Interface != "eth0" {
			t.Errorf("%v, %v", hop, err)
		}
	}
	if asked != 1 || g.failed() {
		t.Errorf("asked %d times, failed: %v", asked, g.failed())
	}
	if _, err := g.resolve(netip.MustParseAddr("2001:db8::1")); err == nil || !g.failed() {
		t.Errorf("a failure was not remembered: %v", err)
	}
	if g.forget(); g.failed() {
		t.Error("a failure was remembered for ever")
	}
}
