package ike

import (
	"slices"
	"time"
)

// A handover lets another engine, that of a new process, go on with the IKE SAs of this one. Neither the peers nor the
// kernel notice: SPIs, keys, message IDs and IVs go on where they were. It has three steps: Quiet, then HandOver when
// AtRest, or when that takes too long; then, in the other engine, TakeOver.

// quietStep is by how much timers that would begin something are put off while the engine is quiet.
const quietStep = time.Second

// Quiet makes the engine begin nothing any more, so that its IKE SAs come to rest: no rekey, liveness check or set-up of
// ours, and no IKE_SA_INIT is answered. What is under way goes on, and so does what established peers ask for.
func (e *Engine) Quiet() { e.quiet = true }

// Resume takes Quiet and HandOver back: the engine goes on by itself.
func (e *Engine) Resume(now time.Time) {
	e.quiet, e.over = false, false
	e.HandleEvent(now, resume{})
}

// resume is the event of Resume.
type resume struct{}

func (resume) event() {}

// goOn begins what Quiet has kept from being begun.
func (e *Engine) goOn() {
	for c := range e.everyConnection() {
		e.ensure(c)
	}
}

// AtRest reports whether HandOver would leave nothing out.
func (e *Engine) AtRest() bool {
	for _, sa := range e.sas {
		if !sa.atRest() && !sa.attempt() {
			return false
		}
	}
	return len(e.leaving) == 0
}

// attempt reports whether the peer cannot have established the IKE SA: the other engine begins anew, and nothing is lost.
func (sa *ikeSA) attempt() bool {
	return sa.initiator && sa.setting() && !(sa.setup != nil && sa.setup.sentAuth)
}

// atRest reports whether nothing of the IKE SA is under way, so that it is what its keys, its windows and its CHILD_SAs are.
func (sa *ikeSA) atRest() bool {
	switch {
	case !sa.up() || sa.setup != nil || sa.closing():
	case sa.active != nil || len(sa.queue) > 0 || sa.jobs > 0 || len(sa.parked) > 0 || len(sa.pending) > 0 || sa.reserved != 0:
	case sa.out.request != nil || sa.in.answering || sa.mobike.pending:
	case sa.rekey.twin != nil || sa.rekey.successor != nil || sa.rekey.redundant || sa.superseded || sa.reauth.replaces != nil || sa.reauth.by != nil:
	default:
		return !slices.ContainsFunc(sa.children, func(c *childSA) bool { return !c.atRest() && !c.over() })
	}
	return false
}

// atRest reports whether the CHILD_SA is in the kernel and in use, in both directions.
func (c *childSA) atRest() bool {
	return c.state == ChildInstalled && !c.closed && !c.redundant && !c.absent && !c.noOutbound && c.answer == nil &&
		!c.installed.IsZero() && c.moves == nil && c.replacedBy == nil
}

// over reports whether the CHILD_SA only waits for packets under way, both ends having deleted it.
func (c *childSA) over() bool { return c.closed && c.state == ChildRekeyed }

// begins reports whether the timer would begin something that can wait.
func (t *timer) begins() bool {
	switch t.owner.(type) {
	case *connection, *want:
		return true
	case *ikeSA:
		return t.kind == timerIKERekey || t.kind == timerReauth || t.kind == timerDPD || t.kind == timerGather
	case *childSA:
		return t.kind == timerChildRekey || t.kind == timerInactive
	}
	return false
}
