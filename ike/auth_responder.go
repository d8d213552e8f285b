package ike

import (
	"fmt"
	"slices"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// authRequest checks the initiator's proof, proves our identity, and creates
// the first CHILD_SA (RFC 7296 section 1.2).
func (e *Engine) authRequest(sa *ikeSA, m *message) {
	idi, idr, a := m.id(wire.PayloadIDi), m.id(wire.PayloadIDr), find[*wire.Auth](m)
	sa.remoteID = identity(idi)
	if len(sa.setup.additional) > 0 { // RFC 9242 section 3.2
		e.respond(sa, m, notification(wire.NotifyInvalidSyntax, nil))
		e.failSA(sa, fmt.Sprintf("peer %v sends IKE_AUTH before the key exchange %s", sa.remoteID, groupName(sa.setup.additional[0])))
		return
	}
	if a == nil { // RFC 7296 section 2.16
		e.rejectInitiator(sa, m, fmt.Sprintf("peer %v wants to authenticate by EAP, which is not supported: use a pre-shared key or a certificate there", sa.remoteID))
		return
	}
	fit, why := sa.selectConnections(sa.remoteID, idr, a.Method)
	if len(fit) == 0 {
		e.rejectInitiator(sa, m, why)
		return
	}
	sa.setup.asksForCertificates(m)
	a, err := e.choosePPK(sa, m, fit[0], a)
	if err != nil {
		e.bind(sa, fit[0])
		e.rejectInitiator(sa, m, err.Error())
		return
	}
	if a.Method == wire.AuthSharedKey {
		e.bind(sa, fit[0])
		e.checkSharedKey(sa, m, idi, a)
		return
	}
	e.verifyPeer(sa, sa.peerProof(m, idi, a), fit, func(r verifyResult) {
		c := r.conn
		if c.removed {
			e.rejectInitiator(sa, m, fmt.Sprintf("connections.%s has changed meanwhile", c.cfg.Name))
			return
		}
		e.bind(sa, c)
		if r.err != nil {
			e.alertPeerAuth(sa, r.err)
			e.rejectInitiator(sa, m, fmt.Sprintf("peer '%v' is not authenticated: %v %s", sa.remoteID, r.err, c.cfg.at("remote")))
			return
		}
		e.note(sa, LevelInfo, "IKE", "authentication of '%v' with %v successful", sa.remoteID, r.verified.Signature)
		e.proveToInitiator(sa, m, nil)
	})
}

// checkSharedKey checks an initiator's AUTH value, which only one who knows the key can make.
func (e *Engine) checkSharedKey(sa *ikeSA, m *message, idi *wire.Identification, a *wire.Auth) {
	c := sa.conn
	local := ourIdentity(sa, c, m.id(wire.PayloadIDr))
	secrets := e.secrets(sa, local, sa.remoteID)
	secret, proved := sa.provingSecret(secrets, idi, a)
	if !proved {
		e.alertPeerAuth(sa, nil)
		e.rejectInitiator(sa, m, explainKeys(secrets, local, sa.remoteID)+sa.andPPK()+" "+c.cfg.at(""))
		return
	}
	e.note(sa, LevelInfo, "IKE", "authentication of '%v' with pre-shared key successful", sa.remoteID)
	e.proveToInitiator(sa, m, &secret)
}

// proveToInitiator proves our identity to an initiator that has proved its own; with the same
// pre-shared key, if it was by one and we use one too.
func (e *Engine) proveToInitiator(sa *ikeSA, m *message, secret *auth.Secret) {
	c := sa.conn
	refuse := func(why any) {
		e.rejectInitiator(sa, m, fmt.Sprintf("%v %s", why, c.cfg.at("local")))
	}
	var asked auth.Identity
	if idr := m.id(wire.PayloadIDr); idr != nil {
		asked = identity(idr)
	}
	own, err := e.ourProof(sa, asked, sa.remoteID)
	if err != nil {
		refuse(err)
		return
	}
	if secret != nil && own.credential == nil {
		own.secret = secret.Key
	}
	sa.localID = own.id
	if !e.uniqueAllows(sa) {
		e.alert(sa, AlertUniqueKeep)
		e.rejectInitiator(sa, m, fmt.Sprintf("an IKE_SA with '%v' exists, and unique = keep %s", sa.remoteID, c.cfg.at("unique")))
		return
	}
	if c.cfg.MOBIKE && m.notify(wire.NotifyMOBIKESupported) != nil && natOnTheWay(m) {
		e.respond(sa, m, notification(wire.NotifyUnexpectedNATDetected, nil))
		e.failSA(sa, fmt.Sprintf("there is a NAT between %v and %v, and the peer forbids that: let it use NAT traversal", m.packet.Remote, m.packet.Local))
		return
	}
	if c.cfg.Childless == ChildlessNever && !asksForChild(m) {
		e.respond(sa, m, notification(wire.NotifyInvalidSyntax, nil))
		e.failSA(sa, fmt.Sprintf("peer '%v' asks for no CHILD_SA, and childless = never %s", sa.remoteID, c.cfg.at("childless")))
		return
	}
	id := idPayload(wire.PayloadIDr, own.id)
	e.staple(sa, own, func() { e.proveWith(sa, m, own, id, refuse) })
}

// proveWith makes our proof and answers IKE_AUTH with it.
func (e *Engine) proveWith(sa *ikeSA, m *message, own *proof, id *wire.Identification, refuse func(why any)) {
	e.makeAuth(sa, own, id, func(a *wire.Auth, err error) {
		if err != nil {
			refuse(err)
			return
		}
		e.answerAuth(sa, m, append(append([]wire.Payload{id}, sa.certificates(own)...), append([]wire.Payload{a}, sa.ppkConfirmation()...)...))
	})
}

// answerAuth establishes the IKE SA and answers IKE_AUTH with our proof and the
// first CHILD_SA.
func (e *Engine) answerAuth(sa *ikeSA, m *message, payloads []wire.Payload) {
	r := childRequest{m: m, ni: slices.Clone(sa.setup.ni), nr: slices.Clone(sa.setup.nr), inAuth: true}
	e.setPair(sa, idPair{sa.localID, sa.remoteID})
	if e.learnMOBIKE(sa, m); sa.mobike.on {
		payloads = append(payloads, e.mobikePayloads(sa)...)
	}
	e.planReauth(sa)
	payloads = append(payloads, sa.authLifetime()...)
	e.establish(sa)
	finish := func(child []wire.Payload, c *childSA) {
		e.respond(sa, m, append(payloads, child...)...)
		e.replaceOlder(sa, m.notify(wire.NotifyInitialContact) != nil)
		e.abandonOwnAttempt(sa)
		e.resolveSimultaneous(sa)
		if c != nil && c.noOutbound && sa.up() { // the peer's answer says that it has got ours
			e.enqueue(sa, livenessTask{})
		}
		e.ensure(sa.conn)
	}
	config, refused := e.assignAddresses(sa, m)
	payloads = append(payloads, config...)
	if refused || !asksForChild(m) {
		finish(nil, nil) // RFC 6023
		return
	}
	e.answerChild(sa, r, finish)
}

// asksForChild reports whether IKE_AUTH is to create a CHILD_SA, too.
func asksForChild(m *message) bool {
	return find[*wire.SA](m) != nil && m.selectors(wire.PayloadTSi) != nil && m.selectors(wire.PayloadTSr) != nil
}

// rejectInitiator refuses an initiator; the answer can be asked for again.
func (e *Engine) rejectInitiator(sa *ikeSA, m *message, why string) {
	e.respond(sa, m, notification(wire.NotifyAuthenticationFailed, nil))
	e.failSA(sa, why)
}

// selectConnections chooses among the candidates by the peer's identity, by how it
// authenticates, and by the identity that it asks us for, the best first. A named identity is
// better than a pattern, and that is better than %any.
func (sa *ikeSA) selectConnections(peer auth.Identity, idr *wire.Identification, method wire.AuthMethod) ([]*connection, string) {
	type scored struct {
		c     *connection
		score int
	}
	var fit []scored
	var otherMethod *connection
	for _, c := range sa.candidates {
		if c.removed || !allows(c.cfg.Proposals, sa.proposal) || !c.cfg.Remote.ID.Matches(peer) {
			continue
		}
		s := 0
		switch {
		case !c.cfg.Remote.ID.IsPattern():
			s += 4
		case !c.cfg.Remote.ID.IsAny():
			s += 2
		}
		if idr != nil {
			switch {
			case ourIdentity(sa, c, nil).Same(identity(idr)):
				s++
			case !c.cfg.Local.ID.IsAny():
				continue
			}
		}
		if !c.cfg.Remote.expects(method) {
			if otherMethod == nil {
				otherMethod = c
			}
			continue
		}
		fit = append(fit, scored{c, s})
	}
	slices.SortStableFunc(fit, func(a, b scored) int { return b.score - a.score })
	if len(fit) > 0 {
		out := make([]*connection, len(fit))
		for i, s := range fit {
			out[i] = s.c
		}
		return out, ""
	}
	if otherMethod != nil {
		return nil, fmt.Sprintf("peer '%v' authenticates by %v, and we expect %v %s",
			peer, method, otherMethod.cfg.Remote.Method, otherMethod.cfg.at("remote.auth"))
	}
	return nil, sa.explainCandidates(peer, idr)
}

// ourIdentity returns who we are in a connection: as configured, else as the
// peer asks for, else our address.
func ourIdentity(sa *ikeSA, c *connection, idr *wire.Identification) auth.Identity {
	switch {
	case !c.cfg.Local.ID.IsAny():
		return c.cfg.Local.ID
	case idr != nil:
		return identity(idr)
	}
	return auth.FromAddr(sa.local.Addr())
}
