package ike

import (
	"slices"
	"time"
)

// reauth is what reauthentication of an IKE SA (RFC 7296 section 2.8.3) has to do with it.
type reauth struct {
	at    time.Time // when it is due; zero: never
	until time.Time // when the IKE SA ends without it; zero: never
	tries int       // that failed

	replaces *ikeSA         // the new one of make-before-break: it takes the children of that one over
	by       *ikeSA         // the other way round
	asked    map[*want]bool // children that were asked for on the new one
}

// planReauth sets when a new IKE SA is to be authenticated again. Whoever is the responder has told the
// initiator its lifetime (RFC 4478), and waits until the end of that.
func (e *Engine) planReauth(sa *ikeSA) {
	c := sa.conn.cfg
	if c.ReauthTime <= 0 {
		return
	}
	sa.reauth.at = e.now.Add(c.ReauthTime)
	if sa.initiator {
		sa.reauth.at = sa.reauth.at.Add(-e.jitter(min(c.RandTime, c.ReauthTime/2)))
	}
	if c.OverTime > 0 {
		sa.reauth.until = e.now.Add(c.ReauthTime + c.OverTime)
	}
}

// startReauth begins to authenticate the peer, and us, again.
func (e *Engine) startReauth(sa *ikeSA) {
	c := sa.conn
	if !sa.up() || sa.rekey.redundant || sa.reauth.by != nil || c.removed || e.closing {
		return
	}
	if sa.busyRekeying() { // the peer would refuse, or forget, one of the two
		e.setSATimer(sa, timerReauth, e.now.Add(temporaryRetry+e.jitter(temporaryRetry)))
		return
	}
	if sa.asymmetric() {
		e.note(sa, LevelWarn, "IKE", "IKE_SA %s is the peer's to reauthenticate, since it has virtual addresses of ours", sa.label())
		return
	}
	e.note(sa, LevelInfo, "IKE", "reauthenticating IKE_SA %s", sa.label())
	if e.cfg.BreakBeforeMake {
		e.keepUp(sa, func(*want) ChildAction { return ActionStart })
		c.asked = c.asked || len(sa.children) == 0
		e.deleteIKE(sa, "reauthenticating") // the rest follows from ensure
		return
	}
	e.makeBeforeBreak(sa)
}

// busyRekeying reports whether a rekey of the IKE SA is under way.
func (sa *ikeSA) busyRekeying() bool {
	_, ours := sa.active.(*rekeyIKETask)
	return ours || sa.rekey.twin != nil
}

// makeBeforeBreak sets up a new IKE SA beside the old one, from the ends that it has now.
func (e *Engine) makeBeforeBreak(old *ikeSA) {
	sa := e.newSA(true, old.local, old.remote)
	sa.natt, sa.forceEncap = old.natt, old.forceEncap
	sa.setup = &setup{}
	sa.reauth.replaces, old.reauth.by = old, sa
	for _, c := range old.children {
		if c.live() {
			sa.setup.child = c.want
			sa.reauth.asked = map[*want]bool{c.want: true}
			break
		}
	}
	e.bind(sa, old.conn)
	e.note(sa, LevelInfo, "IKE", "initiating IKE_SA %s to %v", sa.label(), sa.remote.Addr())
	e.enqueue(sa, setupTask{})
}

// continueReauth takes the next step when something of the new IKE SA has come to rest: the other
// children are made on it, then the old one goes.
func (e *Engine) continueReauth(sa *ikeSA) {
	old := sa.reauth.replaces
	if old == nil || !sa.up() || !old.up() {
		return
	}
	e.timers.stop(&old.timers[timerIKERekey])
	waiting := false
	for _, c := range old.children {
		if !c.live() || sa.has(c.want) {
			continue
		}
		waiting = true
		if !sa.reauth.asked[c.want] {
			if sa.reauth.asked == nil {
				sa.reauth.asked = map[*want]bool{}
			}
			sa.reauth.asked[c.want] = true
			e.enqueue(sa, &childTask{want: c.want, moves: c})
		}
	}
	if waiting {
		return // a child that cannot be made anew stays until the end of the old IKE SA
	}
	// No packet must be on the old one when it goes.
	for _, c := range old.children {
		e.stopSending(c)
	}
	e.note(old, LevelInfo, "IKE", "IKE_SA %s reauthenticated, now %s", old.label(), sa.label())
	e.deleteIKE(old, "reauthenticated")
}

// reauthenticated reports whether the IKE SA is being deleted because a new one has taken over.
func (sa *ikeSA) reauthenticated() bool { return sa.state == stateDeleting && sa.reauth.by != nil }

// has reports whether a CHILD_SA of the child is in use on the IKE SA.
func (sa *ikeSA) has(w *want) bool {
	return slices.ContainsFunc(sa.children, func(c *childSA) bool { return c.want == w && c.state == ChildInstalled && !c.redundant })
}

// forgetReauth takes a destroyed IKE SA out of its reauthentication. An attempt that failed is
// repeated, as long as the old IKE SA lives.
func (e *Engine) forgetReauth(sa *ikeSA) {
	if old := sa.reauth.replaces; old != nil && old.reauth.by == sa {
		old.reauth.by = nil
		if old.up() && !e.closing {
			old.reauth.tries++
			e.setSATimer(old, timerReauth, e.now.Add(e.wait(old.reauth.tries)))
		}
	}
	if next := sa.reauth.by; next != nil && next.reauth.replaces == sa {
		next.reauth.replaces = nil
	}
	sa.reauth = reauth{}
}

// inheritReauth hands on what is planned when an IKE SA is rekeyed: a rekey authenticates nobody.
func (e *Engine) inheritReauth(old, next *ikeSA) {
	next.reauth = old.reauth
	old.reauth = reauth{}
	if by := next.reauth.by; by != nil {
		by.reauth.replaces = next
	}
	if of := next.reauth.replaces; of != nil {
		of.reauth.by = next
	}
}

// keepSending begins to send on a CHILD_SA that has waited, when the last one of its child that
// sent, goes, is going.
func (e *Engine) keepSending(w *want, goes *childSA) {
	var waits *childSA
	for _, c := range w.children {
		switch {
		case c == goes:
		case c.sends && !c.absent:
			return
		case c.noOutbound && !c.redundant && c.state == ChildInstalled:
			waits = c
		}
	}
	if waits != nil {
		e.activate(waits)
	}
}

// repeats reports whether the peer makes a CHILD_SA that it has already, on an older IKE SA that it authenticates
// anew. It does not receive on the new one before our response is there, but does on the old one.
func (sa *ikeSA) repeats(w *want) bool {
	return slices.ContainsFunc(w.children, func(c *childSA) bool {
		return c.sa != sa && c.sends && c.live() && c.sa.localID == sa.localID && c.sa.remoteID == sa.remoteID && c.sa.proved.Before(sa.begun)
	})
}
