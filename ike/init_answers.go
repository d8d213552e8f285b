package ike

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// Nothing in an answer to IKE_SA_INIT is authenticated. Somebody on the path may have sent the
// first, and the peer the second: an initiator keeps several, and goes on with the next when one turns
// out not to be the peer's (RFC 7296 section 2.4).

// initRequest is an IKE_SA_INIT request of ours as it went out.
type initRequest struct{ Packet }

// keepAnswer keeps another answer than the one that we go on with.
func (e *Engine) keepAnswer(sa *ikeSA, p Packet) {
	s := sa.setup
	same := func(o Packet) bool { return bytes.Equal(o.Data, p.Data) }
	if bytes.Equal(p.Data, s.initR) || len(s.spare)+len(s.tried) >= maxInitAnswers || slices.ContainsFunc(s.spare, same) || slices.ContainsFunc(s.tried, same) {
		e.drop("unexpected response")
		return
	}
	s.spare = append(s.spare, p)
}

// nextAnswer gives up the answer that we have gone on with, and goes on with another one. It
// reports whether there was one. heard says that whoever made the old one has answered IKE_AUTH; then nothing
// more is to be had on an IKE SA with its SPI.
func (e *Engine) nextAnswer(sa *ikeSA, heard bool) bool {
	if !sa.proving() || sa.closing() {
		return false
	}
	s := sa.setup
	for len(s.spare) > 0 {
		p := s.spare[0]
		s.spare = s.spare[1:]
		msg, err := wire.ParseMessage(p.Data, wireLimits)
		m := &message{Header: msg.Header, packet: p, payloads: msg.Payloads}
		if err != nil || m.ResponderSPI == 0 || m.error() != nil || initPayloads.missing(m) != wire.PayloadNone {
			continue
		}
		if m.ResponderSPI == sa.spiR && (heard || s.sameKeys(m)) {
			continue
		}
		e.note(sa, LevelInfo, "IKE", "trying another answer to IKE_SA_INIT, since the first was not the peer's")
		s.tried = append(s.tried, Packet{Data: s.initR})
		e.unlearn(sa)
		e.initResponse(sa, m)
		return true
	}
	return false
}

// otherForm takes another form of the answer that we have gone on with, which leads to the same keys: only one of
// them is what the responder signs (RFC 7296 section 2.15). It reports whether there was one.
func (e *Engine) otherForm(sa *ikeSA) bool {
	s := sa.setup
	for i, p := range s.spare {
		msg, err := wire.ParseMessage(p.Data, wireLimits)
		m := &message{Header: msg.Header, packet: p, payloads: msg.Payloads}
		if err == nil && m.ResponderSPI == sa.spiR && s.sameKeys(m) && s.learnHashes(m, e.signatureHashes(sa.conn) != nil) == nil {
			s.spare = slices.Delete(s.spare, i, i+1)
			s.tried = append(s.tried, Packet{Data: s.initR})
			e.learn(sa, m)
			return true
		}
	}
	return false
}

// sameKeys reports whether an answer leads to the same keys as the one that we have gone on with, if its SPI is the same.
func (s *setup) sameKeys(m *message) bool {
	msg, err := wire.ParseMessage(s.initR, wireLimits)
	old := &message{payloads: msg.Payloads}
	return err == nil && reflect.DeepEqual(find[*wire.SA](old), find[*wire.SA](m)) &&
		bytes.Equal(find[*wire.Nonce](old).Data, find[*wire.Nonce](m).Data) &&
		bytes.Equal(find[*wire.KeyExchange](old).Data, find[*wire.KeyExchange](m).Data)
}

// unlearn forgets what an answer has led to, up to the request that it answers.
func (e *Engine) unlearn(sa *ikeSA) {
	s := sa.setup
	e.settle(sa)
	e.setPair(sa, idPair{})
	e.dropOffer(s.offer)
	sa.keys.Wipe()
	sa.seal, sa.open = nil, nil
	sa.state, sa.junk, sa.remoteID = stateInit, 0, auth.Identity{}
	sa.natLocal, sa.natRemote = false, false
	sa.local, sa.remote, sa.natt = s.request.Local, s.request.Remote, s.request.NATT
	s.offer = nil
	s.addKE, s.additional, s.intAuth = nil, nil, intAuth{}
	s.ppk.plain.Wipe()
	s.ppk = ppkUse{offered: s.ppk.offered}
}

// proving reports whether IKE_SA_INIT is answered, and the peer has not proved yet who it is.
func (sa *ikeSA) proving() bool { return sa.state == stateIntermediate || sa.state == stateAuth }

// askAgain sends IKE_SA_INIT again beside a request on the new IKE SA that nobody answers: the
// answer that led to it may have been somebody else's.
func (e *Engine) askAgain(sa *ikeSA) {
	if !sa.proving() || len(sa.setup.spare) > 0 {
		return
	}
	p := sa.setup.request.Packet
	p.Data = bytes.Clone(p.Data)
	e.do(Send{Packet: p})
}
