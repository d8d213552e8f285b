package ike

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
)

// A connection for any peer stands for many. Each peer has a connection of its own, of the same configuration and name,
// in which all is as with one remote address. It is made when traffic asks for the peer or the peer comes, and
// forgotten when nothing is left of it.

// ofPeer returns a connection's part for one peer, which it makes if need be.
func (e *Engine) ofPeer(c *connection, peer netip.Addr) *connection {
	if known := c.peerAt(peer); known != nil {
		return known
	}
	one := e.newConnection(c.cfg)
	one.of, one.peer, one.removed = c, peer, c.removed
	one.relate()
	c.peers = append(c.peers, one)
	e.mayForget(one)
	return one
}

// peerAt returns the part for a peer, or nil.
func (c *connection) peerAt(peer netip.Addr) *connection {
	if i := slices.IndexFunc(c.peers, func(p *connection) bool { return p.peer == peer }); i >= 0 {
		return c.peers[i]
	}
	return nil
}

// relate tells each child of a peer's connection whose child it is.
func (c *connection) relate() {
	for _, w := range c.wants {
		w.of = c.of.want(w.cfg.Name)
	}
}

// root returns the connection that is configured.
func (c *connection) root() *connection {
	if c != nil && c.of != nil {
		return c.of
	}
	return c
}

// root returns the child of the connection that is configured.
func (w *want) root() *want {
	if w.of != nil {
		return w.of
	}
	return w
}

// inUse reports whether a configured connection has an IKE SA, with whichever peer.
func (c *connection) inUse() bool {
	return c.usable() != nil || slices.ContainsFunc(c.peers, func(p *connection) bool { return p.usable() != nil })
}

// liveAnywhere reports whether a CHILD_SA of the child is there to stay, with whichever peer.
func (w *want) liveAnywhere() bool {
	any := func(o *want) bool { return slices.ContainsFunc(o.children, (*childSA).live) }
	return any(w) || slices.ContainsFunc(w.conn.peers, func(c *connection) bool {
		return slices.ContainsFunc(c.wants, func(o *want) bool { return o.of == w && any(o) })
	})
}

// everyConnection goes through the configured connections, each followed by those of its peers.
func (e *Engine) everyConnection() iter.Seq[*connection] {
	return func(yield func(*connection) bool) {
		for _, c := range e.connections {
			if !yield(c) {
				return
			}
			for _, p := range c.peers {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// mayForget has a peer's connection looked at when the call that is being served ends.
func (e *Engine) mayForget(c *connection) {
	if c != nil && c.of != nil {
		e.passing = append(e.passing, c)
	}
}

// forgetPeers forgets the peers of which nothing is left.
func (e *Engine) forgetPeers() {
	for _, c := range e.passing {
		if c.idle() {
			c.of.peers = slices.DeleteFunc(c.of.peers, func(o *connection) bool { return o == c })
		}
	}
	e.passing = nil
}

// idle reports whether a connection has nothing and waits for nothing.
func (c *connection) idle() bool {
	if len(c.sas) > 0 || !c.removed && (c.asked || c.retry.pos != 0) {
		return false
	}
	return !slices.ContainsFunc(c.wants, func(w *want) bool {
		return len(w.children) > 0 || !c.removed && (w.asked != notAsked || w.retry.pos != 0)
	})
}

// trying reports whether traffic has asked for the peer and its IKE SA is not up yet.
func (c *connection) trying() bool {
	sa := c.usable()
	return (sa == nil || !sa.up()) && slices.ContainsFunc(c.wants, func(w *want) bool { return w.asked == askedFor })
}

// acquiredPeer returns the child as that of the peer that a packet is for, unless there is nobody to ask. Traffic may
// be for anybody: what it makes us begin is bounded.
func (e *Engine) acquiredPeer(w *want, p *packet) *want {
	c := w.conn
	if p == nil || !e.askable(c.cfg, p.local.Start, p.remote.Start) {
		return nil
	}
	one := c.peerAt(p.remote.Start)
	if (one == nil || one.usable() == nil) && e.tooManyPeers(c) {
		return nil
	}
	one = e.ofPeer(c, p.remote.Start)
	one.source = p.local.Start
	return one.want(w.cfg.Name)
}

// askable reports whether a packet's destination can be a peer: not where it is only forwarded, as others' packets are
// in transport mode.
func (e *Engine) askable(c *Connection, src, dst netip.Addr) bool {
	allowed := slices.ContainsFunc(c.peerPrefixes(), func(p netip.Prefix) bool { return p.Contains(dst) }) && matchAddr(c.LocalAddrs, src) > 0
	own := len(e.addrs) == 0 || slices.Contains(e.addrs, src)
	return allowed && own && e.acceptable(dst) && dst != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// tooManyPeers reports whether traffic asks for more peers at once than a connection may have, or may set up; the
// log has it once, until half of them have come to rest.
func (e *Engine) tooManyPeers(c *connection) bool {
	trying := 0
	for _, one := range c.peers {
		if one.trying() {
			trying++
		}
	}
	switch {
	case len(c.peers) < maxPeersByTrap && trying < maxAttemptsByTrap:
		c.crowded = c.crowded && (len(c.peers) > maxPeersByTrap/2 || trying > maxAttemptsByTrap/2)
		return false
	case !c.crowded:
		c.crowded = true
		e.emit(Note{Level: LevelWarn, Group: "IKE", Connection: c.cfg.Name, Text: fmt.Sprintf(
			"traffic asks for more peers than connection %s may have: %d are there, %d of them being set up (at most %d and %d); what is for others is dropped; narrow remote_addrs or remote_ts %s",
			c.cfg.Name, len(c.peers), trying, maxPeersByTrap, maxAttemptsByTrap, c.cfg.at("remote_addrs"))})
	}
	return true
}
