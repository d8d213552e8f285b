package config

import (
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// checked remembers what checking each connection has found, as long as the credentials are the same.
type checked struct {
	with     *loadedCredentials
	folders  bool        // those of the folders, too
	store    *auth.Store // nil: nobody needs it
	verdicts map[*ike.Connection]verdict
}

// verdict is what checking a connection has found.
type verdict struct {
	connection *ike.Connection // to be used in its place
	errs       []error
	warnings   []Warning
}

// check makes the Store and checks each connection that has not been checked with the same credentials before.
func (f *Files) check(l *loader, p *Loaded) {
	var with *loadedCredentials
	if p != nil {
		with = p.loadedCredentials
	}
	k, conns := &f.checked, l.config.IKE.Connections
	if k.verdicts == nil || k.with != with || k.folders != l.creds.used || len(k.verdicts) > 2*len(conns) {
		*k = checked{with: with, folders: l.creds.used, verdicts: map[*ike.Connection]verdict{}}
		if l.creds.used {
			k.store = l.store()
		}
	}
	l.config.IKE.Credentials = k.store
	faulty, others := mistaken(l.errs)
	for i, c := range conns {
		if c.OnlyShunts() {
			continue // no peer is ever spoken to
		}
		v, ok := k.verdicts[c]
		if !ok {
			v = l.verdict(c, faulty[part{connection: c.Name}] || len(others) > 0)
			within(part{connection: c.Name}, v.errs)
			k.verdicts[c] = v
		}
		conns[i] = v.connection
		l.errs = append(l.errs, v.errs...)
		l.config.Warnings = append(l.config.Warnings, v.warnings...)
	}
	if len(l.errs) > 0 {
		k.verdicts = nil // they are incomplete
	}
}

// verdict checks a connection.
func (l *loader) verdict(c *ike.Connection, faulty bool) verdict {
	part := l.blank()
	c = part.checkStart(c)
	part.checkSecret(c)
	part.checkPPK(c)
	if !faulty { // by a missing file, most likely
		c = part.checkCertificates(c)
	}
	part.checkEndpoints(c)
	return verdict{c, part.errs, part.config.Warnings}
}

// checkStart points out a connection that does nothing, and start actions of what has nowhere to connect
// to. As with charon those do nothing, while the connection is there for its peers.
func (l *loader) checkStart(c *ike.Connection) *ike.Connection {
	if len(c.Children) == 0 {
		l.warn(place(c), "connections.%s has no children: it protects nothing", c.Name)
	}
	for i, child := range c.Children {
		if why := startless(c, child, child.StartAction); why != "" {
			l.leave(leftOut{connection: c.Name, child: child.Name, start: true}, place(c), "connections.%s.children.%s: start_action is without effect: %s", c.Name, child.Name, why)
			passive, checked := *child, *c
			passive.StartAction = ike.ActionClear
			checked.Children = slices.Clone(c.Children)
			checked.Children[i] = &passive
			c = &checked
		}
	}
	return c
}

// NoTrap says why a client cannot have a trap of a child installed; it is empty if it can.
func NoTrap(c *ike.Connection, child *ike.ChildConfig) string {
	return startless(c, child, ike.ActionTrap)
}

// startless says why a start action can do nothing, for want of a single address to connect to.
func startless(c *ike.Connection, child *ike.ChildConfig, action ike.ChildAction) string {
	if _, ok := firstSingle(c.RemoteAddrs); ok {
		return ""
	}
	named := slices.ContainsFunc(c.RemoteAddrs, func(m ike.AddrMatch) bool { return m.Name != "" })
	_, _, anyPeer := c.AnyPeerTrap(child)
	trap := action.Traps()
	switch {
	case action == ike.ActionClear || child.Mode.Shunt() || named && !trap || trap && anyPeer:
		return ""
	case named:
		return "a trap needs an address in remote_addrs besides host names, for its policies"
	case trap && child.Mode == ike.ModeTunnel:
		return "a trap in tunnel mode needs a single address in remote_addrs, for its policies; set it, or mode = transport to trap for any peer"
	default:
		return "remote_addrs has no single address to connect to; set it, or start_action = none"
	}
}

func firstSingle(list []ike.AddrMatch) (netip.Addr, bool) {
	for _, m := range list {
		if a, ok := m.Single(); ok {
			return a, true
		}
	}
	return netip.Addr{}, false
}

// checkSecret refuses a connection for which there is no pre-shared key. Where an
// identity is only known when the peer connects, any key may turn out to fit.
func (l *loader) checkSecret(c *ike.Connection) {
	if c.Local.Method != ike.AuthPSK && c.Remote.Method != ike.AuthPSK {
		return
	}
	local, localKnown := identity(c.Local, c.LocalAddrs)
	remote, remoteKnown := identity(c.Remote, c.RemoteAddrs)
	secrets := l.config.IKE.Secrets
	if len(auth.Lookup(secrets, local, remote)) > 0 {
		return
	}
	if len(secrets) > 0 && (!localKnown || !remoteKnown) {
		return
	}
	l.lacks(c, "connections.%s has no pre-shared key: no ike section of secrets has the id %s or %s", c.Name, remote, local)
}

// lacks reports that a connection has not the credentials that it needs. That of a client may get them later: clients
// load and unload in any order.
func (l *loader) lacks(c *ike.Connection, format string, args ...any) {
	if place(c).File == LoadedFile {
		l.warn(place(c), format, args...)
		return
	}
	l.fail(place(c), format, args...)
}

// identity returns who an end is, as far as the configuration says.
func identity(a ike.AuthConfig, addrs []ike.AddrMatch) (auth.Identity, bool) {
	if !a.ID.IsAny() {
		return a.ID, true
	}
	if addr, ok := firstSingle(addrs); ok && len(addrs) == 1 {
		return auth.FromAddr(addr), true
	}
	return auth.Identity{}, false
}

// checkEndpoints refuses a tunnel that ends inside of a protected network: its
// own packets would be held back by the guard.
func (l *loader) checkEndpoints(c *ike.Connection) {
	for _, m := range c.RemoteAddrs {
		addr, ok := m.Single()
		if !ok {
			continue
		}
		for _, p := range l.config.Protect {
			if p.Contains(addr) {
				l.fail(place(c), "connections.%s.remote_addrs: %v is inside of the protected network %v (%s); the tunnel to it could never come up", c.Name, addr, p, l.config.protectAt)
			}
		}
	}
}

// checkSharedPolicies warns about children whose policies the kernel cannot
// tell apart: the later one would replace the earlier.
func (l *loader) checkSharedPolicies() {
	type policy struct {
		local, remote ike.TrafficSelector
		ifID          uint32
		own           string
		mark          ike.Mark
		priority      uint32
	}
	first := map[policy]string{}
	check := func(conn *ike.Connection, c *ike.ChildConfig) {
		if c.IfIDOutBy != ike.NumberConfigured || c.MarkOutBy != ike.NumberConfigured {
			return
		}
		own := "" // the connection whose IKE SAs have if_ids of their own, for the child too
		if c.IfIDOut == 0 && conn.IfIDOutBy != ike.NumberConfigured {
			own = conn.Name
		}
		path := "connections." + conn.Name + ".children." + c.Name
		locals, remotes := c.LocalTS, c.RemoteTS
		if l, r, ok := conn.AnyPeerTrap(c); ok && c.StartAction.Traps() {
			locals, remotes = l, r
		}
		for _, local := range locals {
			for _, remote := range remotes {
				if local.Dynamic || remote.Dynamic || !c.Policies || c.Mode.Shunt() {
					continue
				}
				p := policy{local, remote, c.IfIDOut, own, c.MarkOut, c.Priority}
				if other, ok := first[p]; ok && other != path {
					l.warn(positionOf(c.Source), "%s has the selectors and if_id of %s: only one of the two can carry traffic", path, other)
				}
				first[p] = path
			}
		}
	}
	for _, conn := range l.config.IKE.Connections {
		for _, c := range conn.Children {
			check(conn, c)
		}
	}
}

// checkInterfaces points out interfaces that nothing brings up.
func (l *loader) checkInterfaces() {
	used := map[string]bool{}
	for _, conn := range l.config.IKE.Connections {
		for _, c := range conn.Children {
			used[c.Interface] = true
		}
	}
	for _, i := range l.config.Interfaces {
		if !used[i.Name] {
			l.warn(i.Position, "interfaces.%s stays down: no child has interface = %s or its if_id", i.Name, i.Name)
		}
	}
}
