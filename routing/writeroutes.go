package routing

import "errors"

// chunk bounds the memory that operations under way take.
const chunk = 4096

// writeRoutes compares the routes in ids with the kernel and writes the
// difference. It empties ids unless there will be another pass.
func (p *pass) writeRoutes(ids map[RouteID]bool) {
	ops := make([]Op, 0, min(len(ids), chunk))
	for id := range ids {
		if op, ok := p.routeOp(id); ok {
			ops = append(ops, op)
		}
		if len(ops) == chunk {
			p.execute(ops)
			ops = ops[:0]
		}
	}
	p.execute(ops)
	if !p.diverged {
		clear(ids)
	}
}

// routeOp returns what is to be done about one route.
func (p *pass) routeOp(id RouteID) (Op, bool) {
	m := p.m
	rt := m.routes[id]
	have, installed := m.kern.routes[id]
	op := Op{Route: RouteEntry{RouteID: id, Protocol: Protocol}}
	if rt == nil {
		op.Verb = DeleteRoute
		return op, installed && !m.stale[id]
	}
	want := m.wanted(rt)
	if want.dead {
		op.Verb = DeleteRoute
		return op, installed
	}
	op.Route.Kind, op.Route.NexthopID, op.Route.Hops = want.target.kind, want.target.nhid, want.target.hops
	owner, taken := m.kern.foreign[id]
	switch {
	case want.broken:
		return op, false // the error is that of the group
	case installed && have.equal(want.target):
		rt.err = nil
		return op, false
	case taken:
		// A replace might hit the foreign route, even beside one of ours.
		p.block(id, rt, owner.protocol)
		op.Verb = DeleteRoute
		return op, installed
	case installed:
		op.Verb = ReplaceRoute
		return op, true
	}
	op.Verb = AddRoute
	return op, true
}

// wanted says where a desired route should lead now.
func (m *Manager) wanted(rt *route) outcome {
	switch {
	case rt.guard != Unicast:
		return outcome{target: target{kind: rt.guard}}
	case rt.set == nil:
		return outcome{dead: true}
	}
	return rt.set.now // retarget has just computed it
}

// block notes that a foreign route is in the way. It is reported once.
func (p *pass) block(id RouteID, rt *route, owner uint8) {
	err := &ForeignRouteError{RouteID: id, Protocol: owner}
	var known *ForeignRouteError
	if errors.As(rt.err, &known) && *known == *err && p.blocked[id] == nil {
		return
	}
	rt.err = err
	p.blocked[id] = err
}
