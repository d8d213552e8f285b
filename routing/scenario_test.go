package routing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/routing"
)

// The objects of legs 1 to 3 in the order in which the scenarios name them.
const (
	object1 = "nexthop id 186000001 via 10.0.1.2 dev t1"
	object2 = "nexthop id 186000002 via 10.0.2.2 dev t2"
	object3 = "nexthop id 186000003 via 10.0.3.2 dev t3"
)

func TestPrefixesShareGroups(t *testing.T) {
	inWorlds(t, func(t *testing.T, w world) {
		m := start(t, w.kernel(), routing.Config{})
		heavy := leg(3)
		heavy.Weight = 5
		set(t, m, "10.2.0.0/16", leg(2), leg(1))
		set(t, m, "10.3.0.0/16", leg(1), leg(2))
		set(t, m, "10.4.0.0/16", leg(2))
		set(t, m, "10.5.0.0/16", leg(1), heavy)
		set(t, m, "2001:db8:1::/48", leg6(1), leg6(2))
		apply(t, m)
		expect(t, w, m,
			"nexthop id 186000001 via 10.0.1.2 dev t1",
			"nexthop id 186000002 via 10.0.2.2 dev t2",
			"nexthop id 186000003 via 10.0.3.2 dev t3",
			"nexthop id 186000004 via fd00:1::2 dev t1",
			"nexthop id 186000005 via fd00:2::2 dev t2",
			"nexthop id 186500001 group 186000001/186000002",
			"nexthop id 186500002 group 186000001/186000003,5",
			"nexthop id 186500003 group 186000004/186000005",
			"route 10.2.0.0/16 nhid 186500001 metric 20",
			"route 10.3.0.0/16 nhid 186500001 metric 20",
			"route 10.4.0.0/16 nhid 186000002 metric 20",
			"route 10.5.0.0/16 nhid 186500002 metric 20",
			"route 2001:db8:1::/48 nhid 186500003 metric 20",
		)
		// Withdrawing the last user of an object removes the object.
		m.Withdraw(id("10.5.0.0/16"))
		m.Withdraw(id("2001:db8:1::/48"))
		set(t, m, "10.3.0.0/16", leg(2))
		apply(t, m)
		expect(t, w, m, object1, object2,
			"nexthop id 186500001 group 186000001/186000002",
			"route 10.2.0.0/16 nhid 186500001 metric 20",
			"route 10.3.0.0/16 nhid 186000002 metric 20",
			"route 10.4.0.0/16 nhid 186000002 metric 20",
		)
	})
}

func TestLinkLoss(t *testing.T) {
	for _, kind := range []string{"admin down", "carrier"} {
		t.Run(kind, func(t *testing.T) {
			inWorlds(t, func(t *testing.T, w world) {
				change := w.setLink
				if kind == "carrier" {
					change = w.setCarrier
				}
				m := start(t, w.kernel(), routing.Config{})
				guard := routing.Guard{RouteID: id("10.2.0.0/16")}
				if err := m.SetPolicy(routing.Policy{Guards: []routing.Guard{guard}}); err != nil {
					t.Fatal(err)
				}
				set(t, m, "10.2.0.0/16", leg(1), leg(2), leg(3))
				set(t, m, "10.2.7.0/24", leg(1))
				apply(t, m)
				full := []string{object1, object2, object3,
					"nexthop id 186500001 group 186000001/186000002/186000003",
					"route 10.2.0.0/16 nhid 186500001 metric 20",
					"route 10.2.7.0/24 nhid 186000001 metric 20",
					"route blackhole 10.2.0.0/16 metric 1000000",
				}
				expect(t, w, m, full...)

				change(t, "t1", false)
				expect(t, w, m, object2, object3,
					"nexthop id 186500001 group 186000002/186000003",
					"route 10.2.0.0/16 nhid 186500001 metric 20",
					"route blackhole 10.2.0.0/16 metric 1000000",
				)
				change(t, "t2", false)
				change(t, "t3", false)
				expect(t, w, m, "route blackhole 10.2.0.0/16 metric 1000000")
				change(t, "t2", true)
				expect(t, w, m, object2,
					"nexthop id 186500001 group 186000002",
					"route 10.2.0.0/16 nhid 186500001 metric 20",
					"route blackhole 10.2.0.0/16 metric 1000000",
				)
				change(t, "t3", true)
				change(t, "t1", true)
				expect(t, w, m, full...)
			})
		})
	}
}

