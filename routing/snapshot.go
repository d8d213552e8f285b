package routing

import (
	"cmp"
	"errors"
	"slices"
)

// Routes returns the desired routes, guards included, sorted by table, prefix
// and metric.
func (m *Manager) Routes() []RouteStatus {
	out := make([]RouteStatus, 0, len(m.routes))
	for id, rt := range m.routes {
		out = append(out, m.status(id, rt))
	}
	slices.SortFunc(out, func(a, b RouteStatus) int { return compareRouteID(a.RouteID, b.RouteID) })
	return out
}

// Route returns one desired route.
func (m *Manager) Route(id RouteID) (RouteStatus, bool) {
	id = m.normal(id, m.cfg.Metric)
	rt, ok := m.routes[id]
	if !ok {
		return RouteStatus{}, false
	}
	return m.status(id, rt), true
}

func (m *Manager) status(id RouteID, rt *route) RouteStatus {
	have, installed := m.kern.routes[id]
	st := RouteStatus{
		RouteID:   id,
		Guard:     rt.guard != Unicast,
		Legs:      slices.Clone(rt.legs),
		Installed: installed,
		Err:       errors.Join(rt.refused, rt.err),
	}
	if installed && rt.set != nil && !m.pending[id] && have.equal(rt.set.now.target) {
		for _, l := range rt.set.legs {
			if m.usable(l.Nexthop) {
				st.Active = append(st.Active, l)
			}
		}
	}
	return st
}

func compareRouteID(a, b RouteID) int {
	if c := cmp.Compare(a.Table, b.Table); c != 0 {
		return c
	}
	if c := comparePrefix(a.Prefix, b.Prefix); c != 0 {
		return c
	}
	return cmp.Compare(a.Metric, b.Metric)
}

// Legs returns the legs that routes name, sorted.
func (m *Manager) Legs() []LegStatus {
	out := make([]LegStatus, 0, len(m.legs))
	for n, lg := range m.legs {
		out = append(out, LegStatus{
			Nexthop: n,
			ID:      lg.id,
			Held:    m.held[n],
			LinkUp:  m.links[n.Interface].Up,
			InUse:   m.usable(n),
			Err:     lg.err,
		})
	}
	slices.SortFunc(out, func(a, b LegStatus) int { return compareNexthop(a.Nexthop, b.Nexthop) })
	return out
}
