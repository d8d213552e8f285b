package router

import (
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
)

// startup is how far the router has come from its start to normal running.
type startup struct {
	phase   string
	earlier bool // routes of an earlier router were found
	hold    time.Time
	stale   time.Time
	// waiting are the neighbours that have not sent End-of-RIB in their present session.
	waiting map[string]bool
	heard   bool // some neighbour has
}

func newStartup(now time.Time, c *routerproto.Routing, earlier bool) startup {
	hold := DefaultHold
	if earlier {
		hold = DefaultRestartHold
	}
	return startup{
		phase:   routerproto.PhaseHold,
		earlier: earlier,
		hold:    now.Add(orDefault(c.Hold, hold)),
		stale:   now.Add(orDefault(c.StaleTime, DefaultStaleTime)),
		waiting: make(map[string]bool),
	}
}

func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}

// neighborsChanged takes over a list of neighbours.
func (s *startup) neighborsChanged(ns map[string]routerproto.Neighbor) {
	known := s.waiting
	s.waiting = make(map[string]bool, len(ns))
	for name := range ns {
		waits, ok := known[name]
		s.waiting[name] = waits || !ok
	}
}

func (s *startup) endOfRIB(neighbor string) {
	if _, ok := s.waiting[neighbor]; ok {
		s.waiting[neighbor] = false
		s.heard = true
	}
}

func (s *startup) sessionLost(neighbor string) {
	if _, ok := s.waiting[neighbor]; ok {
		s.waiting[neighbor] = true
	}
}

// holdOver says whether routes may be written: every neighbour that can be
// reached has sent all it has. reachable is false for a neighbour whose link is
// down, which would be waited for in vain.
func (s *startup) holdOver(now time.Time, reachable func(neighbor string) bool) bool {
	if !now.Before(s.hold) || len(s.waiting) == 0 {
		return true
	}
	if !s.heard {
		return false
	}
	for name, waits := range s.waiting {
		if waits && reachable(name) {
			return false
		}
	}
	return true
}

// complete says whether what is left of an earlier router is to go: every
// neighbour is back, or had its time.
func (s *startup) complete(now time.Time) bool {
	if !now.Before(s.stale) {
		return true
	}
	for _, waits := range s.waiting {
		if waits {
			return false
		}
	}
	return true
}

// advance moves from phase to phase.
func (r *router) advance(now time.Time) {
	s := &r.start
	if s.phase == routerproto.PhaseHold && s.holdOver(now, r.reachable) {
		s.phase = routerproto.PhaseReconcile
		r.changed = true
		r.log.Info("writing routes", "prefixes", len(r.rib.paths), "after", now.Sub(r.started).Round(time.Millisecond))
	}
	if s.phase == routerproto.PhaseReconcile && s.complete(now) && !r.rib.pending() {
		stats, err := r.manager.SweepStale()
		s.phase = routerproto.PhaseRun
		r.count("remove the routes of an earlier router", stats, err)
		if s.earlier {
			r.log.Info("routes of the earlier router process are reconciled",
				"removed", stats.RoutesDeleted, "after", now.Sub(r.started).Round(time.Millisecond))
		}
	}
}

// reachable is false while the link to a neighbour is known to be down.
func (r *router) reachable(neighbor string) bool {
	t := r.tunnels.byInterface(r.neighbors[neighbor].Interface)
	return t == nil || t.up
}
