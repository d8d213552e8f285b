package daemon

import (
	"reflect"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/routing/lookup"
	"github.com/ipsecd/ipsecd/routing/srcroute"
	"github.com/ipsecd/ipsecd/xfrm"
)

// sourceRoutes are the routes that give policy-based tunnels their source address.
// They follow from the policies that are installed.
type sourceRoutes struct {
	open    func(table, priority int, ways lookup.Filter) srcroute.Kernel // nil: never any
	conf    config.SourceRoutes
	ways    lookup.Filter
	manager *srcroute.Manager // nil: not wanted
}

// configure makes the routes those that a configuration wants.
func (s *sourceRoutes) configure(c config.SourceRoutes, ways lookup.Filter) error {
	if s.open == nil || c == s.conf && reflect.DeepEqual(ways, s.ways) {
		return nil
	}
	var err error
	if s.manager != nil {
		err = s.manager.Clear()
	}
	s.conf, s.ways, s.manager = c, ways, nil
	if c.Install {
		s.manager = srcroute.New(s.open(int(c.Table), int(c.Priority), ways))
	}
	return err
}

// follow makes the routes those of the installed policies.
func (in *installer) followPolicies() {
	if m := in.routes.manager; m != nil {
		in.report("source route", m.Set(in.policyTunnels()))
	}
}

// policyTunnels lists the outbound policies in tunnel mode. A tunnel with an
// interface has routes of its own, and so has one for marked packets, as those of
// VTI interfaces: a route would draw packets without the mark to where they must not go.
func (in *installer) policyTunnels() []srcroute.Tunnel {
	var out []srcroute.Tunnel
	for _, p := range in.policies.all() {
		if p.Dir != xfrm.DirOut || len(p.Templates) == 0 || p.Templates[0].Mode != xfrm.Tunnel || !p.Templates[0].Src.IsValid() || !p.Mark.IsZero() || p.IfID != 0 && !in.routes.conf.Interfaces {
			continue
		}
		out = append(out, srcroute.Tunnel{Local: p.Selector.Src, Remote: p.Selector.Dst, From: p.Templates[0].Src, Peer: p.Templates[0].Dst})
	}
	return out
}

// auditRoutes looks again which way each tunnel goes.
func (in *installer) auditRoutes() {
	if m := in.routes.manager; m != nil {
		in.report("source route", m.Refresh())
	}
}

// clearRoutes takes the routes and their rules out. Nothing puts them back.
func (in *installer) clearRoutes() error {
	m := in.routes.manager
	if m == nil {
		return nil
	}
	in.routes.manager = nil
	return m.Clear()
}
