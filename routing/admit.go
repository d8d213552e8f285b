package routing

import (
	"errors"
	"fmt"
	"net/netip"
)

// policy is a Policy prepared for look-ups.
type policy struct {
	guards    []RouteID
	endpoints []netip.Addr
	tunnels   map[string]bool // nil: every interface
}

func (p policy) isTunnel(ifname string) bool { return p.tunnels == nil || p.tunnels[ifname] }

// covered returns the endpoint that prefix contains.
func (p policy) covered(prefix netip.Prefix) (netip.Addr, bool) {
	for _, e := range p.endpoints {
		if prefix.Contains(e) {
			return e, true
		}
	}
	return netip.Addr{}, false
}

// SetPolicy replaces guards, endpoints and tunnels. Apply writes the
// difference; guards that are already desired are not touched.
func (m *Manager) SetPolicy(p Policy) error {
	next := policy{endpoints: addrs(p.OuterEndpoints)}
	if len(p.Tunnels) > 0 {
		next.tunnels = map[string]bool{}
		for _, name := range p.Tunnels {
			next.tunnels[name] = true
		}
	}
	guards := map[RouteID]RouteKind{}
	for _, g := range p.Guards {
		id := m.normal(g.RouteID, m.cfg.GuardMetric)
		if !id.Prefix.IsValid() || id.Metric != m.cfg.GuardMetric {
			return fmt.Errorf("routing: guard %s: want a valid prefix and metric %d", id, m.cfg.GuardMetric)
		}
		guards[id] = Blackhole
		if g.Unreachable {
			guards[id] = Unreachable
		}
		next.guards = append(next.guards, id)
	}
	for _, id := range m.policy.guards {
		if _, ok := guards[id]; !ok {
			m.forget(id)
		}
	}
	for id, kind := range guards {
		if rt := m.routes[id]; rt == nil || rt.guard != kind {
			m.routes[id] = &route{guard: kind}
			m.pending[id] = true
		}
		delete(m.stale, id)
	}
	m.policy = next
	if m.started {
		// Which foreign routes matter depends on the endpoints.
		if err := m.reload(); err != nil {
			return err
		}
	}
	for id, rt := range m.routes {
		m.readmit(id, rt, m.pending)
	}
	return nil
}

// readmit applies the policy to a route again and notes it in dirty if that
// changes its legs.
func (m *Manager) readmit(id RouteID, rt *route, dirty map[RouteID]bool) {
	if rt.guard != Unicast {
		return
	}
	old := rt.set
	if m.admit(id, rt); rt.set != old {
		dirty[id] = true
	}
}

// readmitCovering does so for the routes that contain an endpoint.
func (m *Manager) readmitCovering() {
	if len(m.policy.endpoints) == 0 {
		return
	}
	for id, rt := range m.routes {
		if _, ok := m.policy.covered(id.Prefix); ok {
			m.readmit(id, rt, m.repair)
		}
	}
}

// admit chooses the legs that rt may use, and its set.
func (m *Manager) admit(id RouteID, rt *route) {
	legs, err := m.admitted(id, rt.legs)
	old := rt.set
	rt.set, rt.refused = nil, err
	if len(legs) > 0 {
		rt.set = m.acquire(legs)
		if len(legs) == len(rt.legs) {
			rt.legs = rt.set.legs // one copy for all routes of a set
		}
	}
	m.release(old)
}

// admitted returns the legs that the policy permits, and the refusal of the
// others.
func (m *Manager) admitted(id RouteID, legs []Leg) ([]Leg, error) {
	var reasons []error
	if end, ok := m.recursive(id); ok {
		var refused []Leg
		legs, refused = split(legs, func(l Leg) bool { return !m.policy.isTunnel(l.Interface) })
		if len(refused) > 0 {
			reasons = append(reasons, &RefusedError{RouteID: id, Legs: refused, Reason: fmt.Sprintf(
				"it covers the tunnel endpoint %s and no more specific route does: add one by way of the underlay, or filter the prefix", end)})
		}
	}
	if guard, ok := m.guardOf(id); ok {
		var refused []Leg
		legs, refused = split(legs, func(l Leg) bool { return m.policy.isTunnel(l.Interface) })
		if len(refused) > 0 {
			reasons = append(reasons, &RefusedError{RouteID: id, Legs: refused, Reason: fmt.Sprintf(
				"%s is protected and the interface is not a tunnel", guard.Prefix)})
		}
	}
	switch len(reasons) {
	case 0:
		return legs, nil
	case 1:
		return sortLegs(legs), reasons[0]
	}
	return sortLegs(legs), errors.Join(reasons...)
}

// split keeps the order of legs.
func split(legs []Leg, keep func(Leg) bool) (kept, dropped []Leg) {
	for _, l := range legs {
		if keep(l) {
			kept = append(kept, l)
		} else {
			dropped = append(dropped, l)
		}
	}
	return kept, dropped
}

// guardOf returns the guard that contains the route.
func (m *Manager) guardOf(id RouteID) (RouteID, bool) {
	for _, g := range m.policy.guards {
		if g.Table == id.Table && g.Prefix.Bits() <= id.Prefix.Bits() && g.Prefix.Contains(id.Prefix.Addr()) {
			return g, true
		}
	}
	return RouteID{}, false
}

// recursive returns the endpoint whose longest match the route would be, were
// it installed.
func (m *Manager) recursive(id RouteID) (netip.Addr, bool) {
	for _, e := range m.policy.endpoints {
		if id.Prefix.Contains(e) && !m.underlayBelow(id, e) {
			return e, true
		}
	}
	return netip.Addr{}, false
}

// underlayBelow reports whether a foreign route in the same table wins over id
// for e: by a longer prefix, or by a better metric for the same one.
func (m *Manager) underlayBelow(id RouteID, e netip.Addr) bool {
	for u := range m.kern.underlay {
		if u.Table != id.Table || !u.Prefix.Contains(e) {
			continue
		}
		if u.Prefix.Bits() > id.Prefix.Bits() || u.Prefix == id.Prefix && u.Metric < id.Metric {
			return true
		}
	}
	return false
}
