package ike

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// ikeRekey is what rekeys of an IKE SA have led to.
type ikeRekey struct {
	twin      *ikeSA // made by the peer's rekey while ours was under way
	successor *ikeSA // took over the children
	replaces  *ikeSA // whose twin or successor this is
	redundant bool   // lost a collision: it will be deleted
	tries     int
}

// rekeyIKETask replaces an IKE SA (RFC 7296 sections 1.3.2 and 2.18).
type rekeyIKETask struct {
	next   *ikeSA // the new one
	ni, nr []byte
	ke     suite.KeyExchange
	groups int
	chosen suite.Proposal
	follow *followup // additional key exchanges, once CREATE_CHILD_SA is answered
}

func (*rekeyIKETask) name() string { return "IKE_REKEY" }

// startIKERekey begins to replace an IKE SA.
func (e *Engine) startIKERekey(sa *ikeSA) {
	if sa.up() && sa.pendingFor(nil) != nil { // the peer is rekeying it
		e.setSATimer(sa, timerIKERekey, e.now.Add(followupTime+e.jitter(temporaryRetry)))
		return
	}
	if !sa.up() || sa.rekey.redundant || sa.reauth.by != nil || sa.hasTask(func(t task) bool { _, ok := t.(*rekeyIKETask); return ok }) {
		return
	}
	e.enqueue(sa, &rekeyIKETask{})
}

func (t *rekeyIKETask) begin(e *Engine, sa *ikeSA) bool {
	groups := groupsOf(sa.conn.cfg.Proposals)
	if !sa.up() || len(groups) == 0 {
		return false
	}
	if sa.pendingFor(nil) != nil {
		e.setSATimer(sa, timerIKERekey, e.now.Add(followupTime+e.jitter(temporaryRetry)))
		return false
	}
	e.note(sa, LevelInfo, "IKE", "initiating IKE_SA %s rekeying", sa.label())
	t.next = e.newSA(true, sa.local, sa.remote)
	t.next.state = stateInit
	t.ni = e.newNonce()
	group := groups[0]
	if slices.Contains(groups, sa.suite.KE.ID) {
		group = sa.suite.KE.ID // the peer can do it
	}
	t.sendWith(e, sa, group)
	return true
}

func (t *rekeyIKETask) sendWith(e *Engine, sa *ikeSA, group uint16) {
	t.groups++
	e.compute(sa, e.newKE(group, nil), func(result any) {
		r := result.(keyResult)
		if r.err != nil {
			t.failed(e, sa, 0, "key exchange: "+r.err.Error())
			return
		}
		t.ke = r.ke
		e.request(sa, wire.ExchangeCreateChildSA,
			offerSA(sa.conn.cfg.Proposals, t.next.spiI.Bytes()),
			&wire.Nonce{Data: t.ni},
			&wire.KeyExchange{Method: t.ke.Group(), Data: t.ke.Public()})
	})
}

func (t *rekeyIKETask) answer(e *Engine, sa *ikeSA, m *message) {
	if m.Exchange == wire.ExchangeFollowupKE {
		t.answerFollowup(e, sa, m)
		return
	}
	proposals := sa.conn.cfg.Proposals
	if group, ok := wantedGroup(m.notify(wire.NotifyInvalidKEPayload), proposals, t.ke.Group()); ok && t.groups < maxRedirects {
		t.sendWith(e, sa, group)
		return
	}
	if n := m.error(); n != nil {
		t.failed(e, sa, n.NotifyType, "peer answers "+n.NotifyType.String())
		return
	}
	chosen, w, err := verifyChoice(proposals, find[*wire.SA](m))
	ke := find[*wire.KeyExchange](m)
	if err == nil && (ke == nil || ke.Method != t.ke.Group() || chosen.Suite().KE.ID != ke.Method) {
		err = fmt.Errorf("the answer's DH group is not ours")
	}
	if err != nil {
		t.failed(e, sa, 0, err.Error())
		return
	}
	spi, ok := w.IKESPI()
	if !ok || spi == 0 {
		t.failed(e, sa, 0, "the answer has no SPI")
		return
	}
	t.next.spiR = spi
	t.chosen, t.nr = chosen, slices.Clone(find[*wire.Nonce](m).Data)
	e.compute(sa, sharedSecret(t.ke, slices.Clone(ke.Data)), func(result any) {
		r := result.(keyResult)
		if r.err != nil {
			t.failed(e, sa, 0, "key exchange: "+r.err.Error())
			e.distrust(sa, r.err)
			return
		}
		secrets := []suite.Key{r.shared}
		if t.follow, err = newFollowup(chosen, m, secrets); err != nil {
			t.failed(e, sa, 0, err.Error())
			return
		}
		if t.follow != nil {
			t.followUp(e, sa)
			return
		}
		t.derive(e, sa, secrets)
	})
}

