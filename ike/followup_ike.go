package ike

import (
	"bytes"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// followUp sends the next additional key exchange of our rekey of the IKE SA, unless the peer's own makes it superfluous.
func (t *rekeyIKETask) followUp(e *Engine, sa *ikeSA) {
	if t.lost(e, sa) {
		return
	}
	t.follow.send(e, sa, func(text string) { t.failed(e, sa, 0, text) })
}

// lost stops our rekey if the peer rekeys the IKE SA, too, and the lowest nonce is in our exchange (RFC 9370 section 2.2.4).
func (t *rekeyIKETask) lost(e *Engine, sa *ikeSA) bool {
	ours := lowerNonce(t.ni, t.nr)
	p, twin := sa.pendingFor(nil), sa.rekey.twin
	switch {
	case p != nil && bytes.Compare(ours, p.nonceMin) > 0:
		e.dropPending(p) // the peer stops
		return false
	case p != nil:
		e.yieldIKE(sa)
	case twin != nil && !twin.gone && bytes.Compare(ours, twin.nonceMin) < 0:
	default:
		return false
	}
	e.counters.RekeyCollisions++
	e.finishTask(sa)
	t.abandon(e, sa)
	if p == nil {
		e.note(sa, LevelInfo, "IKE", "IKE_SA rekey collision lost, the peer's IKE_SA %s remains", twin.label())
		e.adopt(sa, twin)
	}
	return true
}

// yieldIKE leaves the rekey of the IKE SA to the peer; we come back to it if nothing comes of that.
func (e *Engine) yieldIKE(sa *ikeSA) {
	e.note(sa, LevelInfo, "IKE", "IKE_SA rekey collision lost, the peer goes on with its rekey of %s", sa.label())
	e.setSATimer(sa, timerIKERekey, e.now.Add(followupTime+e.jitter(temporaryRetry)))
}

// answerFollowup completes an additional key exchange, and after the last one the new IKE SA.
func (t *rekeyIKETask) answerFollowup(e *Engine, sa *ikeSA, m *message) {
	if n := m.error(); n != nil {
		t.failed(e, sa, n.NotifyType, "peer answers IKE_FOLLOWUP_KE with "+n.NotifyType.String())
		return
	}
	t.follow.take(e, sa, m, func(err error) {
		switch {
		case err != nil:
			t.failed(e, sa, 0, err.Error())
		case len(t.follow.left) > 0:
			t.followUp(e, sa)
		default:
			t.derive(e, sa, t.follow.secrets)
		}
	})
}

// awaitIKE answers the peer's rekey of the IKE SA, which is made when the additional key exchanges are done (RFC 9370 section 2.2.4).
func (e *Engine) awaitIKE(sa *ikeSA, m *message, p *pendingKE, answer []wire.Payload) {
	e.dropPending(sa.pendingFor(nil)) // the peer has begun anew
	if len(sa.pending) >= maxPending {
		wipe(p.secrets)
		e.destroySA(p.next, "its rekey was refused")
		e.respond(sa, m, notification(wire.NotifyTemporaryFailure, nil))
		return
	}
	e.respond(sa, m, append(answer, e.await(p))...)
}
