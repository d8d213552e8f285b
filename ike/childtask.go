package ike

import (
	"errors"
	"slices"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// childTask is our CREATE_CHILD_SA exchange for a new CHILD_SA, or for one that
// replaces old (RFC 7296 sections 1.3.1 and 1.3.3).
type childTask struct {
	want     *want
	old      *childSA // nil: not a rekey
	moves    *childSA // on another IKE SA, which the new one makes superfluous
	packet   *packet  // asks for one more, since those that are there are not for it
	cpuShare          // with beside: one more, for a CPU
	offer    *offer
	groups   int      // key exchanges tried
	twin     *childSA // made by the peer's rekey of the same CHILD_SA meanwhile
	agreed   agreed
	follow   *followup // additional key exchanges, once CREATE_CHILD_SA is answered
	// deleted are unknown SPIs that the peer has deleted while its response was not
	// here: that response can be late, and what it creates is gone already.
	deleted []uint32
}

func (t *childTask) name() string {
	if t.old != nil {
		return "CHILD_REKEY"
	}
	return "CHILD_CREATE"
}

// createChild begins to create a CHILD_SA unless that is under way.
func (e *Engine) createChild(sa *ikeSA, w *want) {
	if !sa.hasTask(func(t task) bool { c, ok := t.(*childTask); return ok && c.want == w && c.old == nil }) {
		e.enqueue(sa, &childTask{want: w})
	}
}

// begin makes the offer and our half of the key exchange with the group that
// we like best.
func (t *childTask) begin(e *Engine, sa *ikeSA) bool {
	if !sa.up() {
		return false
	}
	switch {
	case t.beside != nil:
		if t.beside = e.oldest(t.beside.info.ReqID, (*childSA).shared); t.beside == nil || t.beside.sa != sa || t.want.gone {
			return false // it may have been rekeyed meanwhile
		}
	case t.packet != nil:
		if t.want.carries(t.packet) || t.want.gone {
			return false
		}
	case t.moves != nil && !t.moves.live(), t.moves == nil && t.old == nil && (t.want.live() || !t.want.desired()):
		return false
	}
	if t.old != nil {
		if t.old.state != ChildInstalled || t.old.sa != sa {
			return false // replaced or deleted meanwhile
		}
		if sa.pendingFor(t.old) != nil { // the peer is rekeying it
			e.setChildTimer(t.old, timerChildRekey, e.now.Add(followupTime+e.jitter(temporaryRetry)))
			return false
		}
		t.old.state = ChildRekeying
		e.note(sa, LevelInfo, "CHD", "establishing CHILD_SA %s to replace SPI %08x", t.old.label(), t.old.info.SPIIn)
	} else {
		e.note(sa, LevelInfo, "CHD", "establishing CHILD_SA %s", t.want.cfg.Name)
	}
	t.offer = e.newOffer(sa, t.want, t.old)
	t.packet.first(t.offer)
	if t.beside != nil {
		t.offer.cpuShare = t.cpuShare
		t.offer.localTS, t.offer.remoteTS = t.beside.info.LocalTS, t.beside.info.RemoteTS
	}
	group := suite.KENone
	if groups := groupsOf(t.offer.proposals); len(groups) > 0 {
		group = groups[0]
	}
	t.sendWith(e, sa, group)
	return true
}

// sendWith sends the request with a key exchange of the group.
func (t *childTask) sendWith(e *Engine, sa *ikeSA, group uint16) {
	t.groups++
	if group == suite.KENone {
		t.offer.ke = nil
		t.send(e, sa)
		return
	}
	e.compute(sa, e.newKE(group, nil), func(result any) {
		r := result.(keyResult)
		if r.err != nil {
			t.failed(e, sa, &childError{text: "key exchange: " + r.err.Error()})
			return
		}
		t.offer.ke = r.ke
		t.send(e, sa)
	})
}

func (t *childTask) send(e *Engine, sa *ikeSA) {
	var first []wire.Payload
	if t.old != nil {
		// RFC 7296 section 1.3.3: the SPI that we expect in inbound packets.
		spi := wire.ChildSPI(t.old.info.SPIIn).Bytes()
		first = append(first, &wire.Notify{Protocol: wire.ProtocolESP, SPI: spi, NotifyType: wire.NotifyRekeySA})
	}
	e.request(sa, wire.ExchangeCreateChildSA, t.offer.payloads(first)...)
}

// answer checks the response and computes the shared secret, if there is one.
func (t *childTask) answer(e *Engine, sa *ikeSA, m *message) {
	if m.Exchange == wire.ExchangeFollowupKE {
		t.answerFollowup(e, sa, m)
		return
	}
	used := suite.KENone
	if t.offer.ke != nil {
		used = t.offer.ke.Group()
	}
	if group, ok := wantedGroup(m.notify(wire.NotifyInvalidKEPayload), t.offer.proposals, used); ok && t.groups < maxRedirects {
		e.note(sa, LevelInfo, "CHD", "peer didn't accept DH group %s, it requested %s", groupName(used), groupName(group))
		t.sendWith(e, sa, group)
		return
	}
	a, err := e.readChildResponse(sa, t.offer, m)
	if err != nil {
		t.failed(e, sa, err)
		return
	}
	group := a.proposal.Suite().KE.ID
	if group == suite.KENone {
		t.complete(e, sa, a)
		return
	}
	ke := find[*wire.KeyExchange](m)
	if ke == nil || ke.Method != group || group != used {
		t.failed(e, sa, &childError{text: "peer chose DH group " + groupName(group) + " and did not use it", tell: true, spiOut: a.spiOut})
		return
	}
	e.compute(sa, sharedSecret(t.offer.ke, slices.Clone(ke.Data)), func(result any) {
		r := result.(keyResult)
		if r.err != nil {
			t.failed(e, sa, &childError{text: "key exchange: " + r.err.Error()})
			e.distrust(sa, r.err)
			return
		}
		a.secrets = []suite.Key{r.shared}
		t.goOn(e, sa, a, m)
	})
}

// complete installs the new CHILD_SA.
func (t *childTask) complete(e *Engine, sa *ikeSA, a agreed) {
	if slices.Contains(t.deleted, a.spiOut) {
		wipe(a.secrets)
		t.failed(e, sa, &childError{notify: wire.NotifyTemporaryFailure, text: "peer deleted the CHILD_SA at once"})
		return
	}
	if t.old != nil {
		t.completeRekey(e, sa, a)
		return
	}
	c, err := e.completeChild(sa, t.offer, a)
	if err != nil {
		t.failed(e, sa, err)
		return
	}
	c.moves = t.moves
	t.offer = nil
	e.finishTask(sa)
}

// failed ends the task without a CHILD_SA.
func (t *childTask) failed(e *Engine, sa *ikeSA, err error) {
	e.finishTask(sa)
	t.follow.wipe()
	var ce *childError
	errors.As(err, &ce)
	o := t.offer
	t.offer = nil
	switch {
	case t.old != nil:
		e.childRefused(sa, o, err)
		t.rekeyFailed(e, sa, ce)
	case t.beside != nil:
		if ce.tell {
			e.enqueue(sa, &deleteChildTask{spi: o.spi})
		}
		e.dropOffer(o)
		e.cpuRefused(t.want, sa, t.cpu, ce)
	case temporary(ce.notify):
		// RFC 7296 section 2.25: not a failure, and not at once again.
		e.dropOffer(o)
		e.timers.set(&t.want.retry, t.want, timerRetry, e.now.Add(temporaryRetry+e.jitter(temporaryRetry)))
	default:
		if ce.notify == wire.NotifyTSMaxQueue {
			e.giveUpCPU(sa, t.want)
		}
		e.childRefused(sa, o, err)
	}
}

// abandon gives back the offer, and the CHILD_SA that was to be rekeyed.
func (t *childTask) abandon(e *Engine, _ *ikeSA) {
	e.dropOffer(t.offer)
	t.offer = nil
	t.follow.wipe()
	if t.old != nil && t.old.state == ChildRekeying {
		t.old.state = ChildInstalled
	}
}
