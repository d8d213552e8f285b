package ike

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// initHash recognises a retransmitted IKE_SA_INIT request: by its content and
// where it came from, not by its SPI, which two peers behind a NAT can share (RFC 7296
// section 2.1).
type initHash [sha256.Size]byte

func hashInit(p Packet) initHash {
	h := sha256.New()
	remote, _ := p.Remote.MarshalBinary()
	h.Write(remote)
	h.Write(p.Data)
	return initHash(h.Sum(nil))
}

// receiveInit takes an IKE_SA_INIT request. What can be refused is refused
// before anything is kept.
func (e *Engine) receiveInit(h wire.Header, p Packet) {
	if h.MessageID != 0 || h.InitiatorSPI == 0 || h.ResponderSPI != 0 || !h.FromInitiator() {
		e.drop("malformed")
		return
	}
	hash := hashInit(p)
	if sa, ok := e.inits[hash]; ok {
		e.repeatInit(sa, p)
		return
	}
	if e.closing {
		e.drop("shutting down")
		return
	}
	msg, err := wire.ParseMessage(p.Data, wireLimits)
	m := &message{Header: msg.Header, packet: p, payloads: msg.Payloads}
	var critical *wire.UnsupportedCriticalError
	switch {
	case errors.As(err, &critical):
		e.refuseInit(m, notification(wire.NotifyUnsupportedCriticalPayload, []byte{byte(critical.Type)}))
		return
	case err != nil:
		e.drop("malformed")
		return
	case initPayloads.missing(m) != wire.PayloadNone:
		e.drop("malformed")
		e.refuseInit(m, notification(wire.NotifyInvalidSyntax, nil))
		return
	}
	if e.cookieNeeded(p.Remote.Addr()) && !e.checkCookie(m) {
		return
	}
	e.initRequest(m, hash)
}

// repeatInit answers a retransmitted IKE_SA_INIT request, as long as IKE_AUTH
// has not begun.
func (e *Engine) repeatInit(sa *ikeSA, p Packet) {
	switch {
	case sa.in.response == nil:
		e.drop("busy")
	case sa.in.next != 1:
		e.drop("old request")
	default:
		e.counters.DuplicateRequest++
		// To where the request came from, also if IKE_AUTH has moved on to port 4500 meanwhile: what the response says
		// about NATs is about these addresses.
		for _, data := range sa.in.response {
			e.do(Send{Packet: Packet{Local: p.Local, Remote: p.Remote, NATT: p.NATT, Data: bytes.Clone(data)}})
		}
	}
}

// checkCookie demands a cookie, or checks the one that came first in the
// message (RFC 7296 section 2.6).
func (e *Engine) checkCookie(m *message) bool {
	ip, ni := m.packet.Remote.Addr(), find[*wire.Nonce](m).Data
	if n, ok := m.payloads[0].(*wire.Notify); ok && n.NotifyType == wire.NotifyCookie {
		if e.cookieValid(n.Data, ip, m.InitiatorSPI, ni) {
			return true
		}
	}
	e.counters.CookiesSent++
	e.refuseInit(m, notification(wire.NotifyCookie, e.newCookie(ip, m.InitiatorSPI, ni)))
	return false
}

// refuseInit answers IKE_SA_INIT without keeping anything.
func (e *Engine) refuseInit(m *message, payloads ...wire.Payload) {
	h := wire.Header{InitiatorSPI: m.InitiatorSPI, Exchange: m.Exchange, Flags: wire.FlagResponse}
	e.answerStateless(m.packet, h, payloads...)
}

