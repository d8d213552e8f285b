package ike

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// followup is our side, as initiator, of the additional key exchanges that follow CREATE_CHILD_SA (RFC 9370 section 2.2.4).
type followup struct {
	left    []uint16 // methods, the next one first
	link    []byte   // that the peer told us to send along
	ke      suite.KeyExchange
	secrets []suite.Key // so far, that of CREATE_CHILD_SA first
}

// newFollowup begins what the answer m to CREATE_CHILD_SA calls for; nil, if there are no additional key exchanges.
func newFollowup(chosen suite.Proposal, m *message, secrets []suite.Key) (*followup, error) {
	left := chosen.Suite().Additional()
	if len(left) == 0 {
		return nil, nil
	}
	f := &followup{left: left, secrets: secrets}
	return f, f.learnLink(m)
}

// learnLink takes the link that the next request needs.
func (f *followup) learnLink(m *message) error {
	n := m.notify(wire.NotifyAdditionalKeyExchange)
	if n == nil {
		return fmt.Errorf("%s is still to come, and the answer has no ADDITIONAL_KEY_EXCHANGE notification", groupName(f.left[0]))
	}
	f.link = slices.Clone(n.Data)
	return nil
}

// send makes our half of the next key exchange and sends it in IKE_FOLLOWUP_KE.
func (f *followup) send(e *Engine, sa *ikeSA, failed func(text string)) {
	e.compute(sa, e.newKE(f.left[0], nil), func(result any) {
		r := result.(keyResult)
		if r.err != nil {
			failed("key exchange: " + r.err.Error())
			return
		}
		f.ke = r.ke
		e.request(sa, wire.ExchangeFollowupKE,
			&wire.KeyExchange{Method: r.ke.Group(), Data: r.ke.Public()},
			notification(wire.NotifyAdditionalKeyExchange, f.link))
	})
}

// take completes a key exchange with the peer's answer; then it calls done, with an error if that was of no use.
func (f *followup) take(e *Engine, sa *ikeSA, m *message, done func(err error)) {
	ke := find[*wire.KeyExchange](m)
	if ke == nil || ke.Method != f.left[0] {
		done(fmt.Errorf("the answer to IKE_FOLLOWUP_KE is not for %s", groupName(f.left[0])))
		return
	}
	e.compute(sa, sharedSecret(f.ke, slices.Clone(ke.Data)), func(result any) {
		r := result.(keyResult)
		if r.err != nil {
			done(fmt.Errorf("key exchange: %w", r.err))
			e.distrust(sa, r.err)
			return
		}
		f.secrets = append(f.secrets, r.shared)
		f.left, f.ke = f.left[1:], nil
		if len(f.left) > 0 {
			done(f.learnLink(m))
			return
		}
		done(nil)
	})
}

// wipe gives the secrets up.
func (f *followup) wipe() {
	if f != nil {
		wipe(f.secrets)
	}
}

// pendingKE is what a CREATE_CHILD_SA of the peer agreed on, until the additional key exchanges that must follow are done.
type pendingKE struct {
	sa       *ikeSA
	link     []byte
	left     []uint16
	secrets  []suite.Key
	nonceMin []byte    // for collisions
	old      *childSA  // that is rekeyed
	child    uint32    // inbound SPI that is reserved
	next     *ikeSA    // that is to replace the IKE SA
	finish   finishing // called with the last exchange
	timer    timer
}

// finishing creates the SA of a pendingKE; ke goes into the answer to m.
type finishing func(m *message, ke wire.Payload, secrets []suite.Key)

// await keeps p until the peer goes on, and returns the notification that tells it how.
func (e *Engine) await(p *pendingKE) wire.Payload {
	p.sa.pending = append(p.sa.pending, p)
	return e.nextLink(p)
}

func (e *Engine) nextLink(p *pendingKE) wire.Payload {
	p.link = make([]byte, linkLength)
	e.random(p.link)
	e.timers.set(&p.timer, p, timerRetry, e.now.Add(followupTime))
	return notification(wire.NotifyAdditionalKeyExchange, p.link)
}

