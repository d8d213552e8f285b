package routing_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/routing"
)

// underlay returns a foreign route over t4.
func underlay(prefix string, metric uint32) routing.RouteEntry {
	r := routing.RouteEntry{RouteID: id(prefix), Protocol: 4}
	r.Table, r.Metric = routing.DefaultTable, metric
	r.Hops = []routing.Hop{{Index: 4, Gateway: nexthop(4).Gateway, Weight: 1}}
	return r
}

// A default route learned over a tunnel must not carry the tunnel's own
// packets; it comes and goes with the underlay route that keeps them out.
func TestRecursionRefused(t *testing.T) {
	w := newFakeWorld()
	w.foreign(t, routing.Op{Verb: routing.AddRoute, Route: underlay("0.0.0.0/0", 100)})
	m := start(t, w.kernel(), routing.Config{})
	if err := m.SetPolicy(routing.Policy{
		OuterEndpoints: []netip.Addr{netip.MustParseAddr("192.0.2.1")},
		Tunnels:        []string{"t1", "t2"},
	}); err != nil {
		t.Fatal(err)
	}
	var refused *routing.RefusedError
	if err := m.Set(route("0.0.0.0/0", leg(1), leg(2))); !errors.As(err, &refused) || len(refused.Legs) != 2 {
		t.Fatalf("Set of a recursive default route: %v", err)
	}
	set(t, m, "192.0.2.0/24", leg(3))    // not a tunnel
	set(t, m, "198.51.100.0/24", leg(1)) // no endpoint inside
	apply(t, m)
	without := []string{
		"nexthop id 186000001 via 10.0.3.2 dev t3",
		"nexthop id 186000002 via 10.0.1.2 dev t1",
		"route 0.0.0.0/0 via 10.0.4.2 dev t4 proto static metric 100",
		"route 192.0.2.0/24 nhid 186000001 metric 20",
		"route 198.51.100.0/24 nhid 186000002 metric 20",
	}
	expect(t, w, m, without...)

	host := underlay("192.0.2.1/32", 0)
	w.foreign(t, routing.Op{Verb: routing.AddRoute, Route: host})
	expect(t, w, m,
		"nexthop id 186000001 via 10.0.3.2 dev t3",
		"nexthop id 186000002 via 10.0.1.2 dev t1",
		"nexthop id 186000003 via 10.0.2.2 dev t2",
		"nexthop id 186500001 group 186000002/186000003",
		"route 0.0.0.0/0 nhid 186500001 metric 20",
		"route 0.0.0.0/0 via 10.0.4.2 dev t4 proto static metric 100",
		"route 192.0.2.0/24 nhid 186000001 metric 20",
		"route 192.0.2.1/32 via 10.0.4.2 dev t4 proto static metric 0",
		"route 198.51.100.0/24 nhid 186000002 metric 20",
	)
	w.foreign(t, routing.Op{Verb: routing.DeleteRoute, Route: host})
	expect(t, w, m, without...)

	// Linux removes the underlay route without a word when its link fails.
	w.foreign(t, routing.Op{Verb: routing.AddRoute, Route: host})
	w.setLink(t, "t4", false)
	expect(t, w, m,
		"nexthop id 186000001 via 10.0.3.2 dev t3",
		"nexthop id 186000002 via 10.0.1.2 dev t1",
		"route 192.0.2.0/24 nhid 186000001 metric 20",
		"route 198.51.100.0/24 nhid 186000002 metric 20",
	)
	if st, _ := m.Route(id("0.0.0.0/0")); st.Installed || !errors.As(st.Err, &refused) {
		t.Errorf("status %+v", st)
	}
}

// A better metric of the underlay for the same prefix also keeps ESP out.
func TestUnderlayWithBetterMetric(t *testing.T) {
	w := newFakeWorld()
	w.foreign(t, routing.Op{Verb: routing.AddRoute, Route: underlay("0.0.0.0/0", 0)})
	m := start(t, w.kernel(), routing.Config{})
	if err := m.SetPolicy(routing.Policy{OuterEndpoints: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}); err != nil {
		t.Fatal(err)
	}
	set(t, m, "0.0.0.0/0", leg(1))
}

// A protected prefix, or a part of it, learned over a plain link must not be
// used, whoever announces it.
func TestProtectedPrefixStaysOnTunnels(t *testing.T) {
	w := newFakeWorld()
	m := start(t, w.kernel(), routing.Config{})
	if err := m.SetPolicy(routing.Policy{
		Guards:  []routing.Guard{{RouteID: id("10.2.0.0/16")}},
		Tunnels: []string{"t1", "t2"},
	}); err != nil {
		t.Fatal(err)
	}
	set(t, m, "10.2.0.0/16", leg(1), leg(3))
	var refused *routing.RefusedError
	if err := m.Set(route("10.2.8.0/24", leg(3))); !errors.As(err, &refused) {
		t.Errorf("Set of a protected prefix over a plain link: %v", err)
	}
	set(t, m, "10.0.0.0/8", leg(3)) // the guard is more specific
	apply(t, m)
	expect(t, w, m,
		"nexthop id 186000001 via 10.0.1.2 dev t1",
		"nexthop id 186000002 via 10.0.3.2 dev t3",
		"route 10.0.0.0/8 nhid 186000002 metric 20",
		"route 10.2.0.0/16 nhid 186000001 metric 20",
		"route blackhole 10.2.0.0/16 metric 1000000",
	)
	// The policy is lifted: refused legs come into use, the guard goes.
	if err := m.SetPolicy(routing.Policy{}); err != nil {
		t.Fatal(err)
	}
	apply(t, m)
	expect(t, w, m,
		"nexthop id 186000001 via 10.0.1.2 dev t1",
		"nexthop id 186000002 via 10.0.3.2 dev t3",
		"nexthop id 186500001 group 186000001/186000002",
		"route 10.0.0.0/8 nhid 186000002 metric 20",
		"route 10.2.0.0/16 nhid 186500001 metric 20",
		"route 10.2.8.0/24 nhid 186000002 metric 20",
	)
}

func TestBadInput(t *testing.T) {
	m := start(t, newFakeWorld().kernel(), routing.Config{})
	v6 := leg6(1)
	v6.Gateway = netip.MustParseAddr("::ffff:10.0.1.2")
	guardMetric := route("10.2.0.0/16", leg(1))
	guardMetric.Metric = routing.DefaultGuardMetric
	for name, r := range map[string]routing.Route{
		"no prefix":                   {Legs: []routing.Leg{leg(1)}},
		"no legs":                     route("10.2.0.0/16"),
		"no gateway":                  route("10.2.0.0/16", routing.Leg{Nexthop: routing.Nexthop{Interface: "t1"}}),
		"no interface":                route("10.2.0.0/16", routing.Leg{Nexthop: routing.Nexthop{Gateway: leg(1).Gateway}}),
		"a leg twice":                 route("10.2.0.0/16", leg(1), leg(1)),
		"IPv6 prefix, IPv4 gateway":   route("2001:db8::/32", leg(1)),
		"IPv6 prefix, mapped gateway": route("2001:db8::/32", v6),
		"the guard's metric":          guardMetric,
	} {
		if err := m.Set(r); err == nil {
			t.Errorf("Set accepts a route with %s", name)
		}
	}
	if len(m.Routes()) != 0 {
		t.Errorf("refused input left %v", m.Routes())
	}
	if _, err := routing.New(newFakeWorld().kernel(), routing.Config{Metric: 5, GuardMetric: 5}); err == nil {
		t.Error("New accepts a guard that is no worse than the routes")
	}
}
