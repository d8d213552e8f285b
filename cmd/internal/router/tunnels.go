package router

import (
	"fmt"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/routing"
)

// tunnel is an interface that is up while its Child SA is installed.
type tunnel struct {
	name, ifname string
	up           bool
	since        time.Time
	routes       int // that used it at the last status
}

// tunnels are in the order of the configuration.
type tunnels []*tunnel

func (ts tunnels) byInterface(name string) *tunnel {
	for _, t := range ts {
		if t.ifname == name {
			return t
		}
	}
	return nil
}

func (ts tunnels) has(ifname string) bool { return ts.byInterface(ifname) != nil }

func (ts tunnels) names() (out []string) {
	for _, t := range ts {
		out = append(out, t.ifname)
	}
	return out
}

// setTunnels takes over a list of tunnels and the state of their links.
func (r *router) setTunnels(list []routerproto.Tunnel) error {
	var next tunnels
	for _, c := range list {
		t := r.tunnels.byInterface(c.Interface)
		if t == nil {
			t = &tunnel{ifname: c.Interface}
		}
		t.name = c.Name
		next = append(next, t)
	}
	r.tunnels = next
	return r.readTunnels()
}

// readTunnels asks the kernel for the state of all links.
func (r *router) readTunnels() error {
	links, err := r.opt.Kernel.Links()
	if err != nil {
		return fmt.Errorf("router: read links: %w", err)
	}
	up := make(map[string]bool)
	for _, l := range links {
		up[l.Name] = l.Up
	}
	for _, t := range r.tunnels {
		t.set(up[t.ifname], time.Now())
	}
	return nil
}

func (t *tunnel) set(up bool, now time.Time) (changed bool) {
	if t.up == up && !t.since.IsZero() {
		return false
	}
	changed = t.up != up
	t.up, t.since = up, now
	return changed
}

// kernelEvent lets the manager repair what an event says, and measures how long
// a lost tunnel was still in use.
func (r *router) kernelEvent(ev stamped) {
	if r.manager == nil {
		return // nothing is read yet
	}
	waited := time.Since(ev.at)
	stats, err := r.manager.HandleEvent(ev.Event)
	r.count("follow a change of the kernel", stats, err)
	switch ev.Kind {
	case routing.LinkEvent:
		r.linkEvent(ev, waited, stats)
	case routing.Lost:
		r.problem("links", r.readTunnels())
		r.gateways.stale = true
	case routing.RouteEvent:
		if ev.Route.Protocol != routing.Protocol {
			r.gateways.stale = true
		}
	}
}

func (r *router) linkEvent(ev stamped, waited time.Duration, stats routing.Stats) {
	t := r.tunnels.byInterface(ev.Link.Name)
	if t == nil {
		r.gateways.stale = true
		return
	}
	up := ev.Link.Up && !ev.Deleted
	if !t.set(up, ev.at) {
		return
	}
	if up {
		r.log.Info("tunnel up: it is used again", "tunnel", t.name, "interface", t.ifname)
		return
	}
	r.counters.Failovers++
	r.failover = &routerproto.Failover{
		Tunnel: t.name, Interface: t.ifname, Time: ev.at,
		Duration: waited + stats.Switched, Groups: stats.GroupUpdates, Routes: t.routes,
	}
	r.log.Warn("tunnel down: its share moved to the others", "tunnel", t.name, "interface", t.ifname,
		"took", r.failover.Duration, "groups", stats.GroupUpdates, "routes", t.routes, "still_up", r.upCount())
}

func (r *router) upCount() (n int) {
	for _, t := range r.tunnels {
		if t.up {
			n++
		}
	}
	return n
}
