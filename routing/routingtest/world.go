package routingtest

import (
	"slices"

	"github.com/ipsecd/ipsecd/routing"
)

// SetLink creates a link or changes it, and announces that. A link that goes
// down loses its nexthop objects.
func (k *Kernel) SetLink(l routing.Link) {
	k.links[l.Index] = l
	if !l.Up {
		k.flush(l.Index)
	}
	k.announce(routing.Event{Kind: routing.LinkEvent, Link: l})
}

// RemoveLink deletes a link.
func (k *Kernel) RemoveLink(index int) {
	l := k.links[index]
	l.Up = false
	delete(k.links, index)
	k.flush(index)
	k.announce(routing.Event{Kind: routing.LinkEvent, Deleted: true, Link: l})
}

// flush removes what uses a link, without announcing it: neither does Linux.
func (k *Kernel) flush(index int) {
	for id, o := range k.nexthops {
		if o.Group == nil && o.Index == index {
			k.removeNexthop(id)
		}
	}
	for id, r := range k.routes {
		if r.NexthopID != 0 || r.Kind != routing.Unicast {
			continue
		}
		alive := slices.ContainsFunc(r.Hops, func(h routing.Hop) bool { return k.links[h.Index].Up })
		if !alive {
			delete(k.routes, id)
		}
	}
}

// Foreign executes an op on behalf of another program, and announces it. Unlike
// Apply it creates what it should replace.
func (k *Kernel) Foreign(op routing.Op) error {
	switch op.Verb {
	case routing.ReplaceNexthop:
		if _, ok := k.nexthops[op.Nexthop.ID]; !ok {
			op.Verb = routing.AddNexthop
		}
	case routing.ReplaceRoute:
		if _, ok := k.routes[op.Route.RouteID]; !ok {
			op.Verb = routing.AddRoute
		}
	}
	ev := routing.Event{Kind: routing.RouteEvent, Nexthop: op.Nexthop, Route: op.Route}
	if op.Verb == routing.DeleteRoute {
		ev.Route = k.routes[op.Route.RouteID]
	}
	if err := k.apply(op); err != nil {
		return err
	}
	if op.Verb <= routing.DeleteNexthop {
		ev.Kind = routing.NexthopEvent
	}
	ev.Deleted = op.Verb == routing.DeleteNexthop || op.Verb == routing.DeleteRoute
	k.announce(ev)
	return nil
}

// Mute drops events from now on, or stops dropping them; the reader then
// learns that some were lost.
func (k *Kernel) Mute(mute bool) {
	k.muted = mute
	if !mute && k.lost {
		k.lost = false
		k.announce(routing.Event{Kind: routing.Lost})
	}
}

func (k *Kernel) announce(ev routing.Event) {
	if k.muted || len(k.events) == cap(k.events) {
		k.lost = true
		return
	}
	k.events <- ev
}

// Pending returns the events that wait, without waiting.
func (k *Kernel) Pending() []routing.Event {
	var out []routing.Event
	for len(k.events) > 0 {
		out = append(out, <-k.events)
	}
	return out
}
