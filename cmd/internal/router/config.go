package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/bgp"
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/routing"
)

// configure applies a configuration: the first one starts everything, a later
// one changes only what differs.
func (r *router) configure(ctx context.Context, cfg *routerproto.Config) error {
	first := r.cfg == nil
	if !first && nothingToDo(cfg) {
		// It names no table, and the routes to remove are in the present one.
		c := &cfg.Routing
		c.Table, c.Metric, c.GuardMetric = r.cfg.Routing.Table, r.cfg.Routing.Metric, r.cfg.Routing.GuardMetric
	}
	if !first && tablesOf(&r.cfg.Routing) != tablesOf(&cfg.Routing) {
		return ErrNeedsRestart
	}
	r.cfg = cfg
	r.neighbors = make(map[string]routerproto.Neighbor, len(cfg.BGP.Neighbors))
	for _, n := range cfg.BGP.Neighbors {
		r.neighbors[n.Name] = n
	}
	if first {
		if err := r.open(); err != nil {
			return err
		}
	}
	if err := r.setTunnels(cfg.Routing.Tunnels); err != nil {
		return err
	}
	if err := r.policy(first); err != nil {
		return err
	}
	r.checkSysctls()
	if err := r.startSource(ctx); err != nil {
		return err
	}
	r.start.neighborsChanged(r.neighbors)
	r.gateways.forget()
	r.rib.touchAll()
	r.changed = true
	return nil
}

func nothingToDo(c *routerproto.Config) bool {
	return len(c.BGP.Neighbors) == 0 && len(c.Routing.Protect) == 0
}

// tablesOf is what a manager cannot change, with defaults filled in.
func tablesOf(c *routerproto.Routing) routing.Config {
	return routing.Config{
		Table:       cmp.Or(c.Table, routing.DefaultTable),
		Metric:      cmp.Or(c.Metric, routing.DefaultMetric),
		GuardMetric: cmp.Or(c.GuardMetric, routing.DefaultGuardMetric),
	}
}

// open reads the kernel. It writes nothing.
func (r *router) open() error {
	c := &r.cfg.Routing
	m, err := routing.New(r.opt.Kernel, tablesOf(c))
	if err != nil {
		return fmt.Errorf("router: %w", err)
	}
	r.manager = m
	earlier, err := r.earlierRoutes()
	if err != nil {
		return fmt.Errorf("router: %w", err)
	}
	if earlier > 0 {
		r.log.Info("routes of an earlier router process are in the kernel and will be reconciled", "routes", earlier)
	}
	r.start = newStartup(time.Now(), c, earlier > 0)
	return nil
}

// earlierRoutes counts the learned routes that a router before this one left.
func (r *router) earlierRoutes() (n int, err error) {
	routes, err := r.opt.Kernel.Routes()
	for _, e := range routes {
		if e.Protocol == routing.Protocol && e.Kind == routing.Unicast &&
			e.NexthopID >= routing.MinNexthopID && e.NexthopID <= routing.MaxNexthopID {
			n++
		}
	}
	return n, err
}

// policy installs the guards before anything else is written, and keeps those
// that are there.
func (r *router) policy(first bool) error {
	c := &r.cfg.Routing
	p := routing.Policy{OuterEndpoints: c.OuterEndpoints, Tunnels: r.tunnels.names()}
	if len(p.Tunnels) == 0 {
		// None would mean that every interface is one.
		p.Tunnels = []string{""}
	}
	for _, prefix := range c.Protect {
		p.Guards = append(p.Guards, routing.Guard{RouteID: routing.RouteID{Prefix: prefix}})
	}
	if err := r.manager.SetPolicy(p); err != nil {
		return fmt.Errorf("router: %w", err)
	}
	if first {
		if err := r.manager.Start(); err != nil {
			return fmt.Errorf("router: %w", err)
		}
	}
	stats, err := r.manager.Apply()
	r.count("install the guard routes", stats, err)
	return nil
}

// startSource starts BGP, changes it, or stops it when it has no neighbours.
func (r *router) startSource(ctx context.Context) error {
	cfg := bgpConfig(r.cfg, r.tunnels)
	switch {
	case len(cfg.Neighbors) == 0 && r.source == nil:
		return nil
	case len(cfg.Neighbors) == 0:
		r.peers.stop()
		r.source.Stop()
		r.source, r.peers = nil, nil
		r.rib.withdrawAll()
		r.problem("bgp", nil)
		return nil
	case r.source == nil:
		cfg.Restarting = r.start.earlier
		s, err := r.opt.NewSource(cfg, r.log)
		if err != nil {
			// The guards stay in force; the next configuration may be better.
			r.problem("bgp", err)
			return nil
		}
		r.source, r.peers = s, pollPeers(s)
		r.problem("bgp", nil)
		return nil
	}
	err := r.source.Reconfigure(ctx, cfg)
	if errors.Is(err, bgp.ErrNeedsRestart) {
		return ErrNeedsRestart
	}
	r.problem("bgp", err)
	return nil
}

// bgpConfig translates, and keeps protected prefixes from neighbours that are
// not behind a tunnel.
func bgpConfig(c *routerproto.Config, t tunnels) bgp.Config {
	b := &c.BGP
	out := bgp.Config{
		AS: b.AS, RouterID: b.RouterID, Networks: b.Networks,
		ListenPort: b.ListenPort, ListenAddresses: b.ListenAddresses,
	}
	for _, n := range b.Neighbors {
		var refuse []netip.Prefix
		if !t.has(n.Interface) {
			refuse = c.Routing.Protect
		}
		out.Neighbors = append(out.Neighbors, bgp.Neighbor{
			Name: n.Name, Address: n.Address, LocalAddress: n.LocalAddress, AS: n.AS, Interface: n.Interface,
			RemotePort: n.RemotePort, HoldTime: n.HoldTime, Keepalive: n.Keepalive, ConnectRetry: n.ConnectRetry,
			Passive: n.Passive, MultihopTTL: n.MultihopTTL, TTLSecurity: n.TTLSecurity,
			Password: bgp.Secret(n.Password), Import: n.Import, Refuse: refuse, ImportMax: n.ImportMax,
			NoGracefulRestart: n.NoGracefulRestart, RestartTime: n.RestartTime,
		})
	}
	return out
}

func (r *router) checkSysctls() {
	r.sysctls = routing.CheckSysctls(r.opt.Sysctls, r.cfg.Routing.SetSysctls)
	for _, s := range r.sysctls {
		switch {
		case s.Changed:
			r.log.Info("set a kernel setting", "name", s.Name, "value", s.Have)
		case !s.OK():
			r.log.Warn("a kernel setting is not as multipath routing wants it: "+s.Why,
				"name", s.Name, "value", s.Have, "want", s.Want, "error", s.Err)
		}
	}
}
