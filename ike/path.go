package ike

import (
	"net/netip"
	"slices"
)

// addressChanged looks at the path of every IKE SA when the host's addresses or routes have changed,
// and tries at once what failed before.
func (e *Engine) addressChanged(addrs []netip.Addr) {
	same := slices.Equal(addrs, e.addrs)
	e.addrs = addrs
	for _, sa := range e.sorted() {
		e.serving = sa
		switch {
		case sa.gone:
		case sa.setting():
			e.restartFrom(sa)
		default:
			e.checkPath(sa)
			e.tellMoved(sa)
		}
	}
	if same {
		return
	}
	for c := range e.everyConnection() {
		if c.retry.pos != 0 {
			e.ensureNow(c)
		}
	}
}

// restartFrom begins an attempt anew that goes out from an address that is gone.
func (e *Engine) restartFrom(sa *ikeSA) {
	c, local := sa.conn, sa.local.Addr()
	if sa.setup == nil || !sa.initiator || !local.IsValid() || slices.Contains(e.addrs, local) {
		return
	}
	if old := sa.reauth.replaces; old != nil {
		if old.up() && old.local.Addr() != local { // it has moved just now
			e.destroySA(sa, "our address is gone")
			e.makeBeforeBreak(old)
		}
		return
	}
	if now := e.localAddr(c.cfg, sa.remote.Addr()); now == local || !slices.Contains(e.addrs, now) {
		return
	}
	asked := c.asked || sa.setup.child == nil
	e.destroySA(sa, "our address is gone")
	c.asked = asked
	e.ensureNow(c)
}

// checkPath chooses other addresses for an IKE SA whose path has become unusable.
func (e *Engine) checkPath(sa *ikeSA) {
	if !sa.mobike.on {
		e.checkFixedPath(sa)
		return
	}
	best := e.sourceFor(sa.conn.cfg, sa.remote.Addr())
	if usable := e.pathUsable(sa); usable && (!e.cfg.PreferBestPath || !sa.mobike.leads || best == sa.local.Addr()) {
		e.tellAddresses(sa)
		return
	}
	local, remote := best, sa.remote.Addr()
	for i := 0; !local.IsValid() && sa.mobike.leads && i < len(sa.mobike.peer); i++ {
		remote = sa.mobike.peer[i]
		local = e.sourceFor(sa.conn.cfg, remote)
	}
	switch {
	case local == sa.local.Addr() && remote == sa.remote.Addr():
		e.tellAddresses(sa)
		return
	case !local.IsValid():
		if !slices.Contains(e.addrs, sa.local.Addr()) {
			e.note(sa, LevelWarn, "IKE", "%v is gone, and no address of ours leads to %v: waiting for one", sa.local.Addr(), sa.remote.Addr())
		}
		return
	}
	e.changePath(sa, local, remote)
}

// checkFixedPath deals with an IKE SA without MOBIKE whose address is gone: it cannot be moved. Its initiator
// sets up a new one from another address; else all that can be done is to ask whether it still works.
func (e *Engine) checkFixedPath(sa *ikeSA) {
	local := sa.local.Addr()
	if !sa.up() || !local.IsValid() || slices.Contains(e.addrs, local) {
		return
	}
	now := e.sourceFor(sa.conn.cfg, sa.remote.Addr())
	if !sa.mobike.leads || !now.IsValid() || now == local {
		if sa.active == nil {
			e.enqueue(sa, livenessTask{})
		}
		return
	}
	e.note(sa, LevelInfo, "IKE", "our address %v is gone and IKE_SA %s has no MOBIKE, setting it up anew", local, sa.label())
	c := sa.conn
	e.keepUp(sa, func(*want) ChildAction { return ActionStart })
	e.destroySA(sa, "our address is gone")
	e.ensure(c)
}

// pathUsable reports whether the addresses in use can still be.
func (e *Engine) pathUsable(sa *ikeSA) bool {
	local := sa.local.Addr()
	return slices.Contains(e.addrs, local) && (e.cfg.Routed == nil || e.cfg.Routed(local, sa.remote.Addr()))
}

