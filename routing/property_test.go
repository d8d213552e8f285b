package routing_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/routing"
	"github.com/ipsecd/ipsecd/routing/routingtest"
)

// meaning returns what the kernel's state does to packets, without object
// IDs, and how many objects it takes.
func meaning(t *testing.T, k *routingtest.Kernel) []string {
	t.Helper()
	links, _ := k.Links()
	objects, _ := k.Nexthops()
	routes, err := k.Routes()
	if err != nil {
		t.Fatal(err)
	}
	names := map[int]string{}
	for _, l := range links {
		names[l.Index] = l.Name
	}
	byID := map[uint32]routing.NexthopObject{}
	for _, o := range objects {
		byID[o.ID] = o
	}
	out := []string{fmt.Sprintf("%d objects", len(objects))}
	for _, r := range routes {
		var legs []string
		group := byID[r.NexthopID].Group
		if group == nil && r.NexthopID != 0 {
			group = []routing.GroupEntry{{ID: r.NexthopID, Weight: 1}}
		}
		for _, e := range group {
			l := byID[e.ID]
			legs = append(legs, fmt.Sprintf("%s@%s*%d", l.Gateway, names[l.Index], e.Weight))
		}
		for _, h := range r.Hops {
			legs = append(legs, fmt.Sprintf("%s@%s*%d", h.Gateway, names[h.Index], h.Weight))
		}
		slices.Sort(legs)
		out = append(out, fmt.Sprintf("%s kind %d proto %d: %s", r.RouteID, r.Kind, r.Protocol, strings.Join(legs, " ")))
	}
	slices.Sort(out)
	return out
}

// model is a random history, and what should come of it.
type model struct {
	r       *rand.Rand
	cfg     routing.Config
	k       *routingtest.Kernel
	m       *routing.Manager
	desired map[netip.Prefix]routing.Route
	held    map[routing.Nexthop]bool
	up      [links + 1]bool
}

func newModel(t *testing.T, seed uint64) *model {
	r := rand.New(rand.NewPCG(seed, 1))
	mo := &model{
		r:       r,
		cfg:     routing.Config{PlainRoutes: r.IntN(4) == 0},
		k:       newFakeWorld().Kernel,
		desired: map[netip.Prefix]routing.Route{},
		held:    map[routing.Nexthop]bool{},
	}
	for i := range mo.up {
		mo.up[i] = true
	}
	mo.restart(t)
	return mo
}

func (mo *model) restart(t *testing.T) {
	mo.k.Pending() // a new socket sees new events only
	mo.m = start(t, mo.k, mo.cfg)
	mo.program(t, mo.m)
}

// program puts the desired state into a new Manager.
func (mo *model) program(t *testing.T, m *routing.Manager) {
	for n := range mo.held {
		must(t)(m.LegDown(n))
	}
	for _, r := range mo.desired {
		if err := m.Set(r); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T) func(routing.Stats, error) {
	return func(_ routing.Stats, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// smooth also demands that nothing had to be read back.
func smooth(t *testing.T) func(routing.Stats, error) {
	return func(stats routing.Stats, err error) {
		t.Helper()
		if err != nil || stats.Resyncs != 0 {
			t.Fatalf("%+v, %v; want no resync", stats, err)
		}
	}
}

func (mo *model) step(t *testing.T) {
	n := 1 + mo.r.IntN(links)
	switch mo.r.IntN(12) {
	case 0, 1, 2:
		r := mo.route()
		mo.desired[r.Prefix] = r
		if err := mo.m.Set(r); err != nil {
			t.Fatal(err)
		}
	case 3:
		p := mo.prefix()
		delete(mo.desired, p)
		mo.m.Withdraw(routing.RouteID{Prefix: p})
	case 4:
		mo.held[nexthop(n)] = true
		must(t)(mo.m.LegDown(nexthop(n)))
	case 5:
		delete(mo.held, nexthop(n))
		must(t)(mo.m.LegUp(nexthop(n)))
	case 6, 7:
		mo.up[n] = !mo.up[n]
		mo.k.SetLink(routing.Link{Index: n, Name: fmt.Sprintf("t%d", n), Up: mo.up[n]})
	case 8:
		mo.k.Mute(mo.r.IntN(2) == 0)
	case 9:
		mo.breakOne()
	case 10:
		if mo.r.IntN(4) == 0 {
			mo.restart(t)
		}
	case 11:
		must(t)(mo.m.Apply())
	}
	if mo.r.IntN(2) == 0 {
		mo.handle(t)
	}
}

func (mo *model) handle(t *testing.T) {
	for events := mo.k.Pending(); len(events) > 0; events = mo.k.Pending() {
		for _, ev := range events {
			must(t)(mo.m.HandleEvent(ev))
		}
	}
}

func (mo *model) prefix() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(100 + mo.r.IntN(6))}), 16)
}

func (mo *model) route() routing.Route {
	r := routing.Route{RouteID: routing.RouteID{Prefix: mo.prefix()}}
	for _, i := range mo.r.Perm(links)[:1+mo.r.IntN(links)] {
		l := leg(i + 1)
		l.Weight = uint8(mo.r.IntN(3))
		r.Legs = append(r.Legs, l)
	}
	return r
}

