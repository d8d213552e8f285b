package ike

import (
	"fmt"
	"net/netip"
	"slices"
)

// hostNames is what became of the host names of a connection's remote_addrs.
type hostNames struct {
	known   map[string][]netip.Addr
	asked   bool  // a Resolve action is under way
	fresh   bool  // its answer is here, for the next attempt
	askedAt int64 // in Unix seconds
	err     error // of the last look-up
}

// hostNames lists what must be looked up before an attempt, after a redirect its target.
func (c *connection) hostNames() []string {
	if c.redirect.active() {
		if c.redirect.to.name != "" {
			return []string{c.redirect.to.name}
		}
		return nil
	}
	return c.cfg.remoteNames()
}

func (c *Connection) remoteNames() []string {
	var list []string
	for _, m := range c.RemoteAddrs {
		if m.Name != "" {
			list = append(list, m.Name)
		}
	}
	return list
}

// remotes lists the addresses to try, in configured order, each name standing for what it led to.
func (c *connection) remotes() []netip.Addr {
	if c.redirect.active() {
		to := c.redirect.to
		if to.name == "" {
			return []netip.Addr{to.addr}
		}
		return c.names.known[to.name]
	}
	if c.of != nil {
		return []netip.Addr{c.peer}
	}
	var all []netip.Addr
	for _, m := range c.cfg.RemoteAddrs {
		if a, ok := m.Single(); ok && !a.IsUnspecified() {
			all = append(all, a)
		}
		all = append(all, c.names.known[m.Name]...)
	}
	return all
}

// matches lists which addresses the peer may have, with those that the names led to last.
func (c *connection) matches() []AddrMatch {
	list := c.cfg.RemoteAddrs
	for _, name := range c.cfg.remoteNames() {
		for _, a := range c.names.known[name] {
			list = append(slices.Clip(list), AddrMatch{Prefix: netip.PrefixFrom(a, a.BitLen())})
		}
	}
	return list
}

// lookUp asks for the addresses of a connection's host names. They are looked up again for each attempt.
func (e *Engine) lookUp(c *connection) {
	if list := c.hostNames(); len(list) > 0 && !c.names.asked {
		c.names.asked, c.names.askedAt = true, e.now.Unix()
		e.do(Resolve{Connection: c.cfg.Name, Names: list})
	}
}

// resolved takes the addresses and goes on with the attempt. A name that cannot be looked up leads where it last did.
func (e *Engine) resolved(ev Resolved) {
	c := e.byName[ev.Connection]
	if c == nil {
		return
	}
	for _, one := range append([]*connection{c}, c.peers...) { // a peer can redirect us to a name
		if one.names.asked {
			e.resolvedFor(one, ev)
		}
	}
}

func (e *Engine) resolvedFor(c *connection, ev Resolved) {
	c.names.asked, c.names.fresh = false, true
	if c.names.known == nil {
		c.names.known = map[string][]netip.Addr{}
	}
	for name, addrs := range ev.Addrs {
		c.names.known[name] = addrs[:min(len(addrs), maxNameAddrs)]
	}
	if c.names.err = ev.Err; ev.Err != nil {
		e.emit(Note{Kind: NoteAlert, Alert: AlertPeerAddrFailed, Connection: c.cfg.Name})
	}
	e.directory = newDirectory(e.connections)
	e.ensure(c)
}

// nowhere explains an attempt that has no address to go to.
func (c *connection) nowhere() string {
	if list := c.hostNames(); len(list) > 0 {
		return fmt.Sprintf("cannot look up %v: %v (connections.%s.remote_addrs, %s)", list, c.names.err, c.cfg.Name, c.cfg.Source)
	}
	if c.cfg.anyPeer() {
		return "no single address in remote_addrs: the peers come by themselves, or traffic to them asks with start_action = trap"
	}
	return "no single address in remote_addrs: this connection can only be a responder"
}

// refreshNames looks host names up again when a peer comes whose address is not known.
func (e *Engine) refreshNames() {
	for _, c := range e.connections {
		if len(c.cfg.remoteNames()) > 0 && e.now.Unix()-c.names.askedAt >= int64(nameAge.Seconds()) {
			e.lookUp(c)
		}
	}
}
