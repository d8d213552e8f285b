package routing

import "errors"

// HandleEvent follows a change in the kernel: it moves routes off links that
// went down and back when they are up, and repairs what others deleted.
func (m *Manager) HandleEvent(ev Event) (Stats, error) {
	if !m.started {
		// Start reads everything, but links decide already.
		if ev.Kind == LinkEvent || ev.Kind == Lost {
			return Stats{}, m.readLinks()
		}
		return Stats{}, nil
	}
	switch ev.Kind {
	case LinkEvent:
		return m.linkEvent(ev)
	case NexthopEvent:
		return m.nexthopEvent(ev)
	case RouteEvent:
		return m.routeEvent(ev)
	}
	return m.Resync()
}

func (m *Manager) linkEvent(ev Event) (Stats, error) {
	now := ev.Link
	before, known := m.links[now.Name]
	for name, l := range m.links {
		if l.Index == now.Index && name != now.Name {
			delete(m.links, name) // renamed
		}
	}
	m.links[now.Name] = now
	if ev.Deleted {
		now.Up = false
		delete(m.links, now.Name)
	}
	changed := !known || before != now
	if changed {
		m.retryObjects()
	}
	if now.Up && m.hasLegs(now) {
		// It may have been down in between, and that removed objects.
		if err := m.reloadNexthops(); err != nil {
			return Stats{}, err
		}
	}
	stats, err := m.reconcile(nil)
	if changed && known && before.Up && m.kern.mayLose(before.Index) {
		// The kernel removes IPv4 routes over a down link without a word.
		again, err2 := m.Resync()
		stats.add(again)
		err = errors.Join(err, err2)
	}
	return stats, err
}

func (m *Manager) hasLegs(l Link) bool {
	if !m.objects {
		return false
	}
	for n := range m.legs {
		if n.Interface == l.Name {
			return true
		}
	}
	return false
}

func (m *Manager) nexthopEvent(ev Event) (Stats, error) {
	o := ev.Nexthop
	if !m.objects || !inOurRange(o.ID) {
		return Stats{}, nil
	}
	_, have := m.kern.nexthops[o.ID]
	switch {
	case ev.Deleted && m.kern.taken[o.ID]:
		delete(m.kern.taken, o.ID)
	case ev.Deleted:
		m.lostNexthop(o.ID)
	case o.Protocol != Protocol && (have || m.owned[o.ID]):
		return m.Resync() // someone replaced ours: routes point at it
	default:
		m.noteNexthop(o)
	}
	return m.reconcile(nil)
}

func (m *Manager) routeEvent(ev Event) (Stats, error) {
	r := ev.Route
	ours := m.isOurs(r)
	_, covers := m.policy.covered(r.Prefix)
	_, blocks := m.kern.foreign[r.RouteID]
	_, installed := m.kern.routes[r.RouteID]
	if !ours && !covers && !blocks && !installed && m.routes[r.RouteID] == nil {
		if !ev.Deleted {
			m.noteRoute(r)
		}
		return Stats{}, nil
	}
	switch {
	case ev.Deleted && ours:
		m.kern.deleteRoute(r.RouteID)
	case ev.Deleted:
		delete(m.kern.foreign, r.RouteID)
		delete(m.kern.underlay, r.RouteID)
	default:
		if !ours {
			m.kern.deleteRoute(r.RouteID) // it may have taken the place of ours
		}
		m.noteRoute(r)
	}
	m.markRepair(r.RouteID)
	if covers && !ours {
		m.readmitCovering()
	}
	return m.reconcile(nil)
}
