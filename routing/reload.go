package routing

import (
	"errors"
	"fmt"
	"slices"
)

// Start reads the nexthop objects and routes that a previous run left and
// marks them stale. A stale object that is wanted again is taken over without
// a write; SweepStale removes the others. Start comes before Set and Apply.
func (m *Manager) Start() error {
	if m.started {
		return nil
	}
	m.started = true
	if err := m.reload(); err != nil {
		m.started = false
		return err
	}
	return nil
}

// SweepStale removes what Start found and nobody took over. Call it after
// the first complete set of routes has been set (End-of-RIB or a deadline). It
// applies what is pending, so that nothing is removed before its replacement.
func (m *Manager) SweepStale() (Stats, error) {
	m.swept = true
	for id := range m.stale {
		m.markRepair(id)
	}
	clear(m.stale)
	return m.reconcile(m.pending)
}

// Resync reads the kernel again, repairs every difference, and tries failed
// routes again.
func (m *Manager) Resync() (Stats, error) {
	if !m.started {
		return Stats{}, errNotStarted
	}
	// Legs first: traffic must leave lost ones before long tables are read.
	if err := m.reloadNexthops(); err != nil {
		return Stats{}, err
	}
	first, err := m.reconcile(nil)
	if err := errors.Join(err, m.reload()); err != nil {
		return first, err
	}
	second, err := m.reconcile(nil)
	second.add(first)
	second.Switched = first.Switched
	second.Resyncs++
	return second, err
}

// reload reads everything. All routes are then to be compared.
func (m *Manager) reload() error {
	if err := m.reloadNexthops(); err != nil {
		return err
	}
	routes, err := m.kernel.Routes()
	if err != nil {
		return fmt.Errorf("routing: read routes: %w", err)
	}
	m.kern.routes = make(map[RouteID]target, len(routes))
	clear(m.kern.users)
	clear(m.kern.foreign)
	clear(m.kern.underlay)
	for _, r := range routes {
		m.noteRoute(r)
	}
	for id := range m.kern.routes {
		if m.routes[id] == nil && !m.swept && !m.pending[id] {
			m.stale[id] = true
		}
		m.markRepair(id)
	}
	for id := range m.routes {
		m.markRepair(id)
	}
	m.readmitCovering()
	return nil
}

// noteRoute records a route of the kernel, ours or not.
func (m *Manager) noteRoute(r RouteEntry) {
	if m.isOurs(r) {
		m.kern.setRoute(r.RouteID, r.target())
		return
	}
	f := foreignRoute{protocol: r.Protocol, hops: r.Hops}
	if r.Metric == m.cfg.Metric || r.Metric == m.cfg.GuardMetric || m.routes[r.RouteID] != nil {
		m.kern.foreign[r.RouteID] = f
	}
	if _, ok := m.policy.covered(r.Prefix); ok {
		m.kern.underlay[r.RouteID] = f
	}
}

// isOurs tells our routes from those of others, see the package comment.
func (m *Manager) isOurs(r RouteEntry) bool {
	if r.Protocol != Protocol {
		return false
	}
	switch r.Kind {
	case Blackhole, Unreachable:
		return r.Metric == m.cfg.GuardMetric
	case Unicast:
		if inOurRange(r.NexthopID) {
			return true
		}
		return !m.objects && r.NexthopID == 0 && r.Metric == m.cfg.Metric
	}
	return false
}

// reloadNexthops reads links and nexthop objects. Routes over what is gone
// are gone too.
func (m *Manager) reloadNexthops() error {
	if err := m.readLinks(); err != nil {
		return err
	}
	if !m.objects {
		return nil
	}
	objects, err := m.kernel.Nexthops()
	if err != nil {
		return fmt.Errorf("routing: read nexthop objects: %w", err)
	}
	found := make(map[uint32]bool, len(objects))
	clear(m.kern.taken)
	for _, o := range objects {
		if m.noteNexthop(o) {
			found[o.ID] = true
		}
	}
	for id := range m.kern.nexthops {
		if !found[id] {
			m.lostNexthop(id)
		}
	}
	clear(m.orphans)
	for id, o := range m.kern.nexthops {
		if !m.owned[id] {
			m.orphans[objectKey(o)] = id
		}
	}
	m.retryObjects()
	return nil
}

// retryObjects lets objects that the kernel refused be tried again.
func (m *Manager) retryObjects() {
	for _, lg := range m.legs {
		lg.err = nil
	}
	for _, s := range m.sets {
		s.err = nil
	}
}

// noteNexthop records an object of the kernel and reports whether it is ours.
func (m *Manager) noteNexthop(o NexthopObject) bool {
	if !inOurRange(o.ID) {
		return false
	}
	if o.Protocol != Protocol {
		m.kern.taken[o.ID] = true
		m.moveFrom(o.ID)
		return false
	}
	slices.SortFunc(o.Group, func(a, b GroupEntry) int { return int(a.ID) - int(b.ID) })
	m.kern.nexthops[o.ID] = o
	return true
}

// moveFrom gives a leg or set whose ID someone else took another one.
func (m *Manager) moveFrom(id uint32) {
	if !m.owned[id] {
		return
	}
	delete(m.owned, id)
	for _, lg := range m.legs {
		if lg.id == id {
			lg.id = m.takeID(MinNexthopID, "")
		}
	}
	for _, s := range m.sets {
		if s.id == id {
			s.id = m.takeID(MinGroupID, "")
		}
	}
}

// lostNexthop records that an object has left the kernel.
func (m *Manager) lostNexthop(id uint32) {
	for _, r := range m.kern.deleteNexthop(id) {
		m.markRepair(r)
	}
}

func (m *Manager) readLinks() error {
	links, err := m.kernel.Links()
	if err != nil {
		return fmt.Errorf("routing: read links: %w", err)
	}
	m.links = make(map[string]Link, len(links))
	for _, l := range links {
		m.links[l.Name] = l
	}
	return nil
}
