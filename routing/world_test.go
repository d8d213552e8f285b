package routing_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/routing"
	"github.com/ipsecd/ipsecd/routing/routingtest"
)

// world is a kernel with links t1 … t4, and somebody else who changes it. The
// same scenarios run in the fake kernel and in a network namespace.
type world interface {
	kernel() routing.Kernel
	setLink(t *testing.T, name string, up bool)
	setCarrier(t *testing.T, name string, on bool)
	foreign(t *testing.T, op routing.Op)
}

const links = 4

// inWorlds runs a scenario in each world.
func inWorlds(t *testing.T, scenario func(*testing.T, world)) {
	t.Run("fake", func(t *testing.T) { scenario(t, newFakeWorld()) })
	t.Run("linux", func(t *testing.T) { scenario(t, newRealWorld(t)) })
}

type fakeWorld struct{ *routingtest.Kernel }

func newFakeWorld() fakeWorld {
	k := routingtest.New()
	for i := 1; i <= links; i++ {
		k.SetLink(routing.Link{Index: i, Name: fmt.Sprintf("t%d", i), Up: true})
	}
	k.Pending()
	return fakeWorld{k}
}

func (w fakeWorld) kernel() routing.Kernel { return w.Kernel }

func (w fakeWorld) setLink(t *testing.T, name string, up bool) {
	w.SetLink(routing.Link{Index: int(name[1] - '0'), Name: name, Up: up})
}

func (w fakeWorld) setCarrier(t *testing.T, name string, on bool) { w.setLink(t, name, on) }

func (w fakeWorld) foreign(t *testing.T, op routing.Op) {
	t.Helper()
	if err := w.Foreign(op); err != nil {
		t.Fatalf("foreign %s: %v", op, err)
	}
}

// start returns a started Manager.
func start(t *testing.T, k routing.Kernel, cfg routing.Config) *routing.Manager {
	t.Helper()
	m, err := routing.New(k, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	return m
}

// patience bounds the wait for a real kernel's events.
const patience = 5 * time.Second

// expect feeds events to m until the kernel holds the wanted lines.
func expect(t *testing.T, w world, m *routing.Manager, want ...string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		got, err := routingtest.Format(w.kernel())
		if err != nil {
			t.Fatal(err)
		}
		diff := cmp.Diff(want, strings.Split(got, "\n"))
		if diff == "" && len(w.kernel().Events()) == 0 {
			return
		}
		if f, ok := w.(fakeWorld); ok && len(f.Events()) == 0 {
			t.Fatalf("kernel state (-want +got):\n%s", diff)
		}
		select {
		case ev := <-w.kernel().Events():
			if _, err := m.HandleEvent(ev); err != nil {
				t.Fatalf("event %+v: %v", ev, err)
			}
		case <-deadline:
			t.Fatalf("kernel state after %v (-want +got):\n%s", patience, diff)
		}
	}
}

func apply(t *testing.T, m *routing.Manager) routing.Stats {
	t.Helper()
	stats, err := m.Apply()
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func set(t *testing.T, m *routing.Manager, prefix string, legs ...routing.Leg) {
	t.Helper()
	if err := m.Set(route(prefix, legs...)); err != nil {
		t.Fatal(err)
	}
}

func route(prefix string, legs ...routing.Leg) routing.Route {
	return routing.Route{RouteID: id(prefix), Legs: legs}
}

func id(prefix string) routing.RouteID {
	return routing.RouteID{Prefix: netip.MustParsePrefix(prefix)}
}

// leg returns the leg over t<i>, by 10.0.<i>.2 or fd00:<i>::2.
func leg(i int) routing.Leg { return routing.Leg{Nexthop: nexthop(i)} }

func leg6(i int) routing.Leg {
	l := leg(i)
	l.Gateway = netip.MustParseAddr(fmt.Sprintf("fd00:%d::2", i))
	return l
}

func nexthop(i int) routing.Nexthop {
	return routing.Nexthop{
		Interface: fmt.Sprintf("t%d", i),
		Gateway:   netip.AddrFrom4([4]byte{10, 0, byte(i), 2}),
	}
}

// static returns a route as an operator would type it, with our metric.
func static(prefix string) routing.RouteEntry {
	r := routing.RouteEntry{RouteID: id(prefix), Kind: routing.Blackhole, Protocol: 4}
	r.Table, r.Metric = routing.DefaultTable, routing.DefaultMetric
	return r
}
