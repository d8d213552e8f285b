package router

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/routing"
)

// take fetches what BGP has to say. Nothing is written here.
func (r *router) take() {
	b := r.source.Take()
	for _, u := range b.Updates {
		r.rib.update(u)
	}
	r.counters.PrefixUpdates += uint64(len(b.Updates))
	for _, e := range b.EndOfRIB {
		r.start.endOfRIB(e.Neighbor)
	}
	if len(b.Sessions)+len(b.EndOfRIB) > 0 {
		r.peers.soon()
	}
	for _, s := range b.Sessions {
		if s.Up {
			r.gateways.stale = true
		} else {
			r.start.sessionLost(s.Neighbor)
		}
	}
	r.changed = true
}

// ready is a channel that always has a value.
var ready = func() <-chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

// work has a value while there are prefixes to write.
func (r *router) work() <-chan struct{} {
	if r.cfg == nil || r.start.phase == routerproto.PhaseHold || !r.rib.pending() {
		return nil
	}
	return ready
}

// write brings some of the marked prefixes into the kernel.
func (r *router) write() {
	for _, p := range r.rib.next(writeChunk) {
		r.set(p)
	}
	stats, err := r.manager.Apply()
	r.count("write routes", stats, err)
}

// set hands one prefix to the manager.
func (r *router) set(p netip.Prefix) {
	id := routing.RouteID{Prefix: p}
	legs, why := r.legs(p, r.rib.paths[p])
	if why == "" {
		delete(r.rib.refused, p)
	} else {
		r.rib.refused[p] = why
	}
	if len(legs) == 0 {
		r.manager.Withdraw(id)
		return
	}
	err := r.manager.Set(routing.Route{RouteID: id, Legs: legs})
	var refused *routing.RefusedError
	if err != nil && !errors.As(err, &refused) { // a refusal is in the route's status
		r.rib.refused[p] = err.Error()
		r.manager.Withdraw(id)
	}
}

// count adds up what a call of the manager did. A failure stays in the status
// until the next call succeeds in what failed.
func (r *router) count(what string, s routing.Stats, err error) {
	c := &r.counters
	c.GroupUpdates += uint64(s.GroupUpdates)
	c.RouteWrites += uint64(s.RoutesAdded + s.RoutesChanged)
	c.RouteDeletes += uint64(s.RoutesDeleted)
	r.changed = true
	if err == nil {
		return
	}
	c.ApplyErrors++
	r.problem("kernel", fmt.Errorf("%s: %w", what, summary(err)))
}

// summary shortens the failures of a thousand routes to one.
func summary(err error) error {
	var all routing.Errors
	if errors.As(err, &all) && len(all) > 1 {
		return fmt.Errorf("%w, and %d more", all[0], len(all)-1)
	}
	return err
}

// retry tries again what failed.
func (r *router) retry() {
	if _, ok := r.problems["kernel"]; ok {
		stats, err := r.manager.Resync()
		if err == nil {
			r.problem("kernel", nil)
		}
		r.count("write routes again", stats, err)
	}
	if r.gateways.failed() {
		r.gateways.stale = true
	}
}