func TestLegDown(t *testing.T) {
	inWorlds(t, func(t *testing.T, w world) {
		m := start(t, w.kernel(), routing.Config{})
		set(t, m, "10.2.0.0/16", leg(1), leg(2), leg(3))
		set(t, m, "10.3.0.0/16", leg(1))
		apply(t, m)
		stats, err := m.LegDown(nexthop(1))
		if err != nil || stats.GroupUpdates != 1 || stats.Switched == 0 || stats.Resyncs != 0 {
			t.Errorf("LegDown: %+v, %v; want one group update", stats, err)
		}
		expect(t, w, m, object2, object3,
			"nexthop id 186500001 group 186000002/186000003",
			"route 10.2.0.0/16 nhid 186500001 metric 20",
		)
		set(t, m, "10.4.0.0/16", leg(1)) // still held down
		apply(t, m)
		stats, err = m.LegUp(nexthop(1))
		if err != nil || stats.RoutesAdded != 2 {
			t.Errorf("LegUp: %+v, %v; want two routes back", stats, err)
		}
		expect(t, w, m, object1, object2, object3,
			"nexthop id 186500001 group 186000001/186000002/186000003",
			"route 10.2.0.0/16 nhid 186500001 metric 20",
			"route 10.3.0.0/16 nhid 186000001 metric 20",
			"route 10.4.0.0/16 nhid 186000001 metric 20",
		)
		// Down to the last leg and up again: the kernel does what the mirror
		// expects, nothing has to be read back.
		for i := 1; i <= 3; i++ {
			smooth(t)(m.LegDown(nexthop(i)))
		}
		expect(t, w, m, "")
		for i := 3; i >= 1; i-- {
			smooth(t)(m.LegUp(nexthop(i)))
		}
		expect(t, w, m, object1, object2, object3,
			"nexthop id 186500001 group 186000001/186000002/186000003",
			"route 10.2.0.0/16 nhid 186500001 metric 20",
			"route 10.3.0.0/16 nhid 186000001 metric 20",
			"route 10.4.0.0/16 nhid 186000001 metric 20",
		)
	})
}

// The kernel knows that a link is down before its event has been handled.
func TestLegUpOnDownLink(t *testing.T) {
	inWorlds(t, func(t *testing.T, w world) {
		m := start(t, w.kernel(), routing.Config{})
		set(t, m, "10.2.0.0/16", leg(1), leg(2))
		apply(t, m)
		must(t)(m.LegDown(nexthop(1)))
		w.setLink(t, "t1", false)
		smooth(t)(m.LegUp(nexthop(1)))
		expect(t, w, m, object2,
			"nexthop id 186500001 group 186000002",
			"route 10.2.0.0/16 nhid 186500001 metric 20",
		)
		w.setLink(t, "t1", true)
		expect(t, w, m, object1, object2,
			"nexthop id 186500001 group 186000001/186000002",
			"route 10.2.0.0/16 nhid 186500001 metric 20",
		)
	})
}

// A link that went down and up again may announce only that it is up.
func TestUnseenFlap(t *testing.T) {
	w := newFakeWorld()
	m := start(t, w.kernel(), routing.Config{})
	set(t, m, "10.2.0.0/16", leg(1), leg(2))
	set(t, m, "10.3.0.0/16", leg(1))
	apply(t, m)
	want := strings.Split(w.String(), "\n")
	w.setLink(t, "t1", false)
	w.Pending()
	w.setLink(t, "t1", true)
	expect(t, w, m, want...)
}

