package ike

import (
	"bytes"
	"slices"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// startChildRekey begins to replace a CHILD_SA.
func (e *Engine) startChildRekey(c *childSA) {
	if c.state != ChildInstalled || c.redundant {
		return
	}
	if c.sa.hasTask(func(t task) bool { ct, ok := t.(*childTask); return ok && ct.old == c }) {
		return
	}
	if c.noOutbound {
		// The peer made it by a rekey that it has not finished: our answer may not be there yet.
		e.setChildTimer(c, timerChildRekey, e.now.Add(temporaryRetry+e.jitter(temporaryRetry)))
		return
	}
	e.enqueue(c.sa, &childTask{want: c.want, old: c})
}

// standing returns what the peer has made to replace the same CHILD_SA, if it is still there.
func (t *childTask) standing(e *Engine) *childSA {
	if n := t.twin; n != nil && !n.closed && e.children[n.info.ID] == n {
		return n
	}
	return nil
}

// completeRekey takes up the new CHILD_SA of our rekey. If the peer has rekeyed the same
// one meanwhile, of the two new ones that with the lowest of the four nonces is
// deleted by the end that initiated it (RFC 7296 section 2.8.1).
func (t *childTask) completeRekey(e *Engine, sa *ikeSA, a agreed) {
	collided := t.standing(e) != nil
	lost := collided && bytes.Compare(lowerNonce(a.ni, a.nr), t.twin.nonceMin) < 0
	if t.twin != nil && t.twin.state == ChildRekeyed {
		collided, lost = true, true // the peer has gone on from its own
	}
	// The peer's rekey of the same has not got as far as ours, which both ends have now. Whoever is through first wins,
	// whatever the nonces: the peer may never come to the end of its own.
	e.dropPending(sa.pendingFor(t.old))
	gone := e.children[t.old.info.ID] != t.old // the peer has deleted it
	doomed := t.old.state == ChildDeleting     // so has the operator, meanwhile
	a.redundant = lost || doomed
	if gone {
		a.replaces = nil
	}
	c, err := e.completeChild(sa, t.offer, a)
	if err != nil {
		t.failed(e, sa, err)
		return
	}
	t.offer = nil
	e.finishTask(sa)
	if gone {
		c.info.ReqID = t.old.info.ReqID
	}
	if collided {
		e.counters.RekeyCollisions++
	}
	switch {
	case doomed:
		e.deleteChild(c)
	case lost:
		e.note(sa, LevelInfo, "CHD", "CHILD_SA rekey collision lost, deleting redundant %s", c.label())
		e.replaced(t.old, t.twin)
		e.deleteChild(c)
	case collided:
		e.note(sa, LevelInfo, "CHD", "CHILD_SA rekey collision won, waiting for delete for redundant %s", t.twin.label())
		e.redundant(t.twin)
		fallthrough
	default:
		e.replaced(t.old, c)
	}
}

// replaced marks old as replaced by c, which its initiator's Delete makes final.
func (e *Engine) replaced(old, c *childSA) {
	if e.children[old.info.ID] != old || old.state == ChildDeleting {
		return
	}
	old.state = ChildRekeyed
	old.replacedBy, c.replaces = c, old
	e.timers.stop(&old.timers[timerChildRekey])
	if !old.closed {
		e.setChildTimer(old, timerChildLinger, e.now.Add(e.cfg.Timing.linger()))
	}
}

// redundant marks the peer's CHILD_SA of a collision that the peer has lost: it will delete it.
func (e *Engine) redundant(c *childSA) {
	c.redundant = true
	e.timers.stop(&c.timers[timerOutbound])
	e.timers.stop(&c.timers[timerChildRekey])
	e.setChildTimer(c, timerChildLinger, e.now.Add(e.cfg.Timing.linger()))
}

// rekeyFailed decides what becomes of a CHILD_SA whose rekey came to nothing.
func (t *childTask) rekeyFailed(e *Engine, sa *ikeSA, err *childError) {
	old := t.old
	if e.children[old.info.ID] != old || old.state != ChildRekeying {
		return // deleted meanwhile
	}
	old.state = ChildInstalled
	if t.standing(e) != nil {
		e.replaced(old, t.twin) // the peer's rekey
		return
	}
	defer e.resolveTwins(old)
	switch err.notify {
	case wire.NotifyChildSANotFound:
		// RFC 7296 section 2.25: the peer has lost it; so do we, and create it anew.
		w := old.want
		e.removeChild(old, "the peer does not know it any more")
		if !w.live() {
			w.asked = keptUp
			e.ensure(w.conn)
		}
	case wire.NotifyTemporaryFailure, wire.NotifyStateNotFound:
		e.setChildTimer(old, timerChildRekey, e.now.Add(temporaryRetry+e.jitter(temporaryRetry)))
	default:
		e.countRekey(true, true, false)
		old.rekeyTries++
		e.setChildTimer(old, timerChildRekey, e.now.Add(e.wait(old.rekeyTries)))
		e.failed(old.want.conn, old.want, sa, "rekeying CHILD_SA "+old.label()+" failed: "+err.text, "")
	}
}

// rekeyChildRequest answers the peer's rekey of a CHILD_SA (RFC 7296 sections
// 1.3.3 and 2.25.1).
func (e *Engine) rekeyChildRequest(sa *ikeSA, m *message) {
	n := m.notify(wire.NotifyRekeySA)
	spi, ok := n.ChildSPI()
	old := sa.childOut(uint32(spi))
	_, creating := sa.active.(*childTask)
	if old != nil {
		e.dropPending(sa.pendingFor(old)) // the peer begins anew
	}
	switch {
	case ok && old == nil && creating:
		// The response that creates it may still be under way to us.
		e.respond(sa, m, notification(wire.NotifyTemporaryFailure, nil))
		return
	case !ok || old == nil:
		e.respond(sa, m, &wire.Notify{Protocol: n.Protocol, SPI: n.SPI, NotifyType: wire.NotifyChildSANotFound})
		return
	case e.childOpsBlocked(sa) || !old.live():
		e.respond(sa, m, notification(wire.NotifyTemporaryFailure, nil))
		return
	}
	r := childRequest{m: m, old: old, ni: slices.Clone(find[*wire.Nonce](m).Data), nr: e.newNonce()}
	e.answerChild(sa, r, func(payloads []wire.Payload, c *childSA) {
		if c != nil {
			e.rekeyedByPeer(sa, old, c)
		}
		e.respond(sa, m, payloads...)
	})
}

// rekeyedByPeer takes up the new CHILD_SA of the peer's rekey. If we are rekeying the same one, both
// requests are answered as usual and it is decided when our response is here.
func (e *Engine) rekeyedByPeer(sa *ikeSA, old, c *childSA) {
	if t, ok := sa.active.(*childTask); ok && t.old == old && old.state == ChildRekeying {
		t.twin = c
		c.replaces = old
		return
	}
	e.replaced(old, c)
}

// childOut finds a CHILD_SA by the SPI that the peer receives on.
func (sa *ikeSA) childOut(spi uint32) *childSA {
	for _, c := range sa.children {
		if c.info.SPIOut == spi && !c.closed {
			return c
		}
	}
	return nil
}

// activate begins to send on a CHILD_SA that the peer made to replace
// another, when the peer is seen to receive on it (RFC 7296 section 2.8).
func (e *Engine) activate(c *childSA) {
	if !c.noOutbound || c.redundant || c.state == ChildDeleting || c.sa.reauthenticated() {
		return
	}
	c.noOutbound, c.madeBy = false, nil
	e.timers.stop(&c.timers[timerOutbound])
	e.do(InstallOutbound{ChildID: c.info.ID})
	c.sends = true
	if old := c.replaces; old != nil {
		e.stopSending(old)
		e.rekeyed(old, c)
	}
}

// heir returns what the peer has made to replace a CHILD_SA, if it has not deleted the old one yet.
func (c *childSA) heir() *childSA {
	for _, n := range c.sa.children {
		if n.replaces == c && !n.info.Initiator && !n.redundant && n.state != ChildDeleting && !n.closed && !c.closed {
			return n
		}
	}
	return nil
}

// useHeir begins to send on what replaces an expired CHILD_SA without waiting for the peer's
// word: the old one sends no more. While both ends rekey, it is not decided yet which one it is.
func (e *Engine) useHeir(old *childSA) {
	n := old.replacedBy
	t, _ := old.sa.active.(*childTask)
	if n != nil && !n.installed.IsZero() && (t == nil || t.twin != n) {
		e.activate(n)
	}
}

// stopSending takes a replaced CHILD_SA's outbound SA away.
func (e *Engine) stopSending(c *childSA) {
	if c.sends && !c.absent {
		e.keepSending(c.want, c)
		e.do(RemoveOutbound{ChildID: c.info.ID})
	}
	c.sends = false
}

// confirm begins to send on the CHILD_SAs that earlier requests of the peer made:
// its window being 1, a new request says that it has got our response.
func (e *Engine) confirm(sa *ikeSA, m *message) {
	t, _ := sa.active.(*childTask)
	for _, c := range slices.Clone(sa.children) {
		if c.noOutbound && c.madeBy != nil && c.madeBy != m && (t == nil || t.twin != c) {
			e.activate(c)
		}
	}
}

// rekeyed reports a finished rekey.
func (e *Engine) rekeyed(old, c *childSA) {
	e.countRekeyed(c.sa, true, c.info.Initiator)
	c.announced, old.announced = old.announced || c.announced, false
	e.emit(Note{Level: LevelInfo, Kind: NoteChildRekeyed, Group: "CHD", Connection: c.info.Connection, Child: c.info.Config.Name,
		IKEID: c.sa.id, Old: old.info.ID, ChildID: c.info.ID, Text: "CHILD_SA " + old.label() + " rekeyed, now " + c.describeUp()})
}

// resolveTwins deals with both ends having created the same CHILD_SA on one IKE SA, as they do
// when both find it missing. It is called whenever a CHILD_SA comes to rest.
func (e *Engine) resolveTwins(c *childSA) {
	for _, o := range slices.Clone(c.want.children) {
		if o != c && o.sa == c.sa {
			e.resolvePair(c, o)
		}
	}
}

// resolvePair leaves one of two equal CHILD_SAs at rest: that with the lowest nonce is deleted by
// the end that made it, as with colliding rekeys (RFC 7296 section 2.8.1).
func (e *Engine) resolvePair(c, o *childSA) {
	if c.info.CPU.Bound || o.info.CPU.Bound || o.want != c.want || o.state != ChildInstalled || c.state != ChildInstalled || o.redundant || c.redundant || o.noOutbound || c.noOutbound ||
		!slices.Equal(o.info.LocalTS, c.info.LocalTS) || !slices.Equal(o.info.RemoteTS, c.info.RemoteTS) {
		return
	}
	loser := c
	if bytes.Compare(o.nonceMin, c.nonceMin) < 0 {
		loser = o
	}
	if loser.info.Initiator {
		e.note(c.sa, LevelInfo, "CHD", "both ends have made CHILD_SA %s, deleting %s", c.want.cfg.Name, loser.label())
		e.deleteChild(loser)
	}
}