// derive makes the new IKE SA when all key exchanges are done.
func (t *rekeyIKETask) derive(e *Engine, sa *ikeSA, secrets []suite.Key) {
	if err := e.deriveIKE(t.next, t.chosen, t.ni, t.nr, secrets, sa); err != nil {
		t.failed(e, sa, 0, "key exchange: "+err.Error())
		return
	}
	t.complete(e, sa)
}

// complete takes up the new IKE SA, or the peer's if both have rekeyed at once and
// ours has the lowest of the four nonces (RFC 7296 section 2.8.1).
func (t *rekeyIKETask) complete(e *Engine, sa *ikeSA) {
	next := t.next
	t.next = nil
	e.finishTask(sa)
	e.inherit(sa, next)
	if p := sa.pendingFor(nil); p != nil { // the peer's own has not got as far as ours
		e.counters.RekeyCollisions++
		if bytes.Compare(next.nonceMin, p.nonceMin) < 0 {
			e.yieldIKE(sa)
			next.rekey.redundant = true
			e.deleteIKE(next, "redundant")
			return
		}
		e.dropPending(p)
	}
	twin := sa.rekey.twin
	collided := twin != nil && !twin.gone
	if collided {
		e.counters.RekeyCollisions++
	}
	if sa.state == stateRekeyed { // the peer uses its own already
		next.rekey.redundant = true
		e.deleteIKE(next, "redundant")
		return
	}
	if collided && bytes.Compare(next.nonceMin, twin.nonceMin) < 0 {
		e.note(sa, LevelInfo, "IKE", "IKE_SA rekey collision lost, deleting redundant IKE_SA %s", next.label())
		e.adopt(sa, twin)
		next.rekey.redundant = true
		e.deleteIKE(next, "redundant")
		return
	}
	if collided {
		e.note(sa, LevelInfo, "IKE", "IKE_SA rekey collision won, waiting for delete for redundant IKE_SA %s", twin.label())
		twin.rekey.redundant = true
		e.stopSATimers(twin)
		e.setSATimer(twin, timerLinger, e.now.Add(redundantTime))
	}
	e.adopt(sa, next)
	e.deleteIKE(sa, "rekeyed")
}

// failed ends our rekey; the IKE SA stays, if the peer's own rekey has not replaced it.
func (t *rekeyIKETask) failed(e *Engine, sa *ikeSA, n wire.NotifyType, text string) {
	e.finishTask(sa)
	t.abandon(e, sa)
	if twin := sa.rekey.twin; twin != nil && !twin.gone {
		e.adopt(sa, twin)
	}
	if sa.state == stateRekeyed {
		return
	}
	if temporary(n) {
		e.setSATimer(sa, timerIKERekey, e.now.Add(temporaryRetry+e.jitter(temporaryRetry)))
		return
	}
	e.countRekey(false, true, false)
	sa.rekey.tries++
	e.setSATimer(sa, timerIKERekey, e.now.Add(e.wait(sa.rekey.tries)))
	e.failed(sa.conn, nil, sa, fmt.Sprintf("rekeying IKE_SA %s failed: %s", sa.label(), text), "")
}

// abandon drops the IKE SA that was to be.
func (t *rekeyIKETask) abandon(e *Engine, _ *ikeSA) {
	t.follow.wipe()
	if t.next != nil {
		e.destroySA(t.next, "its rekey was abandoned")
		t.next = nil
	}
}

