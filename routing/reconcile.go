package routing

import (
	"cmp"
	"errors"
	"slices"
	"syscall"
	"time"
)

// reconcile writes the difference between desired and actual state: legs and
// groups always, routes only as far as they are in pending or in m.repair. If
// the kernel turns out not to be as the mirror has it, that part of the kernel
// is read again, then all of it, and the rest is tried once more.
func (m *Manager) reconcile(pending map[RouteID]bool) (Stats, error) {
	p := &pass{m: m, start: time.Now(), blocked: map[RouteID]error{}, shrunk: map[uint32]bool{}}
	for _, read := range []func() error{m.reloadNexthops, m.reload, nil} {
		p.final = read == nil
		p.diverged, p.routesDiverged = false, false
		p.run(pending)
		if !p.diverged {
			break
		}
		if p.routesDiverged {
			read = m.reload
		}
		if err := read(); err != nil {
			return p.stats, err
		}
		p.stats.Resyncs++
	}
	p.stats.Duration = time.Since(p.start)
	for id, err := range p.blocked {
		if rt := m.routes[id]; rt != nil && rt.err == err {
			p.errs = append(p.errs, err)
		}
	}
	if len(p.errs) > 0 {
		return p.stats, p.errs
	}
	return p.stats, nil
}

// markRepair notes a route as changed by the kernel. A pending one waits for
// Apply.
func (m *Manager) markRepair(id RouteID) {
	if !m.pending[id] {
		m.repair[id] = true
	}
}

// pass is one run through the phases.
type pass struct {
	m        *Manager
	start    time.Time
	stats    Stats
	errs     Errors
	blocked  map[RouteID]error // by foreign routes
	final    bool              // failures are reported, no longer repaired
	diverged bool              // the kernel is not as the mirror has it

	routesDiverged bool // … and the routes neither

	shrunk map[uint32]bool // groups that the deletion of a leg has changed
}

// run goes through the phases in an order in which traffic leaves lost legs
// first, and nothing is removed before what replaces it is there.
//
// Measured on Linux 6.18 under 100,000 routes: replacing a group takes 0.1 ms
// if it has IPv4 routes and 60 ms if it has IPv6 routes; deleting a leg, which
// takes it out of its groups, 0.2 ms for both, but 7 ms if an IPv4 route uses
// the leg alone. Only replacing makes local sockets forget a cached route. So
// IPv4 groups are replaced before their legs are deleted, and IPv6 groups after.
func (p *pass) run(pending map[RouteID]bool) {
	if p.m.objects {
		p.deleteDownLegs(true)
		p.createLegs()
		p.updateGroups(false)
		p.stats.Switched = time.Since(p.start)
		p.deleteDownLegs(false)
		p.updateGroups(true)
	}
	p.m.retarget()
	p.writeRoutes(p.m.repair)
	p.writeRoutes(pending)
	if p.m.objects {
		p.deleteUnused()
	} else {
		p.stats.Switched = time.Since(p.start)
	}
}

// createLegs makes the objects of usable legs. The kernel removed them when
// their link went down.
func (p *pass) createLegs() {
	var ops []Op
	for _, lg := range p.m.legs {
		if !p.m.active(lg.Nexthop) || lg.err != nil {
			continue
		}
		want := p.m.legObject(lg)
		have, ok := p.m.kern.nexthops[lg.id]
		switch {
		case !ok:
			ops = append(ops, Op{Verb: AddNexthop, Nexthop: want})
		case !sameObject(have, want):
			ops = append(ops, Op{Verb: ReplaceNexthop, Nexthop: want})
		}
	}
	p.execute(byNexthop(ops))
}

// updateGroups gives every group the legs it should have: one message each,
// however many routes use it. A group of IPv6 legs may carry IPv6 routes.
func (p *pass) updateGroups(ipv6 bool) {
	var ops []Op
	for _, s := range p.m.sets {
		if s.ipv6() != ipv6 {
			continue
		}
		group := p.m.members(s)
		if s.id == 0 || len(group) == 0 || s.err != nil {
			continue
		}
		want := NexthopObject{ID: s.id, Protocol: Protocol, Group: group}
		have, ok := p.m.kern.nexthops[s.id]
		switch {
		case !ok:
			ops = append(ops, Op{Verb: AddNexthop, Nexthop: want})
		case !sameObject(have, want) || p.shrunk[s.id]:
			ops = append(ops, Op{Verb: ReplaceNexthop, Nexthop: want})
		}
	}
	p.execute(byNexthop(ops))
}

