package routing_test

import (
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/routing"
)

// More operations than a batch holds, with failures at its ends: each error
// belongs to its operation.
func TestErrorsMatchOperations(t *testing.T) {
	newNamespace(t, 1)
	k := dial(t)
	bad := map[int]bool{0: true, 255: true, 256: true, 300: true, 599: true}
	var ops []routing.Op
	for i := range 600 {
		r := routing.RouteEntry{Kind: routing.Blackhole, Protocol: routing.Protocol}
		r.Prefix, r.Table, r.Metric = prefix4(i), routing.DefaultTable, routing.DefaultGuardMetric
		if bad[i] {
			r.Kind, r.NexthopID = routing.Unicast, routing.MinNexthopID
		}
		ops = append(ops, routing.Op{Verb: routing.AddRoute, Route: r})
	}
	errs := k.Apply(ops)
	if len(errs) != len(ops) {
		t.Fatalf("%d errors for %d operations", len(errs), len(ops))
	}
	for i, err := range errs {
		if (err != nil) != bad[i] {
			t.Errorf("operation %d: error %v, want one: %t", i, err, bad[i])
		}
	}
	got, err := k.Routes()
	if err != nil {
		t.Fatal(err)
	}
	installed := 0
	for _, r := range got {
		if r.Kind == routing.Blackhole {
			installed++
		}
	}
	if installed != len(ops)-len(bad) {
		t.Errorf("%d routes installed, want %d", installed, len(ops)-len(bad))
	}
}

// Nobody reads the events while many arrive: the reader learns that some were
// lost, and Resync finds the truth.
func TestEventOverflow(t *testing.T) {
	w := newRealWorld(t)
	m := start(t, w.kernel(), routing.Config{})
	set(t, m, "10.2.0.0/16", leg(1), leg(2))
	apply(t, m)
	w.foreign(t, routing.Op{Verb: routing.DeleteNexthop, Nexthop: routing.NexthopObject{ID: routing.MinGroupID + 1}})
	flood := make([]routing.Op, 40_000)
	for i := range flood {
		r := routing.RouteEntry{Kind: routing.Blackhole, Protocol: 4}
		r.Prefix, r.Table, r.Metric = prefix4(i), 1000, 1
		flood[i] = routing.Op{Verb: routing.AddRoute, Route: r}
	}
	if errs := w.other.Apply(flood); errs != nil {
		t.Fatal("flood failed")
	}
	deadline := time.After(4 * patience)
	for lost := false; !lost; {
		select {
		case ev := <-w.kernel().Events():
			lost = ev.Kind == routing.Lost
			must(t)(m.HandleEvent(ev))
		case <-deadline:
			t.Fatal("no event says that some were lost")
		}
	}
	if st, _ := m.Route(id("10.2.0.0/16")); !st.Installed || len(st.Active) != 2 {
		t.Errorf("status %+v", st)
	}
}

func TestCloseEndsEvents(t *testing.T) {
	newNamespace(t, 0)
	k := dial(t)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case _, open := <-k.Events():
		if open {
			t.Error("an event after Close")
		}
	case <-time.After(patience):
		t.Error("Events stays open after Close")
	}
}
