package routing

import (
	"net/netip"
	"slices"
)

// target is where a route leads: an object, or hops of its own, or nowhere.
type target struct {
	kind RouteKind
	nhid uint32
	hops []Hop // sorted
}

func (t target) equal(u target) bool {
	return t.kind == u.kind && t.nhid == u.nhid && slices.Equal(t.hops, u.hops)
}

// mirror is what the kernel is believed to hold. It follows the kernel's own
// rules, so that it stays true without reading the kernel back.
type mirror struct {
	nexthops map[uint32]NexthopObject // ours
	taken    map[uint32]bool          // IDs of our range that others use
	routes   map[RouteID]target       // ours
	users    map[uint32]int           // routes that point at an object
	foreign  map[RouteID]foreignRoute // in the place of ours
	underlay map[RouteID]foreignRoute // cover an endpoint
}

// foreignRoute is what matters of a route that is not ours.
type foreignRoute struct {
	protocol uint8
	hops     []Hop // nil: unknown (a nexthop object)
}

// over reports whether the route may lead over a link.
func (f foreignRoute) over(index int) bool {
	return f.hops == nil || slices.ContainsFunc(f.hops, func(h Hop) bool { return h.Index == index })
}

func newMirror() *mirror {
	return &mirror{
		nexthops: map[uint32]NexthopObject{},
		taken:    map[uint32]bool{},
		routes:   map[RouteID]target{},
		users:    map[uint32]int{},
		foreign:  map[RouteID]foreignRoute{},
		underlay: map[RouteID]foreignRoute{},
	}
}

func (k *mirror) setRoute(id RouteID, t target) {
	k.deleteRoute(id)
	k.routes[id] = t
	if t.nhid != 0 {
		k.users[t.nhid]++
	}
}

func (k *mirror) deleteRoute(id RouteID) {
	old, ok := k.routes[id]
	if !ok {
		return
	}
	delete(k.routes, id)
	if old.nhid == 0 {
		return
	}
	if k.users[old.nhid]--; k.users[old.nhid] == 0 {
		delete(k.users, old.nhid)
	}
}

// deleteNexthop removes an object as the kernel does: a leg leaves its groups,
// a group that becomes empty goes too, and so do the routes of what went. It
// returns those routes.
func (k *mirror) deleteNexthop(id uint32) []RouteID {
	gone := map[uint32]bool{id: true}
	delete(k.nexthops, id)
	for gid, g := range k.nexthops {
		i := slices.IndexFunc(g.Group, func(e GroupEntry) bool { return e.ID == id })
		if i < 0 {
			continue
		}
		g.Group = slices.Delete(slices.Clone(g.Group), i, i+1)
		k.nexthops[gid] = g
		if len(g.Group) == 0 {
			delete(k.nexthops, gid)
			gone[gid] = true
		}
	}
	return k.deleteUsers(gone)
}

// deleteUsers removes the routes that point at any of gone.
func (k *mirror) deleteUsers(gone map[uint32]bool) []RouteID {
	left := 0
	for id := range gone {
		left += k.users[id]
	}
	if left == 0 {
		return nil
	}
	lost := make([]RouteID, 0, left)
	for id, t := range k.routes {
		if gone[t.nhid] {
			lost = append(lost, id)
		}
	}
	for _, id := range lost {
		k.deleteRoute(id)
	}
	return lost
}

// apply records a successful op and returns the routes it took along.
func (k *mirror) apply(op Op) []RouteID {
	switch op.Verb {
	case AddNexthop, ReplaceNexthop:
		k.nexthops[op.Nexthop.ID] = op.Nexthop
	case DeleteNexthop:
		return k.deleteNexthop(op.Nexthop.ID)
	case AddRoute, ReplaceRoute:
		k.setRoute(op.Route.RouteID, op.Route.target())
	case DeleteRoute:
		k.deleteRoute(op.Route.RouteID)
	}
	return nil
}

// mayLose reports whether a foreign route that matters goes over a link.
func (k *mirror) mayLose(index int) bool {
	for _, routes := range []map[RouteID]foreignRoute{k.foreign, k.underlay} {
		for _, f := range routes {
			if f.over(index) {
				return true
			}
		}
	}
	return false
}

// groupsOf adds the groups that a leg is in.
func (k *mirror) groupsOf(leg uint32, groups map[uint32]bool) {
	for id, o := range k.nexthops {
		for _, e := range o.Group {
			if e.ID == leg {
				groups[id] = true
			}
		}
	}
}

// members returns the IDs of legs that are in a group.
func (k *mirror) members() map[uint32]bool {
	in := map[uint32]bool{}
	for _, o := range k.nexthops {
		for _, e := range o.Group {
			in[e.ID] = true
		}
	}
	return in
}

func (r RouteEntry) target() target {
	t := target{kind: r.Kind, nhid: r.NexthopID}
	if t.nhid == 0 && t.kind == Unicast {
		t.hops = sortHops(slices.Clone(r.Hops))
	}
	return t
}

// sortHops puts hops into the order in which they are compared. The weight of
// a single hop says nothing; it becomes 1.
func sortHops(hops []Hop) []Hop {
	slices.SortFunc(hops, func(a, b Hop) int {
		if a.Index != b.Index {
			return a.Index - b.Index
		}
		return a.Gateway.Compare(b.Gateway)
	})
	if len(hops) == 1 {
		hops[0].Weight = 1
	}
	return hops
}

func inOurRange(id uint32) bool { return MinNexthopID <= id && id <= MaxNexthopID }

// comparePrefix orders by family, address and length.
func comparePrefix(a, b netip.Prefix) int {
	if c := a.Addr().Compare(b.Addr()); c != 0 {
		return c
	}
	return a.Bits() - b.Bits()
}
