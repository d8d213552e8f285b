package routing_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/ipsecd/ipsecd/routing"

	"github.com/ipsecd/ipsecd/routing/routingtest"
)

// realWorld is a network namespace with veth pairs t1/p1 … t4/p4.
type realWorld struct {
	k, other routing.Kernel
}

// newNamespace moves the test's thread into a network namespace of its own
// until the test ends. It needs root.
func newNamespace(t testing.TB, pairs int) {
	t.Helper()
	routingtest.Namespace(t)
	for _, s := range routing.CheckSysctls("/proc/sys", true) {
		if !s.OK() {
			t.Fatalf("sysctl %+v", s)
		}
	}
	// Without duplicate address detection, IPv6 is usable at once.
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/default/accept_dad", []byte("0"), 0); err != nil {
		t.Fatal(err)
	}
	// An empty local table makes every IPv4 gateway invalid.
	if err := netlink.LinkSetUp(linkNamed(t, "lo")); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= pairs; i++ {
		addPair(t, i)
	}
}

func addPair(t testing.TB, i int) {
	t.Helper()
	name, peer := fmt.Sprintf("t%d", i), fmt.Sprintf("p%d", i)
	veth := netlink.NewVeth(netlink.LinkAttrs{Name: name})
	veth.PeerName = peer
	if err := netlink.LinkAdd(veth); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{peer, name} {
		if err := netlink.LinkSetUp(linkNamed(t, n)); err != nil {
			t.Fatal(err)
		}
	}
}

func linkNamed(t testing.TB, name string) netlink.Link {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dial(t testing.TB) routing.Kernel {
	t.Helper()
	k, err := routing.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	return k
}

func newRealWorld(t *testing.T) *realWorld {
	newNamespace(t, links)
	return &realWorld{k: dial(t), other: dial(t)}
}

func (w *realWorld) kernel() routing.Kernel { return w.k }

func (w *realWorld) setLink(t *testing.T, name string, up bool) {
	t.Helper()
	change := netlink.LinkSetDown
	if up {
		change = netlink.LinkSetUp
	}
	if err := change(linkNamed(t, name)); err != nil {
		t.Fatal(err)
	}
}

func (w *realWorld) setCarrier(t *testing.T, name string, on bool) {
	t.Helper()
	w.setLink(t, "p"+name[1:], on)
}

func (w *realWorld) foreign(t *testing.T, op routing.Op) {
	t.Helper()
	if errs := w.other.Apply([]routing.Op{op}); errs != nil {
		t.Fatalf("foreign %s: %v", op, errs[0])
	}
}
