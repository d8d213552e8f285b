package ike

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// childRequest is a CHILD_SA that the peer asks for, in IKE_AUTH or CREATE_CHILD_SA.
type childRequest struct {
	m      *message
	old    *childSA // that is rekeyed
	ni, nr []byte
	inAuth bool // keys come from the IKE SA's own exchange
}

// answerChild negotiates, installs and calls done, now or later, with the payloads
// of the response and the new CHILD_SA, or with an error notification and nil.
func (e *Engine) answerChild(sa *ikeSA, r childRequest, done func(payloads []wire.Payload, c *childSA)) {
	refuse := func(t wire.NotifyType, data []byte, format string, args ...any) {
		e.refusal(sa.conn, fmt.Sprintf("refusing a CHILD_SA with %v: ", sa.remoteID)+fmt.Sprintf(format, args...))
		e.alertChild(sa, t)
		done([]wire.Payload{notification(t, data)}, nil)
	}
	if len(sa.children) >= e.cfg.Limits.ChildrenPerIKE {
		refuse(wire.NotifyNoAdditionalSAs, nil, "there are %d already", len(sa.children))
		return
	}
	if r.inAuth && sa.conn.cfg.Childless == ChildlessForce {
		refuse(wire.NotifyNoAdditionalSAs, nil, "it is asked for in IKE_AUTH, and childless = force %s", sa.conn.cfg.at("childless"))
		return
	}
	tsi, tsr := r.m.selectors(wire.PayloadTSi), r.m.selectors(wire.PayloadTSr)
	chosenChild := sa.selectChild(fromTSPayload(tsr), fromTSPayload(tsi), r.m.notify(wire.NotifyUseTransportMode) != nil, r.old)
	w, mode := chosenChild.w, chosenChild.mode
	if w == nil {
		refuse(wire.NotifyTSUnacceptable, nil, "%s", sa.explainSelectors(fromTSPayload(tsr), fromTSPayload(tsi), r.old))
		return
	}
	if mode != w.cfg.Mode {
		refuse(wire.NotifyNoProposalChosen, nil, "peer wants tunnel mode, and we want transport %s", w.cfg.at(sa.conn.cfg, "mode"))
		return
	}
	share, ok := e.shareFor(sa, w, &r, chosenChild.local, chosenChild.remote)
	if !ok {
		refuse(wire.NotifyTSMaxQueue, nil, "%s has limits.per_cpu_sas = %d CHILD_SAs for one CPU each already", w.cfg.Name, e.cfg.Limits.PerCPUSAs)
		return
	}
	ke := find[*wire.KeyExchange](r.m)
	options := suite.Options{SkipKE: r.inAuth}
	if ke != nil {
		options.PreferKE = ke.Method
	}
	chosen, offered, err := choose(w.cfg.Proposals, find[*wire.SA](r.m), options)
	if err != nil {
		refuse(wire.NotifyNoProposalChosen, nil, "%v %s", err, w.cfg.at(sa.conn.cfg, "esp_proposals"))
		return
	}
	spi, ok := offered.ChildSPI()
	if !ok || spi < minESPSPI {
		refuse(wire.NotifyNoProposalChosen, nil, "the SPI is invalid")
		return
	}
	a := agreed{
		want: w, proposal: chosen, spiIn: e.newChildSPI(), spiOut: uint32(spi), localTS: chosenChild.local, remoteTS: chosenChild.remote,
		mode: mode, ni: r.ni, nr: r.nr, inAuth: r.inAuth, replaces: r.old, request: r.m,
		noTFC: r.m.notify(wire.NotifyESPTFCPaddingNotSupported) != nil, cpuShare: share,
	}
	group := chosen.Suite().KE.ID
	if group == suite.KENone {
		e.acceptChild(sa, a, a.payloads(offered.Number, nil), done)
		return
	}
	if ke == nil || ke.Method != group || len(ke.Data) != suite.PublicLen(group) {
		// RFC 7296 section 1.3: the initiator begins anew with our group.
		e.note(sa, LevelInfo, "CHD", "DH group unacceptable, requesting %s", groupName(group))
		done([]wire.Payload{notification(wire.NotifyInvalidKEPayload, binary.BigEndian.AppendUint16(nil, group))}, nil)
		return
	}
	e.childSPI[a.spiIn] = nil // taken
	sa.reserved = a.spiIn
	e.compute(sa, e.newKE(group, slices.Clone(ke.Data)), func(result any) {
		res := result.(keyResult)
		sa.reserved = 0
		if res.err != nil {
			delete(e.childSPI, a.spiIn)
			// RFC 6989 section 2.5
			done([]wire.Payload{notification(wire.NotifyInvalidSyntax, nil)}, nil)
			e.failSA(sa, "the peer's public value is unusable: "+res.err.Error())
			return
		}
		a.secrets = []suite.Key{res.shared}
		payloads := a.payloads(offered.Number, res.ke)
		if len(chosen.Suite().Additional()) > 0 {
			e.awaitChild(sa, a, payloads, done)
			return
		}
		e.acceptChild(sa, a, payloads, done)
	})
}