// rekeyIKERequest answers the peer's rekey of the IKE SA (RFC 7296 section
// 1.3.2). It must not cross what we do to CHILD_SAs (section 2.25.2).
func (e *Engine) rekeyIKERequest(sa *ikeSA, m *message) {
	if sa.state != stateEstablished || sa.rekey.redundant || sa.rekey.twin != nil || busyWithChildren(sa.active) {
		e.respond(sa, m, notification(wire.NotifyTemporaryFailure, nil))
		return
	}
	c := sa.conn.cfg
	ke, nonce := find[*wire.KeyExchange](m), find[*wire.Nonce](m)
	chosen, w, err := choose(c.Proposals, find[*wire.SA](m), suite.Options{PreferKE: ke.Method})
	if err == nil {
		if spi, ok := w.IKESPI(); !ok || spi == 0 {
			err = fmt.Errorf("the SPI is invalid")
		}
	}
	if err != nil {
		e.refusal(sa.conn, fmt.Sprintf("refusing to rekey IKE_SA %s: %v %s", sa.label(), err, c.at("proposals")))
		e.respond(sa, m, notification(wire.NotifyNoProposalChosen, nil))
		return
	}
	group := chosen.Suite().KE.ID
	if group != ke.Method || len(ke.Data) != suite.PublicLen(group) {
		e.respond(sa, m, notification(wire.NotifyInvalidKEPayload, binary.BigEndian.AppendUint16(nil, group)))
		return
	}
	next := e.newSA(false, sa.local, sa.remote)
	next.spiI, _ = w.IKESPI()
	next.state = stateInit
	ni, nr := slices.Clone(nonce.Data), e.newNonce()
	finish := func(m *message, secrets []suite.Key, answer ...wire.Payload) {
		if err := e.deriveIKE(next, chosen, ni, nr, secrets, sa); err != nil {
			e.destroySA(next, "key exchange failed")
			e.respond(sa, m, notification(wire.NotifyInvalidSyntax, nil))
			e.failSA(sa, "rekeying: "+err.Error())
			return
		}
		e.inherit(sa, next)
		e.respond(sa, m, answer...)
		if _, ok := sa.active.(*rekeyIKETask); ok {
			sa.rekey.twin = next // decided when the answer to ours is here
			next.rekey.replaces = sa
			return
		}
		e.adopt(sa, next)
	}
	e.compute(sa, e.newKE(group, slices.Clone(ke.Data)), func(result any) {
		r := result.(keyResult)
		if r.err != nil {
			e.destroySA(next, "key exchange failed")
			e.respond(sa, m, notification(wire.NotifyInvalidSyntax, nil))
			e.failSA(sa, "the peer's public value is unusable: "+r.err.Error()) // RFC 6989 section 2.5
			return
		}
		secrets := []suite.Key{r.shared}
		answer := []wire.Payload{chosenSA(chosen, w.Number, next.spiR.Bytes()), &wire.Nonce{Data: nr},
			&wire.KeyExchange{Method: r.ke.Group(), Data: r.ke.Public()}}
		left := chosen.Suite().Additional()
		if len(left) == 0 {
			finish(m, secrets, answer...)
			return
		}
		p := &pendingKE{sa: sa, left: left, secrets: secrets, nonceMin: lowerNonce(ni, nr), next: next}
		p.finish = func(m *message, ke wire.Payload, secrets []suite.Key) { finish(m, secrets, ke) }
		e.awaitIKE(sa, m, p, answer)
	})
}

// settleTwin takes the peer's use of an IKE SA for its decision that this is the one that remains
// of two colliding rekeys, if the answer to ours is still to come.
func (e *Engine) settleTwin(sa *ikeSA, m *message) {
	old := sa.rekey.replaces
	if old == nil || old.rekey.twin != sa || m.IsResponse() {
		return
	}
	for d := range wire.All[*wire.Delete](m.payloads) {
		if d.Protocol == wire.ProtocolIKE {
			return
		}
	}
	e.adopt(old, sa)
}

// busyWithChildren reports whether a task creates, rekeys or closes a CHILD_SA.
func busyWithChildren(t task) bool {
	switch t.(type) {
	case *childTask, *deleteChildTask:
		return true
	}
	return false
}