// An interface may be created anew, with another index.
func TestInterfaceRecreated(t *testing.T) {
	w := newFakeWorld()
	m := start(t, w.kernel(), routing.Config{})
	set(t, m, "10.2.0.0/16", leg(1), leg(2))
	apply(t, m)
	want := strings.Split(w.String(), "\n")
	w.RemoveLink(1)
	w.SetLink(routing.Link{Index: 77, Name: "t1", Up: true})
	expect(t, w, m, want...)
}

func TestForeignRouteStays(t *testing.T) {
	for _, when := range []string{"before start", "unannounced"} {
		t.Run(when, func(t *testing.T) {
			inWorlds(t, func(t *testing.T, w world) {
				add := routing.Op{Verb: routing.AddRoute, Route: static("10.2.0.0/16")}
				if when == "before start" {
					w.foreign(t, add)
				}
				m := start(t, w.kernel(), routing.Config{})
				if when == "unannounced" {
					w.foreign(t, add) // its event has not been handled yet
				}
				set(t, m, "10.2.0.0/16", leg(1))
				set(t, m, "10.3.0.0/16", leg(1))
				_, err := m.Apply()
				var foreign *routing.ForeignRouteError
				if !errors.As(err, &foreign) || foreign.Prefix != id("10.2.0.0/16").Prefix || foreign.Protocol != 4 {
					t.Fatalf("Apply: %v; want the foreign route named", err)
				}
				expect(t, w, m, object1,
					"route 10.3.0.0/16 nhid 186000001 metric 20",
					"route blackhole 10.2.0.0/16 proto static metric 20",
				)
				w.foreign(t, routing.Op{Verb: routing.DeleteRoute, Route: static("10.2.0.0/16")})
				expect(t, w, m, object1,
					"route 10.2.0.0/16 nhid 186000001 metric 20",
					"route 10.3.0.0/16 nhid 186000001 metric 20",
				)
				if st, _ := m.Route(id("10.2.0.0/16")); !st.Installed || st.Err != nil {
					t.Errorf("status %+v", st)
				}
			})
		})
	}
}

func TestRepair(t *testing.T) {
	route2 := routing.RouteEntry{RouteID: id("10.2.0.0/16"), Protocol: routing.Protocol}
	route2.Table, route2.Metric = routing.DefaultTable, routing.DefaultMetric
	breakages := map[string]routing.Op{
		"leg deleted":   {Verb: routing.DeleteNexthop, Nexthop: routing.NexthopObject{ID: 186000001}},
		"group deleted": {Verb: routing.DeleteNexthop, Nexthop: routing.NexthopObject{ID: 186500001}},
		"route deleted": {Verb: routing.DeleteRoute, Route: route2},
		"group changed": {Verb: routing.ReplaceNexthop, Nexthop: routing.NexthopObject{
			ID: 186500001, Protocol: routing.Protocol, Group: []routing.GroupEntry{{ID: 186000002, Weight: 1}}}},
	}
	for name, op := range breakages {
		t.Run(name, func(t *testing.T) {
			inWorlds(t, func(t *testing.T, w world) {
				m := start(t, w.kernel(), routing.Config{})
				set(t, m, "10.2.0.0/16", leg(1), leg(2))
				set(t, m, "10.3.0.0/16", leg(1))
				apply(t, m)
				want := []string{object1, object2,
					"nexthop id 186500001 group 186000001/186000002",
					"route 10.2.0.0/16 nhid 186500001 metric 20",
					"route 10.3.0.0/16 nhid 186000001 metric 20",
				}
				expect(t, w, m, want...)
				w.foreign(t, op)
				expect(t, w, m, want...)
			})
		})
	}
}

