package ike

import "fmt"

// failSA ends an IKE SA that cannot go on, and plans what is to follow.
func (e *Engine) failSA(sa *ikeSA, text string) {
	c := sa.conn
	switch {
	case sa.gone:
	case sa.state == stateRejected:
		e.destroySA(sa, text)
	case sa.setting() && sa.setup == nil: // the new one of a rekey
		e.destroySA(sa, text)
	case sa.closing():
		e.destroySA(sa, text)
		e.ensure(c)
	case sa.setting() && sa.initiator:
		e.destroySA(sa, text)
		e.attemptFailed(c, sa, text)
	case sa.setting():
		e.counters.Negotiations[NegotiationKey{Initiator: false, OK: false}]++
		e.ghosts.keep(e, sa)
		e.destroySA(sa, text)
		e.refusal(c, text)
	default:
		e.closeWith(sa, text, func(w *want) ChildAction { return w.cfg.CloseAction })
		e.failed(c, nil, sa, text, "")
	}
}

// unanswered is called when all retransmissions of a request stayed without
// an answer.
func (e *Engine) unanswered(sa *ikeSA) {
	switch sa.state {
	case stateInit, stateIntermediate, stateAuth:
		if sa.state == stateInit {
			e.alert(sa, AlertPeerInitUnreachable)
		}
		text := e.explainSilence(sa)
		if sa.setup.initError != "" {
			text = sa.setup.initError
		}
		e.failSA(sa, text)
	case stateRekeyed, stateDeleting, stateRejected:
		c := sa.conn
		e.destroySA(sa, "the peer did not answer our Delete")
		e.ensure(c)
	default:
		e.dead(sa)
	}
}

// dead closes an IKE SA whose peer does not answer (RFC 7296 section 2.4) and
// does what dpd_action says.
func (e *Engine) dead(sa *ikeSA) {
	if twin := sa.rekey.twin; twin != nil && !twin.gone {
		// The peer's own rekey went through: it is alive on the new IKE SA.
		e.adopt(sa, twin)
		e.destroySA(sa, "rekeyed")
		return
	}
	e.counters.DPDTimeouts++
	c := sa.conn
	text := fmt.Sprintf("peer %v is dead: no answer to %d requests", sa.remote.Addr(), e.cfg.Timing.RetransmitTries+1)
	e.closeWith(sa, text, func(w *want) ChildAction { return w.cfg.DPDAction })
	if c.backoff <= 1 && c.retry.pos != 0 {
		e.timers.stop(&c.retry) // the retransmissions were wait enough
		e.ensure(c)
	}
	e.failed(c, nil, sa, text, "")
}

// expireIKE ends an IKE SA whose rekey did not come in time.
func (e *Engine) expireIKE(sa *ikeSA) {
	if !sa.up() {
		return
	}
	e.alert(sa, AlertIKEExpired)
	const text = "IKE_SA reached its hard lifetime without a rekey"
	e.note(sa, LevelWarn, "IKE", "%s: deleting %s", text, sa.label())
	for _, child := range sa.children {
		if child.live() && !sa.asymmetric() {
			child.want.asked = keptUp // traffic must not stop because a peer was slow
		}
	}
	e.deleteIKE(sa, text)
	e.ensure(sa.conn)
}

// expireChild ends a CHILD_SA at its hard lifetime, in the kernel or by our own timer.
func (e *Engine) expireChild(c *childSA) {
	if c.closed {
		return // it lingers, and is of no use any more
	}
	if heir := c.heir(); heir != nil {
		// The peer deletes what it replaces. If a Delete of ours overtook our answer to its
		// rekey, it would delete the new one, too.
		c.expired = true
		e.replaced(c, heir)
		e.useHeir(c)
		return
	}
	if c.state == ChildRekeyed || c.redundant {
		e.deleteChild(c)
		return
	}
	e.childExpired(c, c.live())
}

// childExpired takes a CHILD_SA down that the kernel has not any more, and has it made anew if it was wanted.
func (e *Engine) childExpired(c *childSA, wanted bool) {
	e.note(c.sa, LevelWarn, "CHD", "CHILD_SA %s reached its hard lifetime without a rekey", c.label())
	e.removeChild(c, "hard lifetime reached")
	e.enqueue(c.sa, &deleteChildTask{spi: c.info.SPIIn})
	if wanted {
		e.childLost(c.want, ActionStart, "hard lifetime reached without a rekey")
	}
}
