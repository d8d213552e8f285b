package vaddr

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// kernel is a fake: link 1 has 192.0.2.1, link 2 has 198.51.100.1.
type kernel struct {
	ours, others map[Address]bool
	log          []string
	err          error
}

func (k *kernel) LinkOf(a netip.Addr) (int, error) {
	switch a.String() {
	case "192.0.2.1":
		return 1, nil
	case "198.51.100.1":
		return 2, nil
	}
	return 0, errors.New("no such address")
}

func (k *kernel) LinkNamed(name string) (int, error) { return 3, nil }

func (k *kernel) Ours() ([]Address, error) { return slices.Collect(maps.Keys(k.ours)), nil }

func (k *kernel) Add(a Address) (bool, error) {
	if k.err != nil {
		return false, k.err
	}
	k.log = append(k.log, fmt.Sprintf("add %v %d", a.Addr, a.Link))
	if k.ours[a] || k.others[a] {
		return false, nil
	}
	k.ours[a] = true
	return true, nil
}

func (k *kernel) Delete(a Address) error {
	k.log = append(k.log, fmt.Sprintf("del %v %d", a.Addr, a.Link))
	delete(k.ours, a)
	return nil
}

func (k *kernel) did() string {
	s := strings.Join(k.log, ", ")
	k.log = nil
	return s
}

func want(pairs ...string) []Want {
	var out []Want
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, Want{netip.MustParseAddr(pairs[i]), netip.MustParseAddr(pairs[i+1])})
	}
	return out
}

// TestManager plays the life of an address: what an earlier run left goes, one that moves to another link is there before it
// goes from the old one, two that want it keep it, and what is others' stays.
func TestManager(t *testing.T) {
	left := Address{netip.MustParseAddr("10.3.0.9"), 1}
	foreign := Address{netip.MustParseAddr("10.3.0.7"), 1}
	k := &kernel{ours: map[Address]bool{left: true}, others: map[Address]bool{foreign: true}}
	m := New(k, "")
	one, two := want("10.3.0.1", "192.0.2.1"), want("10.3.0.1", "198.51.100.1")
	for i, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return m.Set(one) }, "add 10.3.0.1 1, del 10.3.0.9 1"},
		{func() error { return m.Set(append(one, one...)) }, ""},
		{func() error { return m.Set(two) }, "add 10.3.0.1 2, del 10.3.0.1 1"},
		{func() error { return m.Set(append(two, want("10.3.0.7", "192.0.2.1")...)) }, "add 10.3.0.7 1"},
		{func() error { clear(k.ours); return m.Refresh(two) }, "add 10.3.0.1 2"},
		{func() error { return m.Set(nil) }, "del 10.3.0.1 2"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := k.did(); got != step.want {
			t.Errorf("step %d: %s, expected %s", i, got, step.want)
		}
	}
	if len(k.ours) > 0 || !k.others[foreign] {
		t.Errorf("left: ours %v, others %v", k.ours, k.others)
	}
}

// TestManagerFails tells what it cannot do, does the rest, and tries again.
func TestManagerFails(t *testing.T) {
	k := &kernel{ours: map[Address]bool{}, err: errors.New("no room")}
	m := New(k, "")
	if err := m.Set(want("10.3.0.1", "192.0.2.1")); err == nil || !strings.Contains(err.Error(), "10.3.0.1: no room") {
		t.Errorf("%v", err)
	}
	k.err = nil
	if err := m.Set(want("10.3.0.2", "192.0.2.99", "10.3.0.1", "192.0.2.1")); err == nil || k.did() != "add 10.3.0.1 1" {
		t.Errorf("%v", err)
	}
}
