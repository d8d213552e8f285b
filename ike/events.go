package ike

import (
	"slices"
	"strings"
)

// event hands an event to its handler.
func (e *Engine) event(ev Event) {
	switch ev := ev.(type) {
	case Initiate:
		e.initiateEvent(ev)
	case Terminate:
		e.terminate(ev)
	case Rekey:
		e.rekeyEvent(ev)
	case Disarm:
		if c := e.byName[ev.Connection]; c != nil {
			if w := c.want(ev.Child); w != nil {
				e.untrap(w)
			}
		}
	case Redirect:
		e.redirectEvent(ev)
	case Installed:
		if e.leaving[ev.ChildID] {
			delete(e.leaving, ev.ChildID)
			e.do(RemoveChild(ev))
		} else if c := e.children[ev.ChildID]; c != nil {
			e.serving = c.sa
			e.childInstalled(c)
		}
	case InstallFailed:
		delete(e.leaving, ev.ChildID)
		if c := e.children[ev.ChildID]; c != nil {
			e.serving = c.sa
			e.childNotInstalled(c, ev.Err)
		}
	case Expire:
		e.expired(ev)
	case Acquire:
		e.acquire(ev)
	case Traffic:
		e.traffic(ev)
	case PeerMoved:
		e.peerMoved(ev)
	case Computed:
		e.computed(ev)
	case Resolved:
		e.resolved(ev)
	case Reconfigure:
		e.configure(ev.Config)
		if e.started {
			e.startConnections()
		}
	case AddressChanged:
		e.addressChanged(ev.Addrs)
	case Shutdown:
		e.shutdown()
	case resume:
		e.goOn()
	}
}

// initiateEvent is the operator's "initiate".
func (e *Engine) initiateEvent(ev Initiate) {
	c := e.byName[ev.Connection]
	if c == nil {
		e.note(nil, LevelError, "CFG", "cannot initiate: there is no connection %s", ev.Connection)
		return
	}
	if ev.Child == "" {
		c.stopped, c.asked = false, !c.cfg.OnlyShunts()
	} else {
		w := c.want(ev.Child)
		if w == nil {
			e.note(nil, LevelError, "CFG", "cannot initiate: CHILD_SA config '%s' not found in connection %s", ev.Child, ev.Connection)
			return
		}
		if w.cfg.Mode.Shunt() {
			e.note(nil, LevelError, "CFG", "cannot initiate: children.%s is a shunt (mode = %s), whose policies are there without a peer (%s)", ev.Child, strings.ToLower(w.cfg.Mode.String()), w.cfg.Source)
			return
		}
		e.askFor(w)
		w.stopped = false
	}
	e.ensureNow(c)
}

// askFor asks for a child once.
func (e *Engine) askFor(w *want) {
	if w.live() {
		return
	}
	w.asked = max(w.asked, askedFor)
	w.backoff = 0
	e.timers.stop(&w.retry)
}

// ensureNow is ensure without waiting for what failed before.
func (e *Engine) ensureNow(c *connection) {
	e.timers.stop(&c.retry)
	c.backoff, c.tries = 0, 0
	e.ensure(c)
}

// matches reports whether an SA is meant by Terminate's and Rekey's fields.
func (sa *ikeSA) matches(connection string, id uint32) bool {
	return sa.conn != nil && (connection == "" || sa.conn.cfg.Name == connection) && (id == 0 || sa.id == id)
}

func (c *childSA) matches(name string, id uint32) bool {
	return (name == "" || c.info.Config.Name == name) && (id == 0 || c.info.ID == id)
}

// terminate is the operator's "terminate".
func (e *Engine) terminate(ev Terminate) {
	whole := ev.Child == "" && ev.ChildID == 0
	if ev.IKEID == 0 && ev.ChildID == 0 {
		e.stopStarting(ev, whole)
	}
	for _, sa := range e.sorted() {
		if sa.gone || !sa.matches(ev.Connection, ev.IKEID) {
			continue
		}
		if whole {
			sa.conn.stop()
			e.terminateIKE(sa, ev.Force)
			continue
		}
		for _, c := range slices.Clone(sa.children) {
			if !c.matches(ev.Child, ev.ChildID) {
				continue
			}
			if !c.info.CPU.Bound || ev.ChildID == 0 {
				c.want.stopped, c.want.asked = true, notAsked
			}
			e.deleteChild(c)
			if ev.Force {
				e.forceDelete(c)
			}
		}
	}
}