// breakOne lets somebody delete an object or a route of ours.
func (mo *model) breakOne() {
	objects, _ := mo.k.Nexthops()
	routes, _ := mo.k.Routes()
	slices.SortFunc(objects, func(a, b routing.NexthopObject) int { return int(a.ID) - int(b.ID) })
	slices.SortFunc(routes, func(a, b routing.RouteEntry) int { return a.Prefix.Addr().Compare(b.Prefix.Addr()) })
	if i := mo.r.IntN(8); i < len(objects) {
		_ = mo.k.Foreign(routing.Op{Verb: routing.DeleteNexthop, Nexthop: objects[i]})
	} else if i < len(routes) {
		_ = mo.k.Foreign(routing.Op{Verb: routing.DeleteRoute, Route: routes[i]})
	}
}

// However the state was reached, it is the one that a new router would set up.
func TestAnyHistoryEndsLikeAFreshStart(t *testing.T) {
	for seed := range uint64(1500) {
		mo := newModel(t, seed)
		for range 60 {
			mo.step(t)
		}
		mo.k.Mute(false)
		mo.handle(t)
		must(t)(mo.m.SweepStale())

		fresh := newFakeWorld().Kernel
		for i := 1; i <= links; i++ {
			fresh.SetLink(routing.Link{Index: i, Name: fmt.Sprintf("t%d", i), Up: mo.up[i]})
		}
		m := start(t, fresh, mo.cfg)
		mo.program(t, m)
		must(t)(m.SweepStale())
		if diff := cmp.Diff(meaning(t, fresh), meaning(t, mo.k)); diff != "" {
			t.Fatalf("seed %d: (-fresh +history):\n%s", seed, diff)
		}
	}
}

// The cost of losing a leg depends on the number of sets, not of prefixes.
func TestLegLossIndependentOfPrefixes(t *testing.T) {
	cost := map[int]int{}
	for _, prefixes := range []int{10, 5000} {
		k := newFakeWorld().Kernel
		m := start(t, k, routing.Config{})
		for i := range prefixes {
			r := routing.Route{Legs: []routing.Leg{leg(1), leg(2), leg(3 + i%2)}}
			r.Prefix = netip.PrefixFrom(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i), 0}), 24)
			if err := m.Set(r); err != nil {
				t.Fatal(err)
			}
		}
		apply(t, m)
		k.Log = nil
		must(t)(m.LegDown(nexthop(1)))
		cost[prefixes] = len(k.Log)
	}
	// Two groups replaced, one object deleted.
	if cost[10] != 3 || cost[5000] != 3 {
		t.Errorf("messages by number of prefixes: %v; want 3", cost)
	}
}

// When any one operation fails, the rest is done, the failure is reported, and
// Resync repairs it.
func TestFailureAtEachStep(t *testing.T) {
	setUp := func(t *testing.T, k *routingtest.Kernel) *routing.Manager {
		m := start(t, k, routing.Config{})
		set(t, m, "10.101.0.0/16", leg(1), leg(2))
		set(t, m, "10.102.0.0/16", leg(2))
		apply(t, m)
		if err := m.SetPolicy(routing.Policy{Guards: []routing.Guard{{RouteID: id("10.0.0.0/8")}}}); err != nil {
			t.Fatal(err)
		}
		set(t, m, "10.101.0.0/16", leg(2), leg(3))
		set(t, m, "10.103.0.0/16", leg(1), leg(3))
		m.Withdraw(id("10.102.0.0/16"))
		return m
	}
	good := newFakeWorld().Kernel
	m := setUp(t, good)
	good.Log = nil
	apply(t, m)
	ops := good.Log
	if len(ops) < 6 {
		t.Fatalf("only %d operations", len(ops))
	}
	for _, bad := range ops {
		for _, errno := range []error{syscall.EPERM, syscall.ENOMEM} {
			k := newFakeWorld().Kernel
			m := setUp(t, k)
			k.Fail = func(op routing.Op) error {
				if op.String() == bad.String() {
					return errno
				}
				return nil
			}
			_, err := m.Apply()
			if err == nil || !strings.Contains(err.Error(), bad.String()) {
				t.Errorf("%s fails: error %v does not name it", bad, err)
			}
			k.Fail = nil
			must(t)(m.Resync())
			must(t)(m.SweepStale())
			if diff := cmp.Diff(meaning(t, good), meaning(t, k)); diff != "" {
				t.Errorf("after %s failed (-want +got):\n%s", bad, diff)
			}
		}
	}
}

func TestDumpFails(t *testing.T) {
	for _, name := range []string{"links", "nexthops", "routes"} {
		w := newFakeWorld()
		m := start(t, w.kernel(), routing.Config{})
		set(t, m, "10.2.0.0/16", leg(1), leg(2))
		apply(t, m)
		before := w.String()
		w.FailDump = func(n string) error {
			if n == name {
				return syscall.EPERM
			}
			return nil
		}
		if _, err := m.Resync(); err == nil || !strings.Contains(err.Error(), "read ") {
			t.Errorf("Resync without %s: %v", name, err)
		}
		if w.String() != before {
			t.Errorf("Resync without %s changed the kernel:\n%s", name, w)
		}
	}
}
