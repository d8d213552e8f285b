package ike

import (
	"crypto/hmac"
	"fmt"
	"slices"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// sendAuth sends IKE_AUTH: our identity, the proof of it, and the offer of the
// first CHILD_SA (RFC 7296 section 1.2).
func (e *Engine) sendAuth(sa *ikeSA) {
	c := sa.conn.cfg
	expected := c.Remote.ID
	if expected.IsAny() {
		expected = auth.FromAddr(sa.remote.Addr())
	}
	own, err := e.ourProof(sa, auth.Identity{}, expected)
	if err != nil {
		e.failSA(sa, fmt.Sprintf("%v %s", err, c.at("local")))
		return
	}
	sa.localID = own.id
	idi := idPayload(wire.PayloadIDi, own.id)
	e.staple(sa, own, func() {
		e.proveWithPPK(sa, own, idi, func(a *wire.Auth, ppk []wire.Payload, err error) {
			if err != nil {
				e.failSA(sa, fmt.Sprintf("%v %s", err, c.at("local")))
				return
			}
			e.sendAuthWith(sa, own, expected, idi, append([]wire.Payload{a}, ppk...))
		})
	})
}

// sendAuthWith sends IKE_AUTH when our proof is made.
func (e *Engine) sendAuthWith(sa *ikeSA, own *proof, expected auth.Identity, idi *wire.Identification, proof []wire.Payload) {
	c := sa.conn.cfg
	payloads := append([]wire.Payload{idi}, sa.certificates(own)...)
	if e.setPair(sa, idPair{sa.localID, expected}); len(e.pairs[sa.pair]) == 1 && sa.reauth.replaces == nil {
		// RFC 7296 section 2.4: there is no other IKE SA between these identities.
		payloads = append(payloads, notification(wire.NotifyInitialContact, nil))
	}
	payloads = append(payloads, e.requestCertificates(sa.conn)...)
	if !c.Remote.ID.IsPattern() {
		payloads = append(payloads, idPayload(wire.PayloadIDr, c.Remote.ID))
	}
	payloads = append(payloads, proof...)
	payloads = append(payloads, sa.configRequest()...)
	payloads = append(payloads, e.mobikePayloads(sa)...)
	if w := e.firstChild(sa); w != nil {
		sa.setup.offer = e.newOffer(sa, w, nil)
		payloads = append(payloads, sa.setup.offer.payloads(nil)...)
	}
	sa.setup.sentAuth = true
	e.note(sa, LevelInfo, "IKE", "authentication of '%v' (myself) with %v", sa.localID, own)
	e.request(sa, wire.ExchangeAuth, payloads...)
}

// firstChild returns the child that goes with IKE_AUTH. A peer that did not
// announce that it accepts none (RFC 6023) gets one.
func (e *Engine) firstChild(sa *ikeSA) *want {
	w, policy := sa.setup.child, sa.conn.cfg.Childless
	if sa.peerChildless && (policy == ChildlessPrefer || policy == ChildlessForce) {
		sa.reauth.asked = nil // it comes by CREATE_CHILD_SA like the others
		return nil
	}
	if w == nil && (!sa.peerChildless || policy == ChildlessNever) {
		for _, o := range slices.Backward(sa.conn.wants) {
			if !o.cfg.Mode.Shunt() {
				w = o
			}
		}
	}
	if sa.reauth.replaces != nil {
		return w
	}
	if w != nil && w.live() {
		return nil // it has come up by the peer's doing meanwhile
	}
	return w
}

// secrets returns the pre-shared keys for a pair of identities, best first; by
// the addresses where there is none by identity.
func (e *Engine) secrets(sa *ikeSA, local, remote auth.Identity) []auth.Secret {
	if s := auth.Lookup(e.cfg.Secrets, local, remote); len(s) > 0 {
		return s
	}
	return auth.Lookup(e.cfg.Secrets, auth.FromAddr(sa.local.Addr()), auth.FromAddr(sa.remote.Addr()))
}

// idPayload builds an identification payload.
func idPayload(t wire.PayloadType, id auth.Identity) *wire.Identification {
	return &wire.Identification{PayloadType: t, IDType: wire.IDType(id.Type), Data: []byte(id.Data)}
}

// identity reads one.
func identity(p *wire.Identification) auth.Identity {
	return auth.Identity{Type: auth.IDType(p.IDType), Data: string(p.Data)}
}

// ourAuth computes our AUTH value (RFC 7296 section 2.15): our IKE_SA_INIT
// message, the peer's nonce and our identity, keyed with the shared secret.
func (sa *ikeSA) ourAuth(key suite.Key, id *wire.Identification) []byte {
	return sa.authValue(key, id, sa.initiator)
}

// peerAuthFits checks the peer's AUTH value, in constant time.
func (sa *ikeSA) peerAuthFits(key suite.Key, id *wire.Identification, got []byte) bool {
	return hmac.Equal(got, sa.authValue(key, id, !sa.initiator))
}

func (sa *ikeSA) authValue(key suite.Key, id *wire.Identification, initiator bool) []byte {
	return suite.PSKAuth(sa.prf, key, sa.signedOctets(id, initiator))
}

// signedOctets returns what one end signs, or computes its AUTH value over.
func (sa *ikeSA) signedOctets(id *wire.Identification, initiator bool) []byte {
	s := sa.setup
	message, nonce, skp := s.initI, s.nr, sa.keys.SKpi
	if !initiator {
		message, nonce, skp = s.initR, s.ni, sa.keys.SKpr
	}
	// RFC 9242 section 3.3.2: IntAuth comes last.
	return append(suite.SignedOctets(sa.prf, skp, message, nonce, id.AppendRest(nil)), s.intAuth.octets()...)
}

// provingSecret returns the secret that proves the peer's identity, if one of
// them does.
func (sa *ikeSA) provingSecret(secrets []auth.Secret, id *wire.Identification, a *wire.Auth) (auth.Secret, bool) {
	for _, s := range secrets {
		if a.Method == wire.AuthSharedKey && sa.peerAuthFits(s.Key, id, a.Data) {
			return s, true
		}
	}
	return auth.Secret{}, false
}

// authResponse checks the responder's proof and takes up the first CHILD_SA.
func (e *Engine) authResponse(sa *ikeSA, m *message) {
	idr, a := m.id(wire.PayloadIDr), find[*wire.Auth](m)
	if idr == nil || a == nil {
		if n := m.error(); n != nil {
			if e.nextAnswer(sa, true) {
				return
			}
			e.alertAuth(sa, n.NotifyType)
			e.failSA(sa, e.explainAuth(sa, n.NotifyType))
			return
		}
		e.malformed(sa, m, &wire.SyntaxError{Problem: "IDr or AUTH is missing"})
		return
	}
	c := sa.conn.cfg
	sa.remoteID = identity(idr)
	if !c.Remote.ID.Matches(sa.remoteID) {
		e.alertPeerAuth(sa, nil)
		e.rejectResponder(sa, fmt.Sprintf("peer is '%v', and we expect '%v' %s", sa.remoteID, c.Remote.ID, c.at("remote.id")))
		return
	}
	if err := sa.ppkAnswered(m); err != nil {
		e.rejectResponder(sa, err.Error())
		return
	}
	if !c.Remote.expects(a.Method) {
		e.alertPeerAuth(sa, nil)
		e.rejectResponder(sa, fmt.Sprintf("peer '%v' authenticates by %v, and we expect %v %s", sa.remoteID, a.Method, c.Remote.Method, c.at("remote.auth")))
		return
	}
	if c.Remote.Method == AuthPubkey {
		e.verifyPeer(sa, sa.peerProof(m, idr, a), []*connection{sa.conn}, func(r verifyResult) {
			if r.err != nil && e.otherForm(sa) {
				e.authResponse(sa, m)
				return
			}
			if r.err != nil {
				e.alertPeerAuth(sa, r.err)
				e.rejectResponder(sa, fmt.Sprintf("peer '%v' is not authenticated: %v %s", sa.remoteID, r.err, c.at("remote")))
				return
			}
			e.responderProved(sa, m, r.verified.Signature.String())
		})
		return
	}
	secrets := e.secrets(sa, sa.localID, sa.remoteID)
	if _, proved := sa.provingSecret(secrets, idr, a); !proved {
		if e.otherForm(sa) {
			e.authResponse(sa, m)
			return
		}
		e.alertPeerAuth(sa, nil)
		e.rejectResponder(sa, explainKeys(secrets, sa.localID, sa.remoteID)+" "+c.at(""))
		return
	}
	e.responderProved(sa, m, "pre-shared key")
}

// responderProved takes up what the responder, which has proved its identity, has answered.
func (e *Engine) responderProved(sa *ikeSA, m *message, how string) {
	e.note(sa, LevelInfo, "IKE", "authentication of '%v' with %s successful", sa.remoteID, how)
	offer, closing := sa.setup.offer, sa.setup.closing
	e.setPair(sa, idPair{sa.localID, sa.remoteID})
	if e.redirectAuth(sa, m) {
		return
	}
	e.learnMOBIKE(sa, m)
	if why := e.withoutAddress(sa, m); why != "" && closing == "" {
		e.endWithoutAddress(sa, sa.conn.tries, why)
		return
	}
	e.takeAddresses(sa, m)
	e.planReauth(sa)
	e.establish(sa)
	e.obeyLifetime(sa, m)
	if closing != "" {
		e.dropOffer(offer)
		e.finishTask(sa)
		e.deleteIKE(sa, closing)
		return
	}
	if offer != nil {
		e.childResponse(sa, offer, m)
	}
	e.finishTask(sa)
	e.resolveSimultaneous(sa)
	e.recheck(sa)
	e.ensure(sa.conn)
}

// establish makes an IKE SA usable after both sides are authenticated.
func (e *Engine) establish(sa *ikeSA) {
	e.forgetHalfOpen(sa)
	sa.ppk = sa.setup.ppk.used
	sa.setup.wipe()
	sa.setup = nil
	sa.keys.SKpi.Wipe()
	sa.keys.SKpr.Wipe()
	sa.state, sa.confirmed = stateEstablished, sa.initiator
	sa.lastInbound = e.now
	sa.established, sa.proved = e.now, e.now
	c := sa.conn
	c.tries, c.upSince, c.asked = 0, e.now, false
	c.redirect.done()
	c.clearError()
	e.timers.stop(&c.retry)
	e.counters.Negotiations[NegotiationKey{Initiator: sa.initiator, OK: true}]++
	e.startSATimers(sa)
	e.emit(Note{Level: LevelInfo, Kind: NoteIKEUp, Group: "IKE", Connection: c.cfg.Name, IKEID: sa.id,
		Text: fmt.Sprintf("IKE_SA %s established between %s", sa.label(), sa.ends())})
}

// startSATimers sets what an established IKE SA waits for.
func (e *Engine) startSATimers(sa *ikeSA) {
	c := sa.conn.cfg
	if c.RekeyTime > 0 {
		e.setSATimer(sa, timerIKERekey, e.now.Add(c.RekeyTime-e.jitter(min(c.RandTime, c.RekeyTime/2))))
		if c.OverTime > 0 {
			e.setSATimer(sa, timerIKEExpire, e.now.Add(c.RekeyTime+c.OverTime))
		}
	}
	e.startReauthTimers(sa)
	if c.DPDDelay > 0 {
		e.setSATimer(sa, timerDPD, e.now.Add(c.DPDDelay))
	}
	if sa.natLocal && e.cfg.Timing.KeepAlive > 0 {
		e.setSATimer(sa, timerKeepalive, e.now.Add(e.cfg.Timing.KeepAlive))
	}
}

// stopSATimers stops them, and what waits for the peer to delete the SA.
func (e *Engine) stopSATimers(sa *ikeSA) {
	for _, k := range []timerKind{timerIKERekey, timerIKEExpire, timerReauth, timerDPD, timerKeepalive, timerLinger, timerGather} {
		e.timers.stop(&sa.timers[k])
	}
}