// inherit gives a new IKE SA what it has in common with the one that it is to replace.
func (e *Engine) inherit(old, next *ikeSA) {
	next.local, next.remote, next.natt = old.local, old.remote, old.natt
	next.natLocal, next.natRemote, next.forceEncap = old.natLocal, old.natRemote, old.forceEncap
	next.peerFragments, next.peerChildless, next.mobike = old.peerFragments, old.peerChildless, old.mobike
	next.peerRedirects = old.peerRedirects
	next.ppk = old.ppk // by SK_d
	next.localID, next.remoteID = old.localID, old.remoteID
	next.begun, next.proved, next.confirmed = old.begun, old.proved, true
	next.ifIDIn, next.ifIDOut = old.ifIDIn, old.ifIDOut
	e.bind(next, old.conn)
	e.setPair(next, old.pair)
	next.keys.SKpi.Wipe() // only IKE_AUTH needs them
	next.keys.SKpr.Wipe()
	next.state = stateEstablished
	next.established, next.lastInbound, next.lastESP = e.now, e.now, old.lastESP
}

// adopt moves the CHILD_SAs and what waits to be done from an IKE SA to its
// successor (RFC 7296 section 2.8). The old one waits for its Delete.
func (e *Engine) adopt(old, next *ikeSA) {
	closing := old.state == stateDeleting // the operator wants it gone
	old.state = stateRekeyed
	old.rekey.successor, next.rekey.replaces = next, old
	old.rekey.twin = nil
	e.stopSATimers(old)
	e.dropAllPending(old) // an unfinished rekey of what has moved on
	e.setSATimer(old, timerLinger, e.now.Add(e.cfg.Timing.linger()))
	e.inheritReauth(old, next)
	e.startSATimers(next)
	if old.superseded {
		e.supersede(next)
	}
	for _, c := range old.children {
		info := *c.info
		info.IKEID = next.id
		c.info, c.sa = &info, next
	}
	next.children = append(next.children, old.children...)
	e.inheritVirtual(old, next)
	old.children = nil
	queue := old.queue
	old.queue = nil
	for _, t := range queue {
		switch t.(type) {
		case *childTask, *deleteChildTask:
			next.queue = append(next.queue, t)
		default:
			t.abandon(e, old)
		}
	}
	e.countRekeyed(old, false, next.initiator)
	e.emit(Note{Level: LevelInfo, Kind: NoteIKERekeyed, Group: "IKE", Connection: old.conn.cfg.Name, IKEID: next.id, Old: old.id,
		Text: fmt.Sprintf("IKE_SA %s rekeyed between %s, replaces %s", next.label(), next.ends(), old.label())})
	if closing {
		e.deleteIKE(next, "deleted")
		return
	}
	e.resumePath(old, next)
	e.resolveSimultaneous(next)
	e.nextTask(next)
	e.ensure(next.conn)
}

// lingered ends an IKE SA that the peer ought to have deleted, or an attempt
// that only got an unauthenticated error.
func (e *Engine) lingered(sa *ikeSA) {
	if sa.setting() {
		e.failSA(sa, sa.setup.initError)
		return
	}
	if sa.up() && sa.superseded {
		if sa.superseded = slices.ContainsFunc(e.older(sa), (*ikeSA).up); sa.superseded {
			e.deleteSuperseded(sa)
		} // else the peer has deleted the newer one, as where both ends set one up at once
		return
	}
	if sa.up() && !sa.rekey.redundant {
		e.dropDuplicate(sa)
		return
	}
	e.deleteIKE(sa, "rekeyed")
	if sa.rekey.redundant && !sa.gone {
		e.destroySA(sa, "redundant") // the peer may never have had it
	}
}

// forgetRekey takes a destroyed IKE SA out of what refers to it.
func (e *Engine) forgetRekey(sa *ikeSA) {
	if o := sa.rekey.replaces; o != nil {
		if o.rekey.twin == sa {
			o.rekey.twin = nil
		}
		if o.rekey.successor == sa {
			o.rekey.successor = nil
		}
	}
	if o := sa.rekey.successor; o != nil && o.rekey.replaces == sa {
		o.rekey.replaces = nil
	}
	twin := sa.rekey.twin
	sa.rekey = ikeRekey{}
	if twin != nil && twin.rekey.replaces == sa {
		// It has taken over nothing, and nobody will decide about it any more.
		twin.rekey.replaces = nil
		e.deleteIKE(twin, "the IKE_SA that it was to replace is gone")
	}
}