// sourceFor returns the best of the host's addresses towards a peer that the connection may use.
func (e *Engine) sourceFor(c *Connection, remote netip.Addr) netip.Addr {
	var preferred netip.Addr
	if e.cfg.Source != nil {
		preferred = e.cfg.Source(remote)
		if !preferred.IsValid() {
			return preferred // no route
		}
		if matchAddr(c.LocalAddrs, preferred) > 0 && slices.Contains(e.addrs, preferred) {
			return preferred
		}
	}
	for _, m := range c.LocalAddrs {
		for _, a := range e.addrs {
			if a.Is4() == remote.Is4() && m.Prefix.IsValid() && m.Prefix.Contains(a) && (e.cfg.Routed == nil || e.cfg.Routed(a, remote)) {
				return a
			}
		}
	}
	return netip.Addr{}
}

// changePath uses other addresses from now on. The original initiator decides for both ends (RFC 4555 section
// 3.5); a responder that has lost its address moves, too, and says where it is now (sections 3.5 and 3.6).
func (e *Engine) changePath(sa *ikeSA, local, remote netip.Addr) {
	e.note(sa, LevelInfo, "IKE", "path of IKE_SA %s changes from %v - %v to %v - %v", sa.label(), sa.local.Addr(), sa.remote.Addr(), local, remote)
	e.setPath(sa, local, remote)
	if twin := sa.rekey.twin; twin != nil && !twin.gone {
		e.setPath(twin, local, remote)
	}
	e.moveChildren(sa) // also by a responder, which cannot send from the old address any more
	if sa.mobike.leads {
		e.startUpdate(sa)
	} else {
		e.tellAddresses(sa)
	}
	e.resend(sa)
}

func (e *Engine) setPath(sa *ikeSA, local, remote netip.Addr) {
	sa.local = netip.AddrPortFrom(local, sa.local.Port())
	if remote != sa.remote.Addr() {
		port := uint16(ikePort)
		if sa.natt {
			port = nattPort
		}
		sa.remote = netip.AddrPortFrom(remote, port)
	}
}

// resend repeats the outstanding request at once, from the new addresses (RFC 4555 section 3.5). It does not
// count as one of the retransmissions after which the peer is dead.
func (e *Engine) resend(sa *ikeSA) {
	if r := sa.out.request; r != nil {
		e.counters.Retransmits++
		e.send(sa, r.packets)
	}
}

// probe tries another path when the peer of an original initiator does not answer on this one
// (RFC 4555 section 3.10): each pair of our addresses and the peer's in turn.
func (e *Engine) probe(sa *ikeSA) {
	if !sa.mobike.on || !sa.mobike.leads || sa.out.request.sent <= probeAfter {
		return
	}
	type path struct{ local, remote netip.Addr }
	now := path{sa.local.Addr(), sa.remote.Addr()}
	paths := []path{now}
	for _, remote := range append([]netip.Addr{now.remote}, sa.mobike.peer...) {
		for _, local := range e.ownAddresses(sa) {
			p := path{local, remote}
			if local.Is4() == remote.Is4() && !slices.Contains(paths, p) && (e.cfg.Routed == nil || e.cfg.Routed(local, remote)) {
				paths = append(paths, p)
			}
		}
	}
	if len(paths) == 1 {
		return
	}
	sa.mobike.tried++
	slices.SortFunc(paths, func(a, b path) int {
		if c := a.remote.Compare(b.remote); c != 0 {
			return c
		}
		return a.local.Compare(b.local)
	})
	next := paths[(slices.Index(paths, now)+1)%len(paths)]
	e.note(sa, LevelInfo, "IKE", "no answer from %v, trying %v - %v", now.remote, next.local, next.remote)
	e.setPath(sa, next.local, next.remote)
	e.startUpdate(sa) // when the request that nobody answers has got through
}