// timeout gives up on a peer that does not go on (RFC 9370 section 2.2.4).
func (p *pendingKE) timeout(e *Engine, _ timerKind) {
	e.serving = p.sa
	e.note(p.sa, LevelInfo, "IKE", "peer did not go on with key exchange %s", groupName(p.left[0]))
	e.dropPending(p)
	e.nextTask(p.sa)
}

// takePending takes p out of what waits.
func (e *Engine) takePending(p *pendingKE) {
	e.timers.stop(&p.timer)
	p.sa.pending = slices.DeleteFunc(p.sa.pending, func(o *pendingKE) bool { return o == p })
}

// dropPending gives p up, and what it holds.
func (e *Engine) dropPending(p *pendingKE) {
	if p == nil {
		return
	}
	e.takePending(p)
	wipe(p.secrets)
	if p.child != 0 && e.childSPI[p.child] == nil {
		delete(e.childSPI, p.child)
	}
	if p.next != nil {
		e.destroySA(p.next, "its rekey was abandoned")
	}
}

// dropAllPending gives up everything that the peer began on an IKE SA.
func (e *Engine) dropAllPending(sa *ikeSA) {
	for _, p := range slices.Clone(sa.pending) {
		e.dropPending(p)
	}
}

// pendingFor returns the peer's unfinished rekey of a CHILD_SA, or of the IKE SA itself for nil.
func (sa *ikeSA) pendingFor(old *childSA) *pendingKE {
	for _, p := range sa.pending {
		if old != nil && p.old == old || old == nil && p.next != nil {
			return p
		}
	}
	return nil
}

// followupRequest answers an additional key exchange that belongs to an earlier CREATE_CHILD_SA of the peer (RFC 9370 section 2.2.4).
func (e *Engine) followupRequest(sa *ikeSA, m *message) {
	n, ke := m.notify(wire.NotifyAdditionalKeyExchange), find[*wire.KeyExchange](m)
	i := slices.IndexFunc(sa.pending, func(p *pendingKE) bool { return n != nil && bytes.Equal(p.link, n.Data) })
	if i < 0 {
		e.respond(sa, m, notification(wire.NotifyStateNotFound, nil))
		return
	}
	p := sa.pending[i]
	refuse := func(why string) { // the end of the IKE SA on both sides (RFC 7296 section 2.21.3, RFC 6989 section 2.5)
		e.respond(sa, m, notification(wire.NotifyInvalidSyntax, nil))
		e.failSA(sa, fmt.Sprintf("refusing IKE_FOLLOWUP_KE of %v: %s", sa.remoteID, why))
	}
	if sa.state != stateEstablished { // RFC 7296 section 2.25
		e.dropPending(p)
		e.respond(sa, m, notification(wire.NotifyTemporaryFailure, nil))
		return
	}
	if ke.Method != p.left[0] {
		refuse(fmt.Sprintf("it is for %s, and %s is next", groupName(ke.Method), groupName(p.left[0])))
		return
	}
	e.timers.stop(&p.timer)
	e.compute(sa, e.newKE(ke.Method, slices.Clone(ke.Data)), func(result any) {
		r := result.(keyResult)
		if !slices.Contains(sa.pending, p) { // the operator has closed it meanwhile
			r.shared.Wipe()
			e.respond(sa, m, notification(wire.NotifyStateNotFound, nil))
			return
		}
		if r.err != nil {
			refuse(r.err.Error())
			return
		}
		p.secrets = append(p.secrets, r.shared)
		p.left = p.left[1:]
		answer := &wire.KeyExchange{Method: ke.Method, Data: r.ke.Public()}
		if len(p.left) > 0 {
			e.respond(sa, m, answer, e.nextLink(p))
			return
		}
		e.takePending(p)
		p.finish(m, answer, p.secrets)
	})
}
