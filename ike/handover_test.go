package ike

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/ike/suite"
)

// notHanded are the fields that an IKE SA or a CHILD_SA at rest does not have, or that follow from others. A new field
// belongs here, or into the handover.
var notHanded = map[string]bool{
	"ikeSA.state": true, "ikeSA.gone": true, "ikeSA.candidates": true, "ikeSA.setup": true, "ikeSA.jobs": true, "ikeSA.parked": true,
	"ikeSA.active": true, "ikeSA.queue": true, "ikeSA.reserved": true, "ikeSA.pending": true, "ikeSA.rekey": true,
	"ikeSA.superseded": true, "ikeSA.halfOpen": true, "ikeSA.junk": true, // of half-open ones
	"ikeSA.conn": true, "ikeSA.children": true, "ikeSA.pair": true, "ikeSA.suite": true, "ikeSA.prf": true, "ikeSA.timers": true,
	"ikeSA.seal": true, "ikeSA.open": true, "ikeSA.in": true, "ikeSA.out": true, // compared below
	"childSA.sa": true, "childSA.want": true, "childSA.replaces": true, "childSA.replacedBy": true, "childSA.moves": true,
	"childSA.redundant": true, "childSA.noOutbound": true, "childSA.madeBy": true, "childSA.absent": true, "childSA.expired": true, "childSA.closed": true,
	"childSA.answer": true, "childSA.rekeyTries": true, "childSA.timers": true, "childSA.info": true,
}

// TestHandoverLeavesNothingOut: an IKE SA and its CHILD_SA are the same in the engine that takes over, field by field.
func TestHandoverLeavesNothingOut(t *testing.T) {
	a, b := testConfigs(t)
	a.Connections[0].DPDDelay, a.Connections[0].ReauthTime = 30*time.Second, 3*time.Hour
	a.Connections[0].Children[0].Inactivity = time.Hour
	p := newPair(t, a, b)
	p.settle()
	old := p.a.e
	data, left, err := old.HandOver(p.now)
	if err != nil || left > 0 {
		t.Fatal(left, err)
	}
	next := New(a, rand.NewChaCha8([32]byte{9}), 1)
	children, err := next.TakeOver(p.now, data)
	if err != nil || len(children) != 1 {
		t.Fatal(len(children), err)
	}
	x, y := old.sorted(), next.sorted()
	if len(x) != 1 || len(y) != 1 {
		t.Fatalf("%d IKE SAs, then %d", len(x), len(y))
	}
	same(t, x[0], y[0])
	same(t, x[0].children[0], y[0].children[0])
	in, out := x[0].in, y[0].in
	if in.next != out.next || in.last != out.last || in.first != out.first || in.init != out.init || !reflect.DeepEqual(in.response, out.response) ||
		x[0].out.next != y[0].out.next {
		t.Errorf("windows: %+v, then %+v", in, out)
	}
	for i := range x[0].timers {
		sameTime(t, "timer of the IKE SA", x[0].timers[i].pending(), y[0].timers[i].pending())
	}
	for i := range x[0].children[0].timers {
		sameTime(t, "timer of the CHILD_SA", x[0].children[0].timers[i].pending(), y[0].children[0].timers[i].pending())
	}
	for _, f := range []struct{ x, y any }{
		{len(old.children), len(next.children)}, {len(old.childSPI), len(next.childSPI)}, {len(old.outSPI), len(next.outSPI)},
		{len(old.pairs), len(next.pairs)}, {len(old.inits), len(next.inits)}, {old.ids.child, next.ids.child}, {old.ids.ike, next.ids.ike},
		{old.ReqID("gw", "net"), next.ReqID("gw", "net")}, {old.byName["gw"].wants[0].up, next.byName["gw"].wants[0].up},
	} {
		if f.x != f.y {
			t.Errorf("%v, then %v", f.x, f.y)
		}
	}
}

func same(t *testing.T, x, y any) {
	t.Helper()
	v, w := reflect.ValueOf(x).Elem(), reflect.ValueOf(y).Elem()
	for i := range v.NumField() {
		name := v.Type().Name() + "." + v.Type().Field(i).Name
		if notHanded[name] {
			continue
		}
		if name == "ikeSA.keys" {
			sameKeys(t, secretsOf(x.(*ikeSA).keys), secretsOf(y.(*ikeSA).keys))
			continue
		}
		if f, g := exposed(v.Field(i)), exposed(w.Field(i)); !cmp.Equal(f, g, cmp.Exporter(func(reflect.Type) bool { return true })) {
			t.Errorf("%s: %v, then %v", name, f, g)
		}
	}
}

// exposed reads an unexported field.
func exposed(v reflect.Value) any {
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem().Interface()
}

func sameKeys(t *testing.T, x, y [5]suite.Key) {
	t.Helper()
	for i := range x {
		if !bytes.Equal(x[i].Bytes(), y[i].Bytes()) || x[i].Len() == 0 && i == 0 {
			t.Errorf("key %d differs, or is empty", i)
		}
	}
}

func sameTime(t *testing.T, what string, x, y time.Time) {
	t.Helper()
	if !x.Equal(y) {
		t.Errorf("%s: %v, then %v", what, x, y)
	}
}