// payloads returns what answers CREATE_CHILD_SA or, about a CHILD_SA, IKE_AUTH.
func (a *agreed) payloads(number uint8, ke suite.KeyExchange) []wire.Payload {
	payloads := []wire.Payload{chosenSA(a.proposal, number, wire.ChildSPI(a.spiIn).Bytes())}
	if !a.inAuth {
		payloads = append(payloads, &wire.Nonce{Data: a.nr})
	}
	if ke != nil {
		payloads = append(payloads, &wire.KeyExchange{Method: ke.Group(), Data: ke.Public()})
	}
	payloads = append(payloads, tsPayload(wire.PayloadTSi, a.remoteTS), tsPayload(wire.PayloadTSr, a.localTS))
	if a.mode == ModeTransport {
		payloads = append(payloads, notification(wire.NotifyUseTransportMode, nil))
	}
	if a.perCPU {
		payloads = append(payloads, notification(wire.NotifySAResourceInfo, a.cpu.resource()))
	}
	return payloads
}

// awaitChild answers a CREATE_CHILD_SA whose CHILD_SA is made when the additional key exchanges are done (RFC 9370 section 2.2.4).
func (e *Engine) awaitChild(sa *ikeSA, a agreed, payloads []wire.Payload, done func([]wire.Payload, *childSA)) {
	if len(sa.pending) >= maxPending {
		wipe(a.secrets)
		delete(e.childSPI, a.spiIn)
		done([]wire.Payload{notification(wire.NotifyTemporaryFailure, nil)}, nil)
		return
	}
	p := &pendingKE{
		sa: sa, left: a.proposal.Suite().Additional(), secrets: a.secrets, nonceMin: lowerNonce(a.ni, a.nr), old: a.replaces, child: a.spiIn,
	}
	p.finish = func(m *message, ke wire.Payload, secrets []suite.Key) {
		a.request, a.secrets = m, secrets
		e.acceptChild(sa, a, []wire.Payload{ke}, func(payloads []wire.Payload, c *childSA) {
			if c != nil && a.replaces != nil {
				e.rekeyedByPeer(sa, a.replaces, c)
			}
			e.respond(sa, m, payloads...)
		})
	}
	done(append(payloads, e.await(p)), nil)
}

// acceptChild installs the CHILD_SA; the response, with the payloads, goes out when the kernel has it.
func (e *Engine) acceptChild(sa *ikeSA, a agreed, payloads []wire.Payload, done func([]wire.Payload, *childSA)) {
	if old := a.replaces; old != nil && (!old.live() || e.children[old.info.ID] != old) { // the operator has deleted it meanwhile
		wipe(a.secrets)
		delete(e.childSPI, a.spiIn)
		done([]wire.Payload{notification(wire.NotifyTemporaryFailure, nil)}, nil)
		return
	}
	c, err := e.addChild(sa, a)
	if err != nil {
		e.refusal(sa.conn, "deriving CHILD_SA keys: "+err.Error())
		done([]wire.Payload{notification(wire.NotifyNoProposalChosen, nil)}, nil)
		return
	}
	sa.jobs++
	c.answer = func(err error) {
		if err != nil {
			// The peer may try again; what it wanted to replace serves on.
			done([]wire.Payload{notification(wire.NotifyTemporaryFailure, nil)}, nil)
			return
		}
		done(payloads, c)
	}
}

// chooseChild returns the child of a mode whose selectors fit best, with what both sides
// cover. One that covers the whole proposal is best, then one that covers the first selectors: they are the
// peer's first choice, and must not be narrowed away where policy allows them (RFC 7296 section 2.9). A
// rekey stays with its child.
func (sa *ikeSA) chooseChild(local, remote []TrafficSelector, mode Mode, old *childSA) selection {
	wants := sa.conn.wants
	if old != nil {
		wants = []*want{old.want}
	}
	var best selection
	score := 0
	for _, candidate := range wants {
		if candidate.cfg.Mode != mode {
			continue
		}
		l := narrow(resolve(candidate.cfg.LocalTS, sa.localHosts()...), local)
		r := narrow(resolve(candidate.cfg.RemoteTS, sa.remoteHosts()...), remote)
		if n := fitness(l, local) * fitness(r, remote); n > score {
			best, score = selection{candidate, l, r, mode}, n
		}
	}
	return best
}

// fitness says how well what is left of a proposal fits it: 0 is not at all.
func fitness(narrowed, proposed []TrafficSelector) int {
	switch {
	case len(narrowed) == 0:
		return 0
	case covered(narrowed, proposed):
		return 4
	case covered(narrowed, proposed[:1]):
		return 2
	}
	return 1
}

// createChildRequest answers a request for a new CHILD_SA (RFC 7296 section 1.3.1).
func (e *Engine) createChildRequest(sa *ikeSA, m *message) {
	if e.childOpsBlocked(sa) {
		e.respond(sa, m, notification(wire.NotifyTemporaryFailure, nil))
		return
	}
	r := childRequest{m: m, ni: slices.Clone(find[*wire.Nonce](m).Data), nr: e.newNonce()}
	e.answerChild(sa, r, func(payloads []wire.Payload, _ *childSA) { e.respond(sa, m, payloads...) })
}

// childOpsBlocked reports whether creating and rekeying CHILD_SAs must wait, since the IKE
// SA is being rekeyed or goes away (RFC 7296 section 2.25.2).
func (e *Engine) childOpsBlocked(sa *ikeSA) bool {
	_, rekeying := sa.active.(*rekeyIKETask)
	return rekeying || sa.state != stateEstablished
}
