package ike

import (
	"crypto/sha256"
	"errors"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// receive finds out whom a message is for.
func (e *Engine) receive(p Packet) {
	h, err := wire.ParseHeader(p.Data)
	if err != nil {
		e.badHeader(p, h, err)
		return
	}
	e.count(h.Exchange, true, !h.IsResponse())
	if h.Exchange == wire.ExchangeSAInit && !h.IsResponse() {
		if e.quiet {
			e.drop("handover under way") // the peer asks again
			return
		}
		e.receiveInit(h, p)
		return
	}
	spi := h.InitiatorSPI
	if h.FromInitiator() {
		spi = h.ResponderSPI
	}
	sa, ok := e.sas[spi]
	if !ok {
		if !e.ghosts.answer(e, spi, p) {
			// RFC 7296 section 1.5 and 2.4: not answered, since we never lose an SA
			// without telling; a peer that lost us finds out by its own liveness check.
			e.drop("unknown SPI")
		}
		return
	}
	if sa.initiator == h.FromInitiator() {
		e.drop("reflected")
		return
	}
	e.serving = sa
	if h.Exchange == wire.ExchangeSAInit {
		e.receiveInitResponse(sa, h, p)
		return
	}
	if peer := h.InitiatorSPI; sa.initiator && h.ResponderSPI != sa.spiR || !sa.initiator && peer != sa.spiI {
		e.drop("wrong SPI")
		return
	}
	if h.IsResponse() {
		e.receiveResponse(sa, h, p)
	} else {
		e.receiveRequest(sa, h, p)
	}
}

// badHeader counts what is no IKEv2 message. A first message of a higher major version is
// answered (RFC 7296 section 2.5), other things are not.
func (e *Engine) badHeader(p Packet, h wire.Header, err error) {
	e.counters.Invalid["malformed"]++
	e.strangerAlert(nil, AlertParseHeader)
	var version *wire.UnsupportedVersionError
	if !errors.As(err, &version) || h.IsResponse() || version.Major < 2 || h.ResponderSPI != 0 {
		return
	}
	answer := h
	answer.Flags = wire.FlagResponse
	if !h.FromInitiator() {
		answer.Flags |= wire.FlagInitiator
	}
	e.answerStateless(p, answer, notification(wire.NotifyInvalidMajorVersion, nil))
}

// answerStateless sends an unprotected answer of which nothing is remembered.
func (e *Engine) answerStateless(p Packet, h wire.Header, payloads ...wire.Payload) {
	data, err := wire.AppendMessage(nil, h, payloads...)
	if err != nil {
		return
	}
	e.count(h.Exchange, false, false)
	e.do(Send{Packet: Packet{Local: p.Local, Remote: p.Remote, NATT: p.NATT, Data: data}})
}

// receiveRequest checks a protected request against the window.
func (e *Engine) receiveRequest(sa *ikeSA, h wire.Header, p Packet) {
	hash := packetHash(sha256.Sum256(p.Data))
	switch {
	case sa.open == nil:
		e.drop("busy") // its IKE_SA_INIT is being computed
	case sa.in.next > 0 && h.MessageID == sa.in.next-1:
		e.repeatResponse(sa, p, hash)
	case h.MessageID != sa.in.next:
		e.drop("message ID")
	case sa.in.answering:
		e.drop("busy") // the answer is being computed; the peer will ask again
	default:
		if m := e.verify(sa, p, &sa.in.fragments); m != nil {
			m.hash = hash
			if m.fragmented {
				m.hash = sa.in.first
			}
			sa.in.answering = true
			e.accept(sa, m)
		}
	}
}

// repeatResponse answers a retransmitted request from the stored response
// (RFC 7296 section 2.1) before anything of it is parsed. Of a fragmented request only
// the first fragment counts, and since a peer may fragment anew it is
// verified instead of compared (RFC 7383 section 2.6.1).
func (e *Engine) repeatResponse(sa *ikeSA, p Packet, hash packetHash) {
	if hash != sa.in.last {
		msg, err := wire.ParseMessage(p.Data, wireLimits)
		if err != nil || msg.Encrypted == nil || msg.Encrypted.Fragment != 1 || !sa.peerFragments {
			e.drop("old request")
			return
		}
		if _, err := wire.Open(nil, msg.Encrypted, sa.in.open); err != nil {
			e.drop("integrity")
			return
		}
	} else if msg, err := wire.ParseMessage(p.Data, wireLimits); err == nil && msg.Encrypted != nil && msg.Encrypted.Fragment > 1 {
		e.drop("old request") // the fragment that completed it
		return
	}
	e.counters.DuplicateRequest++
	e.strangerAlert(sa, AlertRetransmitReceive)
	e.sendTo(sa, p, sa.in.response)
}

// receiveResponse checks a protected response against the window.
func (e *Engine) receiveResponse(sa *ikeSA, h wire.Header, p Packet) {
	r := sa.out.request
	if r == nil || r.id != h.MessageID || r.exchange != h.Exchange || sa.open == nil {
		e.drop("unexpected response")
		return
	}
	if m := e.verify(sa, p, &sa.out.fragments); m != nil {
		if r.sent > 1 {
			e.alert(sa, AlertRetransmitCleared)
		}
		e.settle(sa)
		e.pathWorks(sa, p)
		e.accept(sa, m)
	}
}

// verify decrypts a message, and completes it if it comes in fragments. It returns nil if
// there is no verified message to be handled; nothing but counters has changed then.
func (e *Engine) verify(sa *ikeSA, p Packet, fragments *wire.Reassembler) *message {
	if sa.setting() && sa.junk >= e.cfg.Limits.HalfOpenDecrypts {
		e.drop("too much junk")
		return nil
	}
	msg, err := wire.ParseMessage(p.Data, wireLimits)
	if err != nil || msg.Encrypted == nil {
		e.drop("malformed")
		return nil
	}
	if msg.Encrypted.IsFragment() && (!sa.peerFragments || !fragments.Wants(&msg)) {
		e.drop("fragment")
		return nil
	}
	plain, err := wire.Open(nil, msg.Encrypted, sa.open)
	if err != nil {
		if sa.setting() {
			sa.junk++
		}
		e.drop("integrity")
		return nil
	}
	m := &message{Header: msg.Header, packet: p}
	first, aad := msg.Encrypted.First, msg.Encrypted.AAD
	if msg.Encrypted.IsFragment() {
		if msg.Encrypted.Fragment == 1 && !msg.IsResponse() {
			sa.in.first = sha256.Sum256(p.Data)
		}
		m.fragmented = true
		done, err := fragments.Add(&msg, plain)
		if err != nil || !done {
			return nil
		}
		first, plain, _ = fragments.Payload()
		aad = fragments.AAD()
		fragments.Reset()
	}
	e.heard(sa, p)
	if m.Exchange == wire.ExchangeIntermediate {
		m.whole = wire.Unencrypted(aad, plain)
	}
	m.payloads, err = wire.ParsePayloads(first, plain, wireLimits)
	if err != nil {
		e.malformed(sa, m, err)
		return nil
	}
	return m
}

// malformed deals with an authenticated message that cannot be parsed
// (RFC 7296 sections 2.5 and 2.21.3).
func (e *Engine) malformed(sa *ikeSA, m *message, err error) {
	e.drop("malformed")
	if c := e.countersOf(sa); c != nil {
		c.Malformed++
	}
	e.note(sa, LevelWarn, "ENC", "parsing %v failed: %v", m.Exchange, err)
	if m.IsResponse() {
		e.failSA(sa, "the peer's response is malformed: "+err.Error())
		return
	}
	var critical *wire.UnsupportedCriticalError
	if errors.As(err, &critical) {
		e.respond(sa, m, notification(wire.NotifyUnsupportedCriticalPayload, []byte{byte(critical.Type)}))
		if sa.setting() {
			e.failSA(sa, err.Error())
		}
		return
	}
	e.respond(sa, m, notification(wire.NotifyInvalidSyntax, nil))
	e.failSA(sa, "the peer's request is malformed: "+err.Error())
}

// accept handles a verified message, now or when the computation that the SA
// waits for is done.
func (e *Engine) accept(sa *ikeSA, m *message) {
	e.countReceived(sa, m)
	if sa.jobs > 0 {
		sa.parked = append(sa.parked, m)
		return
	}
	e.dispatch(sa, m)
	e.nextTask(sa)
}

// unpark handles what arrived during a computation.
func (e *Engine) unpark(sa *ikeSA) {
	for len(sa.parked) > 0 && sa.jobs == 0 && !sa.gone {
		m := sa.parked[0]
		sa.parked = sa.parked[1:]
		e.dispatch(sa, m)
	}
}

// dispatch looks a message up in the table of what is legal and takes the step.
func (e *Engine) dispatch(sa *ikeSA, m *message) {
	r := findRule(sa.state, m)
	if r == nil {
		e.drop("unexpected exchange")
		switch {
		case m.IsResponse():
		case sa.setting():
			sa.in.answering = false // too early: the peer will ask again
		default:
			e.respond(sa, m, notification(wire.NotifyInvalidSyntax, nil))
		}
		return
	}
	if missing := r.missing(m); missing != wire.PayloadNone {
		e.malformed(sa, m, &wire.SyntaxError{Problem: "the " + missing.String() + " payload is missing or comes twice"})
		return
	}
	e.note(sa, LevelDebug, "IKE", "%s", r.story)
	e.settleTwin(sa, m)
	r.step(e, sa, m)
	if !m.IsResponse() {
		e.confirm(sa, m)
	}
}

// heard notes a sign of life and follows the peer's address, both only on a
// fresh authenticated message (RFC 7296 section 2.23).
func (e *Engine) heard(sa *ikeSA, p Packet) {
	sa.lastInbound = e.now
	sa.confirmed = sa.confirmed || sa.state == stateEstablished
	switch {
	case sa.state == stateHalfOpen:
		// The initiator may go to port 4500 with IKE_AUTH.
		sa.local, sa.remote, sa.natt = p.Local, p.Remote, p.NATT
	case sa.setting():
		sa.local = p.Local
	case sa.mobike.on: // RFC 4555 section 3.8: the initiator says where it is
	case sa.natRemote && !sa.natLocal && sa.remote != p.Remote:
		e.move(sa, p)
	}
}