// stopStarting keeps start_action from bringing up again what was taken down.
func (e *Engine) stopStarting(ev Terminate, whole bool) {
	for c := range e.everyConnection() {
		if ev.Connection != "" && c.cfg.Name != ev.Connection {
			continue
		}
		e.mayForget(c)
		if whole {
			c.stop()
			e.timers.stop(&c.retry)
			continue
		}
		if w := c.want(ev.Child); w != nil {
			w.stopped, w.asked = true, notAsked
			e.timers.stop(&w.retry)
		}
	}
}

// stop notes that the operator took a connection down.
func (c *connection) stop() {
	c.stopped, c.asked = true, false
	for _, w := range c.wants {
		w.asked = notAsked
	}
}

func (e *Engine) terminateIKE(sa *ikeSA, force bool) {
	e.deleteIKE(sa, "terminated")
	if force {
		e.destroySA(sa, "terminated by force")
	}
}

// rekeyEvent is the operator's "rekey".
func (e *Engine) rekeyEvent(ev Rekey) {
	whole := ev.Child == "" && ev.ChildID == 0
	for _, sa := range e.sorted() {
		if sa.gone || !sa.matches(ev.Connection, ev.IKEID) {
			continue
		}
		if whole && ev.Reauth {
			e.startReauth(sa)
			continue
		}
		if whole {
			e.startIKERekey(sa)
			continue
		}
		for _, c := range slices.Clone(sa.children) {
			if c.matches(ev.Child, ev.ChildID) {
				e.startChildRekey(c)
			}
		}
	}
}

// expired takes the kernel's word that a lifetime has run out.
func (e *Engine) expired(ev Expire) {
	c := e.childSPI[ev.SPI]
	if c == nil || ev.Dst.IsValid() && c.info.Local.IsValid() && ev.Dst != c.info.Local {
		c = e.outSPI[outKey{ev.SPI, ev.Dst}]
	}
	switch {
	case c == nil:
	case ev.Hard:
		e.serving = c.sa
		e.expireChild(c)
	default:
		e.serving = c.sa
		e.startChildRekey(c)
	}
}

// traffic takes the kernel's counters as signs of life and of use.
func (e *Engine) traffic(ev Traffic) {
	c := e.children[ev.ChildID]
	if c != nil && (ev.InPackets > c.lastIn || ev.OutPackets > c.lastOut) {
		c.lastUse, c.lastOut = e.now, ev.OutPackets
	}
	if c == nil || ev.InPackets <= c.lastIn {
		return
	}
	c.lastIn = ev.InPackets
	c.sa.lastESP = e.now
	e.serving = c.sa
	e.activate(c)
}

// peerMoved follows a peer behind a NAT: the kernel has verified a fresh ESP packet from there, which RFC 7296 section 2.23
// and RFC 4555 section 3.8 take as proof.
func (e *Engine) peerMoved(ev PeerMoved) {
	c := e.childSPI[ev.SPI]
	// Each of several SAs may come from a port of its own, to be told apart by the receiver's network card.
	if c == nil || c.info.PerCPU || !c.sa.up() || !c.sa.natRemote || c.sa.natLocal || c.sa.remote == ev.New {
		return
	}
	e.serving = c.sa
	e.move(c.sa, Packet{Local: c.sa.local, Remote: ev.New, NATT: c.sa.natt})
}

// shutdown deletes everything in order; nothing new is begun.
func (e *Engine) shutdown() {
	e.closing = true
	e.alert(nil, AlertShutdown)
	for c := range e.everyConnection() {
		e.timers.stop(&c.retry)
		for _, w := range c.wants {
			e.timers.stop(&w.retry)
		}
	}
	for _, sa := range e.sorted() {
		if !sa.gone {
			e.deleteIKE(sa, "shutting down")
		}
	}
}

// sorted returns all IKE SAs in the order of their making.
func (e *Engine) sorted() []*ikeSA {
	all := make([]*ikeSA, 0, len(e.sas))
	for _, sa := range e.sas {
		all = append(all, sa)
	}
	slices.SortFunc(all, func(a, b *ikeSA) int { return int(a.id) - int(b.id) })
	return all
}
