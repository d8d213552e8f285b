// Package routingtest provides a fake kernel for tests of package routing and
// of its users. It keeps the rules that were measured on Linux 6.18: a link
// that goes down takes its nexthop objects along, groups shrink, an empty
// group goes with its routes, and nothing comes back by itself. Namespace gives a
// test a real kernel's network of its own.
package routingtest

import (
	"slices"
	"syscall"

	"github.com/ipsecd/ipsecd/routing"
)

// Kernel is a routing.Kernel in memory. The zero value is not usable; see New.
type Kernel struct {
	// Fail, if set, is asked before each op; an error is returned instead of
	// executing it.
	Fail func(routing.Op) error

	// FailDump, if set, is asked before Links, Nexthops and Routes, by name.
	FailDump func(name string) error

	// Log is every op that was asked for, failed ones included.
	Log []routing.Op

	// NoObjects plays a kernel before 5.3.
	NoObjects bool

	links    map[int]routing.Link
	nexthops map[uint32]routing.NexthopObject
	routes   map[routing.RouteID]routing.RouteEntry
	events   chan routing.Event
	muted    bool
	lost     bool
	closed   bool
}

// eventRoom is how many events wait for a reader before they are lost.
const eventRoom = 1024

var _ routing.Kernel = (*Kernel)(nil)

// New returns a kernel without links and routes.
func New() *Kernel {
	return &Kernel{
		links:    map[int]routing.Link{},
		nexthops: map[uint32]routing.NexthopObject{},
		routes:   map[routing.RouteID]routing.RouteEntry{},
		events:   make(chan routing.Event, eventRoom),
	}
}

// Features implements routing.Kernel.
func (k *Kernel) Features() (routing.Features, error) {
	return routing.Features{NexthopObjects: !k.NoObjects}, nil
}

// Links implements routing.Kernel.
func (k *Kernel) Links() ([]routing.Link, error) {
	if err := k.dump("links"); err != nil {
		return nil, err
	}
	var out []routing.Link
	for _, l := range k.links {
		out = append(out, l)
	}
	return out, nil
}

// Nexthops implements routing.Kernel.
func (k *Kernel) Nexthops() ([]routing.NexthopObject, error) {
	if err := k.dump("nexthops"); err != nil {
		return nil, err
	}
	var out []routing.NexthopObject
	for _, o := range k.nexthops {
		o.Group = slices.Clone(o.Group)
		out = append(out, o)
	}
	return out, nil
}

// Routes implements routing.Kernel.
func (k *Kernel) Routes() ([]routing.RouteEntry, error) {
	if err := k.dump("routes"); err != nil {
		return nil, err
	}
	var out []routing.RouteEntry
	for _, r := range k.routes {
		r.Hops = slices.Clone(r.Hops)
		out = append(out, r)
	}
	return out, nil
}

func (k *Kernel) dump(name string) error {
	if k.FailDump == nil {
		return nil
	}
	return k.FailDump(name)
}

// Apply implements routing.Kernel.
func (k *Kernel) Apply(ops []routing.Op) []error {
	errs := make([]error, len(ops))
	failed := false
	for i, op := range ops {
		op.Nexthop.Group = slices.Clone(op.Nexthop.Group)
		op.Route.Hops = slices.Clone(op.Route.Hops)
		k.Log = append(k.Log, op)
		if k.Fail != nil {
			errs[i] = k.Fail(op)
		}
		if errs[i] == nil {
			errs[i] = k.apply(op)
		}
		failed = failed || errs[i] != nil
	}
	if !failed {
		return nil
	}
	return errs
}

func (k *Kernel) apply(op routing.Op) error {
	o, r := op.Nexthop, op.Route
	_, haveNexthop := k.nexthops[o.ID]
	old, haveRoute := k.routes[r.RouteID]
	switch {
	case op.Verb == routing.AddNexthop && haveNexthop,
		op.Verb == routing.AddRoute && haveRoute:
		return syscall.EEXIST
	case op.Verb == routing.ReplaceNexthop && !haveNexthop,
		op.Verb == routing.DeleteNexthop && !haveNexthop,
		op.Verb == routing.ReplaceRoute && !haveRoute:
		return syscall.ENOENT
	case op.Verb == routing.DeleteRoute && (!haveRoute || old.Protocol != r.Protocol):
		return syscall.ESRCH
	}
	switch op.Verb {
	case routing.AddNexthop, routing.ReplaceNexthop:
		if err := k.checkNexthop(o); err != nil {
			return err
		}
		k.nexthops[o.ID] = o
	case routing.DeleteNexthop:
		k.removeNexthop(o.ID)
	case routing.AddRoute, routing.ReplaceRoute:
		if err := k.checkRoute(r); err != nil {
			return err
		}
		k.routes[r.RouteID] = r
	case routing.DeleteRoute:
		delete(k.routes, r.RouteID)
	}
	return nil
}

func (k *Kernel) checkNexthop(o routing.NexthopObject) error {
	if k.NoObjects {
		return syscall.EOPNOTSUPP
	}
	if old, ok := k.nexthops[o.ID]; ok && (old.Group == nil) != (o.Group == nil) {
		return syscall.EINVAL
	}
	if o.Group == nil {
		return k.checkLink(o.Index)
	}
	for _, e := range o.Group {
		if m, ok := k.nexthops[e.ID]; !ok || m.Group != nil {
			return syscall.EINVAL
		}
	}
	if len(o.Group) == 0 {
		return syscall.EINVAL
	}
	return nil
}

func (k *Kernel) checkLink(index int) error {
	l, ok := k.links[index]
	switch {
	case !ok:
		return syscall.ENODEV
	case !l.Up:
		return syscall.ENETDOWN
	}
	return nil
}

func (k *Kernel) checkRoute(r routing.RouteEntry) error {
	if r.Kind != routing.Unicast {
		return nil
	}
	if r.NexthopID == 0 {
		for _, h := range r.Hops {
			if err := k.checkLink(h.Index); err != nil {
				return err
			}
		}
		if len(r.Hops) == 0 {
			return syscall.ENODEV
		}
		return nil
	}
	o, ok := k.nexthops[r.NexthopID]
	if !ok {
		return syscall.EINVAL
	}
	legs := []routing.NexthopObject{o}
	for _, e := range o.Group {
		legs = append(legs, k.nexthops[e.ID])
	}
	for _, l := range legs {
		if r.Prefix.Addr().Is6() && l.Gateway.Is4() {
			return syscall.EINVAL
		}
	}
	return nil
}

// removeNexthop removes an object and what cannot be without it.
func (k *Kernel) removeNexthop(id uint32) {
	delete(k.nexthops, id)
	for rid, r := range k.routes {
		if r.NexthopID == id {
			delete(k.routes, rid)
		}
	}
	for gid, g := range k.nexthops {
		kept := slices.DeleteFunc(slices.Clone(g.Group), func(e routing.GroupEntry) bool { return e.ID == id })
		switch {
		case len(kept) == len(g.Group):
		case len(kept) == 0:
			k.removeNexthop(gid)
		default:
			g.Group = kept
			k.nexthops[gid] = g
		}
	}
}

// Events implements routing.Kernel.
func (k *Kernel) Events() <-chan routing.Event { return k.events }

// Close implements routing.Kernel.
func (k *Kernel) Close() error {
	if !k.closed {
		k.closed = true
		close(k.events)
	}
	return nil
}