// deleteDownLegs removes the objects of legs that are down, and with them
// the kernel removes what has no other leg: groups and routes. After a link
// failure it has done so already.
func (p *pass) deleteDownLegs(ipv6 bool) {
	names := map[int]string{}
	for name, l := range p.m.links {
		names[l.Index] = name
	}
	var ops []Op
	for _, o := range p.m.kern.nexthops {
		if o.Group == nil && o.Gateway.Is6() == ipv6 && !p.m.active(Nexthop{names[o.Index], o.Gateway}) {
			ops = append(ops, Op{Verb: DeleteNexthop, Nexthop: o})
			p.m.kern.groupsOf(o.ID, p.shrunk)
		}
	}
	p.execute(byNexthop(ops))
}

// deleteUnused removes the objects that no set owns and no route uses: groups
// first, then the legs that are in no group any more.
func (p *pass) deleteUnused() {
	m := p.m
	for _, groups := range []bool{true, false} {
		var ops []Op
		members := m.kern.members()
		for id, o := range m.kern.nexthops {
			if (o.Group != nil) == groups && !m.owned[id] && m.kern.users[id] == 0 && !members[id] {
				ops = append(ops, Op{Verb: DeleteNexthop, Nexthop: o})
			}
		}
		p.execute(byNexthop(ops))
	}
}

func byNexthop(ops []Op) []Op {
	slices.SortFunc(ops, func(a, b Op) int { return cmp.Compare(a.Nexthop.ID, b.Nexthop.ID) })
	return ops
}

// retarget compares every set with its outcome of the last pass, and notes
// the routes of those that changed.
func (m *Manager) retarget() {
	changed := map[*set]bool{}
	for _, s := range m.sets {
		if now := m.outcome(s); !now.equal(s.now) {
			s.now = now
			changed[s] = true
		}
	}
	if len(changed) == 0 {
		return
	}
	for id, rt := range m.routes {
		if changed[rt.set] {
			m.markRepair(id)
		}
	}
}

// execute runs ops and keeps the mirror and the count of what succeeded.
func (p *pass) execute(ops []Op) {
	if len(ops) == 0 {
		return
	}
	errs := p.m.kernel.Apply(ops)
	for i, op := range ops {
		if errs != nil && errs[i] != nil && !alreadyGone(op, errs[i]) {
			p.fail(op, errs[i])
			continue
		}
		p.succeed(op)
	}
}

func (p *pass) succeed(op Op) {
	switch op.Verb {
	case AddRoute:
		p.stats.RoutesAdded++
	case ReplaceRoute:
		p.stats.RoutesChanged++
	case DeleteRoute:
		p.stats.RoutesDeleted++
	default:
		if key := objectKey(op.Nexthop); op.Verb == DeleteNexthop && p.m.orphans[key] == op.Nexthop.ID {
			delete(p.m.orphans, key)
		}
		if op.Nexthop.Group != nil {
			p.stats.GroupUpdates++
		} else {
			p.stats.LegUpdates++
		}
	}
	if rt := p.m.routes[op.Route.RouteID]; rt != nil {
		rt.err = nil
	}
	lost := p.m.kern.apply(op)
	p.stats.RoutesDeleted += len(lost)
	for _, id := range lost {
		p.m.markRepair(id)
	}
}

// alreadyGone reports whether err means that there was nothing left to delete.
func alreadyGone(op Op, err error) bool {
	switch op.Verb {
	case DeleteNexthop:
		return errors.Is(err, syscall.ENOENT)
	case DeleteRoute:
		return errors.Is(err, syscall.ESRCH)
	}
	return false
}

// linkGone reports whether err means that an interface cannot be used now; the
// event that says so is on its way.
func linkGone(err error) bool {
	return errors.Is(err, syscall.ENETDOWN) || errors.Is(err, syscall.ENODEV)
}

func (p *pass) fail(op Op, err error) {
	isLeg := op.Verb <= DeleteNexthop && op.Nexthop.Group == nil
	if isLeg && linkGone(err) {
		p.m.linkFailed(op.Nexthop.Index)
		return
	}
	if !p.final {
		p.diverged = true
		p.routesDiverged = p.routesDiverged || op.Verb >= AddRoute
		return
	}
	err = &OpError{Op: op, Err: err}
	p.errs = append(p.errs, err)
	for _, lg := range p.m.legs {
		if isLeg && lg.id == op.Nexthop.ID {
			lg.err = err
		}
	}
	for _, s := range p.m.sets {
		if s.id != 0 && s.id == op.Nexthop.ID {
			s.err = err
		}
	}
	if rt := p.m.routes[op.Route.RouteID]; rt != nil {
		rt.err = err
	}
}

// linkFailed takes a link for down until an event says otherwise.
func (m *Manager) linkFailed(index int) {
	for name, l := range m.links {
		if l.Index == index {
			l.Up = false
			m.links[name] = l
		}
	}
}
