package metrics

import "github.com/ipsecd/ipsecd/cmd/internal/routerproto"

var (
	routerUp     = gauge("router_up", "1 if the router process runs and has reported.")
	peerUp       = gauge("bgp_peer_up", "1 if the BGP session is established.", "neighbor")
	peerFlaps    = counter("bgp_peer_flaps_total", "BGP sessions lost since the router process started.", "neighbor")
	prefixes     = gauge("bgp_prefixes", "Prefixes received from (in) and advertised to (out) the neighbour.", "neighbor", "direction")
	routes       = gauge("routes_installed", "Learned routes in the kernel.")
	nexthops     = gauge("route_nexthops", "Tunnels and links that the learned routes use.")
	routeErrors  = counter("route_errors_total", "Route changes that the kernel refused, since the router process started.")
	failovers    = counter("failovers_total", "Tunnels lost while routes used them, since the router process started.")
	failoverTime = gauge("last_failover_duration_seconds", "From the kernel's event of the last lost tunnel until no route used it.")
	failoverAt   = gauge("last_failover_timestamp_seconds", "When a tunnel was last lost while routes used it.")
	guards       = gauge("guards_installed", "Protected prefixes whose blackhole route is in the kernel.")
)

// collectRouter has no samples but one while there is no router.
func collectRouter(s sink, r *routerproto.Status) {
	s.flag(routerUp, r != nil)
	if r == nil {
		return
	}
	for i := range r.Peers {
		p := &r.Peers[i]
		s.flag(peerUp, p.State == "Established", p.Name)
		s.put(peerFlaps, float64(p.Flaps), p.Name)
		s.put(prefixes, float64(p.PrefixesReceived), p.Name, "in")
		s.put(prefixes, float64(p.PrefixesAdvertised), p.Name, "out")
	}
	s.put(routes, float64(r.Counters.RoutesInstalled))
	s.put(nexthops, float64(r.Counters.RouteNexthops))
	s.put(routeErrors, float64(r.Counters.ApplyErrors))
	s.put(failovers, float64(r.Counters.Failovers))
	installed := 0
	for _, g := range r.Guards {
		if g.Installed {
			installed++
		}
	}
	s.put(guards, float64(installed))
	if f := r.LastFailover; f != nil {
		s.put(failoverTime, f.Duration.Seconds())
		s.at(failoverAt, f.Time)
	}
}
