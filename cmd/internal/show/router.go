package show

import (
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
)

// stateEstablished is RFC 4271's state of a session that is up.
const stateEstablished = "Established"

// The kinds of routes.
const (
	kindBGP   = "bgp"
	kindGuard = "guard"
)

func addRouter(r *Report, st *routerproto.Status, restarts int) {
	r.Router = &Router{
		Phase:           st.Phase,
		Started:         st.Started,
		Restarts:        restarts,
		RoutesInstalled: st.Counters.RoutesInstalled,
		RouteNexthops:   st.Counters.RouteNexthops,
		Failovers:       st.Counters.Failovers,
		Problems:        st.Problems,
	}
	if f := st.LastFailover; f != nil {
		r.Router.Failover = &Failover{Interface: f.Interface, At: f.Time, Seconds: f.Duration.Seconds(), Groups: f.Groups, Routes: f.Routes}
	}
	for _, p := range st.Peers {
		r.BGP = append(r.BGP, Peer{
			Name:       p.Name,
			Address:    p.Address.String(),
			AS:         p.AS,
			Interface:  p.Interface,
			State:      p.State,
			Since:      p.Since,
			Received:   p.PrefixesReceived,
			Advertised: p.PrefixesAdvertised,
			Refused:    p.RefusedCount,
			In:         p.MessagesIn,
			Out:        p.MessagesOut,
			Flaps:      p.Flaps,
			LastError:  p.LastError,
		})
	}
	for _, rt := range st.Routes {
		r.Routes = append(r.Routes, learned(rt))
	}
	for _, g := range st.Guards {
		r.Routes = append(r.Routes, Route{Prefix: g.Prefix.String(), Kind: kindGuard, Installed: g.Installed, Reason: g.Reason})
	}
}

func learned(rt routerproto.Route) Route {
	out := Route{Prefix: rt.Prefix.String(), Kind: kindBGP, Metric: rt.Metric, Group: rt.Group, Installed: rt.Installed, Reason: rt.Reason}
	for _, n := range rt.Nexthops {
		out.Nexthops = append(out.Nexthops, nexthop(n))
	}
	return out
}

// nexthop writes a nexthop as ip-route(8) does.
func nexthop(n routerproto.Nexthop) string {
	s := "dev " + n.Interface
	if n.Gateway.IsValid() {
		s = "via " + n.Gateway.String() + " " + s
	}
	if !n.Up {
		s += " (down)"
	}
	return s
}
