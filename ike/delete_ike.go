package ike

import (
	"github.com/ipsecd/ipsecd/ike/wire"
)

// deleteIKETask tells the peer that the IKE SA is closed; it is the last
// request on it (RFC 7296 sections 1.4.1 and 2.8).
type deleteIKETask struct{ reason string }

func (*deleteIKETask) name() string { return "IKE_DELETE" }

func (*deleteIKETask) begin(e *Engine, sa *ikeSA) bool {
	e.note(sa, LevelInfo, "IKE", "deleting IKE_SA %s between %s", sa.label(), sa.ends())
	e.request(sa, wire.ExchangeInformational, &wire.Delete{Protocol: wire.ProtocolIKE})
	return true
}

func (t *deleteIKETask) answer(e *Engine, sa *ikeSA, _ *message) {
	c := sa.conn
	e.destroySA(sa, t.reason)
	e.ensure(c)
}

func (*deleteIKETask) abandon(*Engine, *ikeSA) {}

// deleteIKE begins to delete an IKE SA: after what is under way, before what
// waits. One that the peer cannot have set up yet just goes.
func (e *Engine) deleteIKE(sa *ikeSA, reason string) {
	switch {
	case sa.setting() && sa.setup == nil: // the new one of a rekey, which will find out
		return
	case sa.setting() && sa.initiator && sa.setup.sentAuth:
		// The peer may have established it already: it goes when we know.
		sa.setup.closing = reason
		return
	case sa.setting(), sa.state == stateRejected:
		e.destroySA(sa, reason)
		return
	}
	if sa.hasTask(func(t task) bool { _, ok := t.(*deleteIKETask); return ok }) {
		return
	}
	if sa.state != stateRekeyed {
		sa.state = stateDeleting
	}
	e.stopSATimers(sa)
	for _, t := range sa.queue {
		t.abandon(e, sa)
	}
	sa.queue = nil
	e.enqueue(sa, &deleteIKETask{reason: reason})
}

// peerDeletesIKE obeys the peer's Delete of the IKE SA; the empty response has
// been sent and can be asked for again.
func (e *Engine) peerDeletesIKE(sa *ikeSA) {
	e.ghosts.keep(e, sa)
	c := sa.conn
	wasUp := sa.state == stateEstablished
	if twin := sa.rekey.twin; wasUp && twin != nil && !twin.gone {
		// RFC 7296 section 2.25.2: the peer has finished its rekey; ours is forgotten.
		e.adopt(sa, twin)
		wasUp = false
	}
	if sa.rekey.redundant {
		wasUp = false
	}
	if !wasUp {
		e.destroySA(sa, "deleted")
		e.ensure(c)
		return
	}
	const reason = "the peer closed the IKE_SA"
	e.note(sa, LevelInfo, "IKE", "received DELETE for IKE_SA %s", sa.label())
	e.closeWith(sa, reason, func(w *want) ChildAction {
		if sa.reauth.by != nil { // the peer was faster than we: the new one takes over
			return ActionStart
		}
		return w.cfg.CloseAction
	})
}

// closeWith destroys an established IKE SA that was lost and plans what its
// children are to become.
func (e *Engine) closeWith(sa *ikeSA, reason string, action func(*want) ChildAction) {
	c := sa.conn
	e.keepUp(sa, action)
	e.destroySA(sa, reason)
	if c.usable() == nil {
		e.lost(c, reason)
		return
	}
	e.ensure(c)
}

// keepUp asks for the children of an IKE SA that is about to go, or sets traps for them, where their
// action says so.
func (e *Engine) keepUp(sa *ikeSA, action func(*want) ChildAction) {
	for _, c := range sa.children {
		if !c.live() {
			continue
		}
		a := action(c.want)
		switch {
		case a.Starts() && sa.asymmetric():
			e.note(sa, LevelInfo, "IKE", "unable to reestablish CHILD_SA %s due to asymmetric setup: the peer has virtual addresses of ours", c.label())
		case a.Starts():
			c.want.asked = keptUp
		}
		e.trap(c, a)
	}
}

// informationalRequest answers Deletes, notifications and checks for life
// (RFC 7296 section 1.4).
func (e *Engine) informationalRequest(sa *ikeSA, m *message) {
	closing := false
	var response []wire.Payload
	for d := range wire.All[*wire.Delete](m.payloads) {
		switch d.Protocol {
		case wire.ProtocolIKE:
			closing = true
		case wire.ProtocolESP:
			if ours := e.childDeleteRequest(sa, d); len(ours) > 0 {
				response = append(response, &wire.Delete{Protocol: wire.ProtocolESP, SPIs: ours})
			}
		}
	}
	if n := m.error(); n != nil && fatal(n.NotifyType) {
		e.respond(sa, m)
		e.ghosts.keep(e, sa)
		e.alertAuth(sa, n.NotifyType)
		e.failSA(sa, e.explainAuth(sa, n.NotifyType))
		return
	}
	e.obeyLifetime(sa, m)
	if closing {
		e.respond(sa, m)
		e.peerDeletesIKE(sa)
		return
	}
	e.respond(sa, m, append(response, e.mobikeRequest(sa, m)...)...)
	e.redirectUp(sa, m)
}

// fatal reports whether an authenticated error ends the IKE SA on both sides
// (RFC 7296 sections 2.21.2 and 2.21.3).
func fatal(t wire.NotifyType) bool {
	return t == wire.NotifyAuthenticationFailed || t == wire.NotifyInvalidSyntax
}
