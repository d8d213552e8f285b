package ike

import (
	"bytes"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// goOn takes the answer m to our CREATE_CHILD_SA further: to the additional key exchanges, if it agreed on any (RFC 9370 section
// 2.2.4), else to the CHILD_SA.
func (t *childTask) goOn(e *Engine, sa *ikeSA, a agreed, m *message) {
	f, err := newFollowup(a.proposal, m, a.secrets)
	if err != nil {
		wipe(a.secrets)
		t.failed(e, sa, &childError{text: err.Error()})
		return
	}
	if f == nil {
		t.complete(e, sa, a)
		return
	}
	t.agreed, t.follow = a, f
	t.followUp(e, sa)
}

// followUp sends the next additional key exchange, unless the peer's own rekey of the same CHILD_SA makes ours superfluous.
func (t *childTask) followUp(e *Engine, sa *ikeSA) {
	if t.old != nil && t.lost(e, sa) {
		e.finishTask(sa)
		t.follow.wipe()
		e.dropOffer(t.offer)
		t.offer = nil
		return
	}
	t.follow.send(e, sa, func(text string) { t.failed(e, sa, &childError{text: text}) })
}

// lost reports whether the peer rekeys the same CHILD_SA and the lowest nonce is in our exchange. There is nothing to delete yet: we
// just stop (RFC 9370 section 2.2.4). If we have won, the peer does.
func (t *childTask) lost(e *Engine, sa *ikeSA) bool {
	ours := lowerNonce(t.agreed.ni, t.agreed.nr)
	if p := sa.pendingFor(t.old); p != nil {
		if bytes.Compare(ours, p.nonceMin) > 0 {
			e.dropPending(p)
			return false
		}
		e.counters.RekeyCollisions++
		e.yield(sa, t.old)
		return true
	}
	twin := t.standing(e)
	if twin == nil || bytes.Compare(ours, twin.nonceMin) > 0 {
		return false
	}
	e.counters.RekeyCollisions++
	e.note(sa, LevelInfo, "CHD", "CHILD_SA rekey collision lost, the peer's %s replaces %s", twin.label(), t.old.label())
	t.old.state = ChildInstalled
	e.replaced(t.old, twin)
	return true
}

// yield leaves the rekey of a CHILD_SA to the peer; we come back to it if nothing comes of that.
func (e *Engine) yield(sa *ikeSA, old *childSA) {
	if e.children[old.info.ID] != old || old.state != ChildRekeying {
		return
	}
	e.note(sa, LevelInfo, "CHD", "CHILD_SA rekey collision lost, the peer goes on with its rekey of %s", old.label())
	old.state = ChildInstalled
	e.setChildTimer(old, timerChildRekey, e.now.Add(followupTime+e.jitter(temporaryRetry)))
}

// answerFollowup completes an additional key exchange, and after the last one the CHILD_SA.
func (t *childTask) answerFollowup(e *Engine, sa *ikeSA, m *message) {
	if n := m.error(); n != nil {
		t.failed(e, sa, &childError{notify: n.NotifyType, text: "peer answers IKE_FOLLOWUP_KE with " + n.NotifyType.String()})
		return
	}
	last := len(t.follow.left) == 1
	t.follow.take(e, sa, m, func(err error) {
		switch {
		case err != nil:
			t.failed(e, sa, &childError{text: err.Error(), tell: last, spiOut: t.agreed.spiOut})
		case len(t.follow.left) > 0:
			t.followUp(e, sa)
		default:
			t.agreed.secrets = t.follow.secrets
			t.complete(e, sa, t.agreed)
		}
	})
}

// temporary reports whether an error only means that another time is better.
func temporary(n wire.NotifyType) bool {
	return n == wire.NotifyTemporaryFailure || n == wire.NotifyStateNotFound
}
