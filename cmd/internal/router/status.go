package router

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/bgp"
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/routing"
)

// report sends the status.
func (r *router) report(now time.Time) {
	r.changed, r.reported = false, now
	s := &routerproto.Status{
		Time: now, Started: r.started, Phase: r.start.phase,
		LastFailover: r.failover, Counters: r.counters,
		Problems: slices.Sorted(maps.Values(r.problems)),
	}
	if r.peers != nil {
		for _, p := range r.peers.latest() {
			s.Peers = append(s.Peers, r.peerStatus(p))
		}
	}
	r.routeStatus(s)
	for _, t := range r.tunnels {
		s.Tunnels = append(s.Tunnels, routerproto.TunnelStatus{
			Name: t.name, Interface: t.ifname, Up: t.up, Since: t.since, Routes: t.routes,
		})
	}
	for _, c := range r.sysctls {
		st := routerproto.Sysctl{Name: c.Name, Value: c.Have, Want: c.Want}
		if !c.OK() {
			st.Consequence = c.Why
		}
		s.Sysctls = append(s.Sysctls, st)
	}
	r.uplink.report(s)
}

func (r *router) peerStatus(p bgp.PeerStatus) routerproto.Peer {
	ifname := r.neighbors[p.Name].Interface
	if ifname == "" {
		if hop, err := r.gateways.resolve(p.Address); err == nil {
			ifname = hop.Interface
		}
	}
	return routerproto.Peer{
		Name: p.Name, Address: p.Address, AS: p.AS, Interface: ifname, State: p.State, Since: p.Since,
		Restarting: p.Restarting, EndOfRIB: p.EndOfRIB,
		PrefixesReceived: p.PrefixesReceived, PrefixesAdvertised: p.PrefixesAdvertised,
		MessagesIn: p.MessagesIn, MessagesOut: p.MessagesOut, Flaps: p.Flaps, LastError: p.LastError,
		RefusedCount: p.RefusedCount, Refused: p.Refused,
	}
}

// routeStatus fills in routes, guards, groups, the gauges, and the use of each tunnel.
func (r *router) routeStatus(s *routerproto.Status) {
	use := make(map[string]int) // routes by interface
	groups := newGroupCount()
	seen := make(map[netip.Prefix]bool)
	for _, st := range r.manager.Routes() {
		if st.Guard {
			s.Guards = append(s.Guards, routerproto.Guard{Prefix: st.Prefix, Installed: st.Installed, Reason: reason(st.Err)})
			continue
		}
		seen[st.Prefix] = true
		if st.Installed {
			s.Counters.RoutesInstalled++
			s.Counters.RouteNexthops += len(st.Active)
			groups.add(st.Active)
			for _, l := range st.Active {
				use[l.Interface]++
			}
		}
		if len(s.Routes) < routerproto.MaxStatusRoutes {
			s.Routes = append(s.Routes, r.oneRoute(st))
		}
	}
	r.unroutedStatus(s, seen)
	s.Groups = groups.list(r.nexthopStatus)
	for _, t := range r.tunnels {
		t.routes = use[t.ifname]
	}
}

func (r *router) oneRoute(st routing.RouteStatus) routerproto.Route {
	out := routerproto.Route{Prefix: st.Prefix, Metric: st.Metric, Installed: st.Installed}
	for _, l := range st.Legs {
		n := r.nexthopStatus(l)
		n.Up = slices.ContainsFunc(st.Active, func(a routing.Leg) bool { return a.Nexthop == l.Nexthop })
		out.Nexthops = append(out.Nexthops, n)
	}
	out.Reason = r.rib.refused[st.Prefix]
	switch {
	case st.Err != nil:
		out.Reason = st.Err.Error()
	case !st.Installed && out.Reason == "":
		out.Reason = "no next hop is up"
	}
	return out
}

// unroutedStatus lists the prefixes that have no route at all.
func (r *router) unroutedStatus(s *routerproto.Status, seen map[netip.Prefix]bool) {
	for _, p := range slices.SortedFunc(maps.Keys(r.rib.refused), comparePrefix) {
		if !seen[p] && len(s.Routes) < routerproto.MaxStatusRoutes {
			s.Routes = append(s.Routes, routerproto.Route{Prefix: p, Metric: r.cfg.Routing.Metric, Reason: r.rib.refused[p]})
		}
	}
}

func (r *router) nexthopStatus(l routing.Leg) routerproto.Nexthop {
	n := routerproto.Nexthop{Interface: l.Interface, Gateway: l.Gateway, Up: true}
	for _, c := range r.cfg.BGP.Neighbors {
		if c.Interface == l.Interface && c.Interface != "" || c.Address == l.Gateway {
			n.Neighbor = c.Name
			break
		}
	}
	return n
}

// groupCount counts the routes over each set of legs.
type groupCount struct {
	routes map[string]int
	legs   map[string][]routing.Leg
}

func newGroupCount() *groupCount {
	return &groupCount{routes: make(map[string]int), legs: make(map[string][]routing.Leg)}
}

func (g *groupCount) add(legs []routing.Leg) {
	key := fmt.Sprint(legs)
	g.routes[key]++
	g.legs[key] = legs
}

func (g *groupCount) list(hop func(routing.Leg) routerproto.Nexthop) (out []routerproto.Group) {
	for _, key := range slices.Sorted(maps.Keys(g.routes)) {
		group := routerproto.Group{Routes: g.routes[key]}
		for _, l := range g.legs[key] {
			group.Nexthops = append(group.Nexthops, hop(l))
		}
		out = append(out, group)
	}
	return out
}

func comparePrefix(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