func TestRestart(t *testing.T) {
	inWorlds(t, func(t *testing.T, w world) {
		w.foreign(t, routing.Op{Verb: routing.AddRoute, Route: static("10.9.0.0/16")})
		policy := routing.Policy{Guards: []routing.Guard{
			{RouteID: id("10.2.0.0/16")}, {RouteID: id("2001:db8::/32"), Unreachable: true}}}
		m := start(t, w.kernel(), routing.Config{})
		if err := m.SetPolicy(policy); err != nil {
			t.Fatal(err)
		}
		set(t, m, "10.2.0.0/16", leg(1), leg(2))
		set(t, m, "10.3.0.0/16", leg(2), leg(3))
		set(t, m, "10.4.0.0/16", leg(4))
		apply(t, m)

		m = start(t, w.kernel(), routing.Config{})
		if err := m.SetPolicy(policy); err != nil {
			t.Fatal(err)
		}
		set(t, m, "10.2.0.0/16", leg(1), leg(2))
		if stats := apply(t, m); stats.RoutesAdded+stats.RoutesChanged+stats.RoutesDeleted+stats.GroupUpdates+stats.LegUpdates != 0 {
			t.Errorf("taking over wrote %+v", stats)
		}
		expect(t, w, m,
			object1, object2, object3,
			"nexthop id 186000004 via 10.0.4.2 dev t4",
			"nexthop id 186500001 group 186000001/186000002",
			"nexthop id 186500002 group 186000002/186000003",
			"route 10.2.0.0/16 nhid 186500001 metric 20",
			"route 10.3.0.0/16 nhid 186500002 metric 20",
			"route 10.4.0.0/16 nhid 186000004 metric 20",
			"route blackhole 10.2.0.0/16 metric 1000000",
			"route blackhole 10.9.0.0/16 proto static metric 20",
			"route unreachable 2001:db8::/32 metric 1000000",
		)
		if _, err := m.SweepStale(); err != nil {
			t.Fatal(err)
		}
		expect(t, w, m,
			object1, object2,
			"nexthop id 186500001 group 186000001/186000002",
			"route 10.2.0.0/16 nhid 186500001 metric 20",
			"route blackhole 10.2.0.0/16 metric 1000000",
			"route blackhole 10.9.0.0/16 proto static metric 20",
			"route unreachable 2001:db8::/32 metric 1000000",
		)
	})
}

func TestPlainRoutes(t *testing.T) {
	inWorlds(t, func(t *testing.T, w world) {
		m := start(t, w.kernel(), routing.Config{PlainRoutes: true})
		heavy := leg(2)
		heavy.Weight = 3
		set(t, m, "10.2.0.0/16", leg(1), heavy)
		set(t, m, "10.3.0.0/16", leg(1))
		set(t, m, "10.4.0.0/16", leg6(3)) // RFC 8950
		set(t, m, "2001:db8:1::/48", leg6(1), leg6(2))
		apply(t, m)
		full := []string{
			"route 10.2.0.0/16 via 10.0.1.2 dev t1 via 10.0.2.2 dev t2 weight 3 metric 20",
			"route 10.3.0.0/16 via 10.0.1.2 dev t1 metric 20",
			"route 10.4.0.0/16 via fd00:3::2 dev t3 metric 20",
			"route 2001:db8:1::/48 via fd00:1::2 dev t1 via fd00:2::2 dev t2 metric 20",
		}
		expect(t, w, m, full...)
		w.setLink(t, "t1", false)
		expect(t, w, m,
			"route 10.2.0.0/16 via 10.0.2.2 dev t2 metric 20",
			"route 10.4.0.0/16 via fd00:3::2 dev t3 metric 20",
			"route 2001:db8:1::/48 via fd00:2::2 dev t2 metric 20",
		)
		w.setLink(t, "t1", true)
		expect(t, w, m, full...)
		if stats := apply(t, start(t, w.kernel(), routing.Config{PlainRoutes: true})); stats.RoutesDeleted != 0 {
			t.Errorf("a restart removed %d routes before the sweep", stats.RoutesDeleted)
		}
	})
}