// initRequest selects the connections that fit the addresses, chooses a
// proposal and computes the answer.
func (e *Engine) initRequest(m *message, hash initHash) {
	local, remote := m.packet.Local.Addr(), m.packet.Remote.Addr()
	candidates := e.directory.candidates(local, remote)
	if len(candidates) == 0 {
		e.refreshNames()
		e.refuseInit(m, notification(wire.NotifyNoProposalChosen, nil))
		e.strangerRefused(nil, e.directory.explain(local, remote))
		return
	}
	ke := find[*wire.KeyExchange](m)
	options := suite.Options{PreferKE: ke.Method, NoAdditional: m.notify(wire.NotifyIntermediateSupported) == nil}
	chosen, number, err := e.chooseIKE(candidates, find[*wire.SA](m), options)
	if err != nil {
		e.refuseInit(m, notification(wire.NotifyNoProposalChosen, nil))
		e.strangerAlert(nil, AlertProposalIKE)
		c, why := explainProposals(candidates, find[*wire.SA](m))
		e.strangerRefused(c, fmt.Sprintf("%v...%v: %s", local, remote, why))
		return
	}
	group := chosen.Suite().KE.ID
	if group != ke.Method || len(ke.Data) != suite.PublicLen(group) {
		// RFC 7296 section 1.2: the initiator begins anew with our group.
		e.strangerNote(nil, "DH group %s unacceptable, requesting %s", groupName(ke.Method), groupName(group))
		e.refuseInit(m, notification(wire.NotifyInvalidKEPayload, binary.BigEndian.AppendUint16(nil, group)))
		return
	}
	if !e.makeRoom(remote) {
		e.drop("too many half-open")
		return
	}
	sa := e.newSA(false, m.packet.Local, m.packet.Remote)
	e.serving = sa
	sa.state, sa.spiI, sa.natt, sa.candidates = stateHalfOpen, m.InitiatorSPI, m.packet.NATT, candidates
	sa.in.init, sa.in.answering = hash, true
	e.inits[hash] = sa
	sa.setup = &setup{ni: slices.Clone(find[*wire.Nonce](m).Data), nr: e.newNonce(), initI: m.packet.Data}
	sa.setup.ppk.agreed = len(e.cfg.PPKs) > 0 && m.notify(wire.NotifyUsePPK) != nil
	sa.setup.additional = chosen.Suite().Additional()
	if err := sa.setup.learnHashes(m, e.signatureHashes(candidates...) != nil); err != nil {
		e.strangerNote(sa, "%v: %v", remote, err) // as if it had announced none
	}
	sa.peerRedirects = m.notify(wire.NotifyRedirectSupported) != nil || m.notify(wire.NotifyRedirectedFrom) != nil
	sa.detectNAT(m)
	sa.forceEncap = candidates[0].cfg.ForceEncap
	sa.peerFragments = candidates[0].cfg.Fragmentation && m.notify(wire.NotifyFragmentationSupported) != nil
	e.addHalfOpen(sa)
	e.strangerNote(sa, "%v is initiating an IKE_SA", remote)
	e.computeInit(sa, e.newKE(group, slices.Clone(ke.Data)), func(result any) {
		e.initAnswer(sa, m, chosen, number, result.(keyResult))
	})
}

// chooseIKE negotiates with the first candidate that allows something of the
// offer.
func (e *Engine) chooseIKE(candidates []*connection, offer *wire.SA, options suite.Options) (suite.Proposal, uint8, error) {
	var first error
	for _, c := range candidates {
		p, w, err := choose(c.cfg.Proposals, offer, options)
		if err == nil {
			return p, w.Number, nil
		}
		if first == nil {
			first = err
		}
	}
	return suite.Proposal{}, 0, first
}

// initAnswer sends the IKE_SA_INIT response.
func (e *Engine) initAnswer(sa *ikeSA, m *message, chosen suite.Proposal, number uint8, r keyResult) {
	s := sa.setup
	if r.err == nil {
		r.err = e.deriveIKE(sa, chosen, s.ni, s.nr, []suite.Key{r.shared}, nil)
	}
	if r.err != nil { // an unusable public value, most likely: RFC 6989 section 2.5 wants no answer
		e.note(sa, LevelWarn, "IKE", "key exchange with %v failed: %v", sa.remote, r.err)
		e.destroySA(sa, "key exchange failed")
		return
	}
	payloads := []wire.Payload{
		chosenSA(chosen, number, nil),
		&wire.KeyExchange{Method: r.ke.Group(), Data: r.ke.Public()},
		&wire.Nonce{Data: s.nr},
	}
	payloads = append(payloads, e.natNotifies(sa, sa.local, sa.forceEncap)...)
	if sa.peerFragments {
		payloads = append(payloads, notification(wire.NotifyFragmentationSupported, nil))
	}
	if slices.ContainsFunc(sa.candidates, func(c *connection) bool { return c.cfg.Childless != ChildlessNever }) {
		payloads = append(payloads, notification(wire.NotifyChildlessIKEv2Supported, nil))
	}
	if s.ppk.agreed {
		payloads = append(payloads, notification(wire.NotifyUsePPK, nil))
	}
	if len(s.additional) > 0 {
		payloads = append(payloads, notification(wire.NotifyIntermediateSupported, nil))
	}
	payloads = append(payloads, e.requestCertificates(sa.candidates...)...)
	if s.announced {
		payloads = append(payloads, e.signatureHashes(sa.candidates...)...)
	}
	data, err := wire.AppendMessage(nil, sa.header(wire.ExchangeSAInit, 0, true), payloads...)
	if err != nil {
		e.failSA(sa, "cannot build the IKE_SA_INIT response: "+err.Error())
		return
	}
	s.initR = data
	e.answered(sa, m, [][]byte{data})
}
