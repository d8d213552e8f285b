package daemon

import (
	"net/netip"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
)

// bgpPort is where neighbours connect to (RFC 4271 section 8.2.1).
const bgpPort = 179

// routerConfig is what the router process is told; nil if there is nothing for
// it to do.
func routerConfig(c *config.Config) *routerproto.Config {
	if c.BGP == nil && len(c.Protect) == 0 {
		return nil
	}
	r := &routerproto.Config{Routing: routerproto.Routing{
		Metric:         c.Routing.Metric,
		GuardMetric:    c.Routing.GuardMetric,
		MaxPaths:       c.Routing.MaxPaths,
		Table:          c.Routing.Table,
		SetSysctls:     c.Routing.Sysctls,
		Protect:        guardedByRoute(c),
		OuterEndpoints: outerEndpoints(c),
	}}
	for _, i := range c.Interfaces {
		r.Routing.Tunnels = append(r.Routing.Tunnels, routerproto.Tunnel{Name: i.Name, Interface: i.Name})
	}
	if c.BGP != nil {
		r.BGP = routerBGP(c.BGP)
	}
	return r
}

// routerConfig adds what only the daemon knows: where host names have led.
func (d *Daemon) routerConfig(c *config.Config) *routerproto.Config {
	r := routerConfig(c)
	if r != nil {
		r.Routing.OuterEndpoints = append(r.Routing.OuterEndpoints, d.names.addresses()...)
	}
	return r
}

func routerBGP(b *config.BGP) routerproto.BGP {
	r := routerproto.BGP{AS: b.AS, RouterID: b.RouterID, Networks: b.Networks}
	if b.Listen {
		r.ListenPort = bgpPort
	}
	for _, n := range b.Neighbors {
		r.Neighbors = append(r.Neighbors, routerproto.Neighbor{
			Name:         n.Name,
			Address:      n.Address,
			LocalAddress: n.LocalAddress,
			AS:           n.AS,
			Interface:    n.Interface,
			HoldTime:     n.HoldTime,
			Keepalive:    n.Keepalive,
			ConnectRetry: n.ConnectRetry,
			Passive:      n.Passive,
			Password:     routerproto.Secret(n.Password),
			Import:       n.Import,
			ImportMax:    n.MaxPrefixes,
		})
	}
	return r
}

// outerEndpoints are the peers' single addresses: no learned route may send
// their packets into a tunnel.
func outerEndpoints(c *config.Config) []netip.Addr {
	seen := map[netip.Addr]bool{}
	var out []netip.Addr
	for _, conn := range c.IKE.Connections {
		for _, m := range conn.RemoteAddrs {
			if a, ok := m.Single(); ok && !seen[a] {
				seen[a] = true
				out = append(out, a)
			}
		}
	}
	return out
}

// A protected prefix is guarded by a blackhole route where tunnels are
// interfaces, and by block policies where a policy-based child serves it:
// there the packets need the ordinary route.
func guardedByPolicy(c *config.Config) []netip.Prefix { return guarded(c, true) }

func guardedByRoute(c *config.Config) []netip.Prefix { return guarded(c, false) }

func guarded(c *config.Config, byPolicy bool) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range c.Protect {
		if servedByPolicy(c, p) == byPolicy {
			out = append(out, p)
		}
	}
	return out
}

func servedByPolicy(c *config.Config, p netip.Prefix) bool {
	for _, conn := range c.IKE.Connections {
		for _, child := range conn.Children {
			if child.HasInterface(conn) || child.Mode.Shunt() {
				continue
			}
			for _, ts := range child.RemoteTS {
				if !ts.Dynamic && ts.Start.Compare(last(p)) <= 0 && p.Masked().Addr().Compare(ts.End) <= 0 && ts.Start.Is4() == p.Addr().Is4() {
					return true
				}
			}
		}
	}
	return false
}
