package ike

import (
	"bytes"
	"slices"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// idPair are the identities of the two ends of an IKE SA.
type idPair struct{ local, remote auth.Identity }

// setPair files an SA under its identities; the zero pair takes it out.
func (e *Engine) setPair(sa *ikeSA, p idPair) {
	if sa.pair != (idPair{}) {
		rest := slices.DeleteFunc(e.pairs[sa.pair], func(o *ikeSA) bool { return o == sa })
		if e.pairs[sa.pair] = rest; len(rest) == 0 {
			delete(e.pairs, sa.pair)
		}
	}
	if sa.pair = p; p != (idPair{}) {
		e.pairs[p] = append(e.pairs[p], sa)
	}
}

// older returns the other established IKE SAs between the same identities.
func (e *Engine) older(sa *ikeSA) []*ikeSA {
	return slices.DeleteFunc(slices.Clone(e.pairs[idPair{sa.localID, sa.remoteID}]), func(o *ikeSA) bool {
		return o == sa || !o.up() && o.state != stateRekeyed
	})
}

// uniqueAllows applies unique = keep: the older IKE SA wins, unless it comes from where the new one does. Then the peer authenticates
// again, make before break.
func (e *Engine) uniqueAllows(sa *ikeSA) bool {
	return sa.conn.cfg.Unique != UniqueKeep || !slices.ContainsFunc(e.older(sa), func(o *ikeSA) bool { return o.remote != sa.remote })
}

// replaceOlder closes what a new IKE SA of an authenticated initiator makes
// obsolete: by INITIAL_CONTACT, the peer having forgotten them (RFC 7296 section 2.4);
// by unique = replace; or where the peer has too many.
func (e *Engine) replaceOlder(sa *ikeSA, initialContact bool) {
	older := e.older(sa)
	policy := sa.conn.cfg.Unique
	switch {
	case initialContact && policy != UniqueNever:
		for _, o := range older {
			if o.established.After(sa.begun) {
				continue // set up at the same time: the peer has not forgotten it
			}
			e.note(o, LevelInfo, "IKE", "destroying duplicate IKE_SA for peer '%v', received INITIAL_CONTACT", sa.remoteID)
			e.closeWith(o, "the peer came anew (INITIAL_CONTACT)", func(w *want) ChildAction { return w.cfg.DPDAction })
		}
	case policy == UniqueReplace:
		for _, o := range older {
			if o.up() && o.remote.Addr() == sa.remote.Addr() {
				e.supersede(o)
			} else {
				e.deleteSuperseded(o)
			}
		}
	}
	e.capSAs(sa)
}

// supersede lets an IKE SA go some time after a newer one of the same peer: that one authenticates again, most likely, and
// makes its CHILD_SAs anew before it deletes the old ones.
func (e *Engine) supersede(sa *ikeSA) {
	e.note(sa, LevelInfo, "IKE", "scheduling delete of duplicate IKE_SA for peer '%v' due to uniqueness policy and suspected reauthentication", sa.remoteID)
	sa.superseded = true
	e.setSATimer(sa, timerLinger, e.now.Add(supersededTime))
}

// deleteSuperseded applies unique = replace; what the new IKE SA is to have is asked for there.
func (e *Engine) deleteSuperseded(sa *ikeSA) {
	e.alert(sa, AlertUniqueReplace)
	e.note(sa, LevelInfo, "IKE", "deleting duplicate IKE_SA for peer '%v' due to uniqueness policy", sa.remoteID)
	e.keepUp(sa, func(w *want) ChildAction { return w.cfg.DPDAction })
	e.deleteIKE(sa, "replaced by a newer IKE_SA (unique = replace)")
}

// recheck asks for a sign of life on IKE SAs that came up while we set up one with
// INITIAL_CONTACT, which can have made the peer drop them.
func (e *Engine) recheck(sa *ikeSA) {
	for _, o := range e.older(sa) {
		if o.up() && o.active == nil && sa.reauth.replaces != o {
			e.enqueue(o, livenessTask{})
		}
	}
}

// capSAs bounds the IKE SAs of one peer and connection; the oldest goes.
func (e *Engine) capSAs(sa *ikeSA) {
	var same []*ikeSA
	for _, o := range e.older(sa) {
		if o.up() && o.samePeer(sa) {
			same = append(same, o)
		}
	}
	if limit := e.cfg.Limits.IKESAsPerPeer; limit > 0 && len(same) >= limit {
		e.note(same[0], LevelWarn, "IKE", "peer '%v' has %d IKE_SAs, deleting the oldest", sa.remoteID, len(same)+1)
		e.deleteIKE(same[0], "the peer has too many IKE_SAs")
	}
}

// abandonOwnAttempt gives up what we have begun with a peer that has now
// come by itself, as long as it cannot have been established at the peer.
func (e *Engine) abandonOwnAttempt(sa *ikeSA) {
	for _, o := range slices.Clone(sa.conn.sas) {
		if o != sa && o.initiator && o.setting() && !o.setup.sentAuth && o.sameHost(sa) {
			e.note(o, LevelInfo, "IKE", "the peer has set up an IKE_SA meanwhile, abandoning ours")
			e.destroySA(o, "the peer was faster")
		}
	}
}

// resolveSimultaneous deals with two peers that set up an IKE SA with each other at
// once: of two with the same CHILD_SAs, the one with the lowest of the four nonces is
// closed by the end that initiated it, as with colliding rekeys (RFC 7296 section
// 2.8.1). It is called whenever something comes to rest.
func (e *Engine) resolveSimultaneous(sa *ikeSA) {
	e.continueReauth(sa)
	for _, o := range e.older(sa) {
		if sa.reauth.replaces == o || o.reauth.replaces == sa {
			continue
		}
		if !sa.up() || !o.up() || !o.samePeer(sa) || !o.sameHost(sa) || sa.rekey.redundant || o.rekey.redundant {
			continue
		}
		loser, winner := sa, o
		if bytes.Compare(o.nonceMin, sa.nonceMin) < 0 {
			loser, winner = o, sa
		}
		if len(winner.children) == 0 {
			loser, winner = winner, loser
		}
		switch {
		case !winner.covers(loser):
			e.resolveTwinsOf(winner, loser)
			e.gather(winner, loser)
		case !winner.confirmed:
			// The peer may not have our answer to IKE_AUTH yet: ask on the winner itself.
			if !winner.hasTask(func(task) bool { return true }) {
				e.enqueue(winner, livenessTask{})
			}
		case !loser.initiator:
			// The peer deletes it; but it may have given it up without our noticing.
			if loser.timers[timerLinger].pos == 0 {
				e.setSATimer(loser, timerLinger, e.now.Add(e.cfg.Timing.linger()))
			}
		case !loser.installing():
			// The winner has all that is sent for: no packet must be on the loser when it goes.
			e.activateSecond(winner.children)
			for _, c := range loser.children {
				e.stopSending(c)
			}
			e.note(loser, LevelInfo, "IKE", "both ends have set up an IKE_SA at once, deleting ours")
			e.deleteIKE(loser, "both ends have set up an IKE_SA at once")
		}
	}
}

// dropDuplicate deletes the duplicate of two set-ups at once that its initiator has not deleted, if
// the other one still has all that it has.
func (e *Engine) dropDuplicate(sa *ikeSA) {
	for _, o := range e.older(sa) {
		if !o.up() || !o.samePeer(sa) || o.rekey.redundant || !o.covers(sa) {
			continue
		}
		if !o.confirmed || !o.lastInbound.After(sa.established) {
			// The peer may have forgotten that one.
			e.enqueue(o, livenessTask{})
			e.setSATimer(sa, timerLinger, e.now.Add(e.cfg.Timing.linger()))
		} else {
			e.activateSecond(o.children)
			for _, c := range sa.children {
				e.stopSending(c)
			}
			e.deleteIKE(sa, "both ends have set up an IKE_SA at once")
		}
		return
	}
}

// installing reports whether the kernel has not answered for one of the CHILD_SAs.
func (sa *ikeSA) installing() bool {
	return slices.ContainsFunc(sa.children, func(c *childSA) bool { return c.state == ChildInstalling })
}

// gather moves what only the loser has to the winner, when both have been quiet for a
// while: the CHILD_SA is made there first and then deleted here. The loser
// goes when it has nothing left.
func (e *Engine) gather(winner, loser *ikeSA) {
	if !loser.initiator {
		return
	}
	quiet := winner.begun
	if loser.begun.After(quiet) {
		quiet = loser.begun
	}
	if quiet = quiet.Add(gatherAfter); e.now.Before(quiet) {
		e.setSATimer(loser, timerGather, quiet)
		return
	}
	for _, c := range loser.children {
		there := slices.ContainsFunc(c.want.children, func(o *childSA) bool { return o.sa == winner })
		under := winner.hasTask(func(t task) bool { ct, ok := t.(*childTask); return ok && ct.want == c.want })
		if c.state == ChildInstalled && !c.redundant && !there && !under {
			e.enqueue(winner, &childTask{want: c.want, moves: c})
		}
	}
}

// resolveTwinsOf resolves CHILD_SAs that two IKE SAs with the same peer have both.
func (e *Engine) resolveTwinsOf(sa, other *ikeSA) {
	for _, c := range slices.Clone(sa.children) {
		for _, o := range slices.Clone(other.children) {
			e.resolvePair(c, o)
		}
	}
}

// covers reports whether sa has CHILD_SAs, among them one at rest for each that o has.
func (sa *ikeSA) covers(o *ikeSA) bool {
	for _, c := range o.children {
		if c.live() && !slices.ContainsFunc(sa.children, func(d *childSA) bool {
			return d.state == ChildInstalled && !d.redundant && !d.noOutbound && d.want == c.want &&
				slices.Equal(d.info.LocalTS, c.info.LocalTS) && slices.Equal(d.info.RemoteTS, c.info.RemoteTS)
		}) {
			return false
		}
	}
	return len(sa.children) > 0
}
