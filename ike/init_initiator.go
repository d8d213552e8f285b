package ike

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// setupTask sets an IKE SA up as initiator: IKE_SA_INIT, then IKE_AUTH with the
// first CHILD_SA.
type setupTask struct{}

func (setupTask) name() string { return "IKE_INIT" }

// begin makes our half of the key exchange with the group that we like best.
func (setupTask) begin(e *Engine, sa *ikeSA) bool {
	groups := groupsOf(sa.conn.cfg.Proposals)
	if len(groups) == 0 {
		e.failSA(sa, "no IKE proposals are configured "+sa.conn.cfg.at("proposals"))
		return false
	}
	sa.setup.ni = e.newNonce()
	e.makeInit(sa, groups[0])
	return true
}

func (setupTask) answer(e *Engine, sa *ikeSA, m *message) {
	if m.Exchange == wire.ExchangeIntermediate {
		e.intermediateResponse(sa, m)
		return
	}
	e.authResponse(sa, m)
}

func (setupTask) abandon(*Engine, *ikeSA) {}

// makeInit makes a key pair and sends IKE_SA_INIT with it.
func (e *Engine) makeInit(sa *ikeSA, group uint16) {
	e.compute(sa, e.newKE(group, nil), func(result any) {
		r := result.(keyResult)
		if r.err != nil {
			e.failSA(sa, "key exchange: "+r.err.Error())
			return
		}
		sa.setup.ke = r.ke
		e.sendInit(sa)
	})
}

// sendInit sends IKE_SA_INIT with message ID 0, also when the peer made us begin anew
// (RFC 7296 sections 1.2 and 2.2). Only the cookie, which comes first, and
// the group may differ from the request before (section 2.6).
func (e *Engine) sendInit(sa *ikeSA) {
	s := sa.setup
	var payloads []wire.Payload
	if s.cookie != nil {
		payloads = append(payloads, notification(wire.NotifyCookie, s.cookie))
	}
	payloads = append(payloads,
		offerSA(sa.conn.cfg.Proposals, nil),
		&wire.KeyExchange{Method: s.ke.Group(), Data: s.ke.Public()},
		&wire.Nonce{Data: s.ni})
	payloads = append(payloads, e.natNotifies(sa, sa.local, sa.forceEncap)...)
	if sa.conn.cfg.Fragmentation {
		payloads = append(payloads, notification(wire.NotifyFragmentationSupported, nil))
	}
	if sa.conn.offersAdditional() { // RFC 9370 section 2.2.1
		payloads = append(payloads, notification(wire.NotifyIntermediateSupported, nil))
	}
	payloads = append(payloads, e.signatureHashes(sa.conn)...)
	payloads = append(payloads, e.redirectPayloads(sa.conn)...)
	ppk, err := e.offerPPK(sa)
	if err != nil {
		e.failSA(sa, err.Error())
		return
	}
	payloads = append(payloads, ppk...)
	data, err := wire.AppendMessage(nil, sa.header(wire.ExchangeSAInit, 0, false), payloads...)
	if err != nil {
		e.failSA(sa, "cannot build IKE_SA_INIT: "+err.Error())
		return
	}
	s.initI = data
	s.request = initRequest{Packet{Local: sa.local, Remote: sa.remote, NATT: sa.natt, Data: data}}
	sa.out.next = 0
	e.outstanding(sa, wire.ExchangeSAInit, [][]byte{data})
}

// receiveInitResponse takes an answer to IKE_SA_INIT. Nothing in it is
// authenticated, so that a bad one must not end the attempt at once.
func (e *Engine) receiveInitResponse(sa *ikeSA, h wire.Header, p Packet) {
	switch {
	case h.MessageID != 0 || h.InitiatorSPI != sa.spiI || !sa.setting() || sa.setup == nil:
		e.drop("unexpected response")
		return
	case sa.setup.initR != nil && (sa.proving() || sa.jobs > 0):
		e.keepAnswer(sa, p)
		return
	case sa.state != stateInit || sa.out.request == nil || sa.jobs > 0:
		e.drop("unexpected response")
		return
	}
	msg, err := wire.ParseMessage(p.Data, wireLimits)
	if err != nil {
		e.drop("malformed")
		return
	}
	m := &message{Header: msg.Header, packet: p, payloads: msg.Payloads}
	e.countReceived(sa, m)
	if n := m.notify(wire.NotifyCookie); n != nil {
		e.returnCookie(sa, n)
		return
	}
	if n := m.notify(wire.NotifyRedirect); n != nil {
		e.redirectInit(sa, n)
		return
	}
	if n := m.notify(wire.NotifyInvalidKEPayload); n != nil {
		e.changeGroup(sa, n)
		return
	}
	if n := m.error(); n != nil {
		e.alertInit(sa, n.NotifyType)
		e.initError(sa, e.explainInit(sa, n.NotifyType))
		return
	}
	if missing := initPayloads.missing(m); missing != wire.PayloadNone || h.ResponderSPI == 0 {
		e.drop("malformed")
		return
	}
	e.initResponse(sa, m)
}

// returnCookie begins anew with the cookie (RFC 7296 section 2.6).
func (e *Engine) returnCookie(sa *ikeSA, n *wire.Notify) {
	if len(n.Data) < 1 || len(n.Data) > 64 || !e.mayRedirect(sa) {
		e.drop("cookie")
		return
	}
	sa.setup.cookie = slices.Clone(n.Data)
	e.sendInit(sa)
}

// changeGroup begins anew with the group that the peer wants, if we proposed
// it (RFC 7296 section 1.2); the proposals stay as they are.
func (e *Engine) changeGroup(sa *ikeSA, n *wire.Notify) {
	s := sa.setup
	if len(n.Data) != 2 || !e.mayRedirect(sa) {
		e.drop("group")
		return
	}
	group := binary.BigEndian.Uint16(n.Data)
	if group == s.ke.Group() || !slices.Contains(groupsOf(sa.conn.cfg.Proposals), group) || slices.Contains(s.groups, group) {
		e.initError(sa, fmt.Sprintf("no common DH group: peer wants %s; we allow %s %s",
			groupName(group), groupNames(sa.conn.cfg.Proposals), sa.conn.cfg.at("proposals")))
		return
	}
	e.note(sa, LevelInfo, "IKE", "peer didn't accept DH group %s, it requested %s", groupName(s.ke.Group()), groupName(group))
	s.groups = append(s.groups, s.ke.Group())
	e.settle(sa)
	e.makeInit(sa, group)
}

// mayRedirect bounds how often forged answers can make us begin anew.
func (e *Engine) mayRedirect(sa *ikeSA) bool {
	sa.setup.redirected++
	return sa.setup.redirected <= maxRedirects
}

// initError takes an error that anybody could have sent: the right answer may
// still come, so that it only counts after a grace period (RFC 7296 section 2.21.1).
func (e *Engine) initError(sa *ikeSA, text string) {
	if sa.setup.initError != "" {
		return
	}
	sa.setup.initError = text
	e.setSATimer(sa, timerLinger, e.now.Add(initErrorGrace))
}

// initResponse computes the keys (RFC 7296 section 2.14) and goes on to IKE_AUTH.
func (e *Engine) initResponse(sa *ikeSA, m *message) {
	s := sa.setup
	chosen, _, err := verifyChoice(sa.conn.cfg.Proposals, find[*wire.SA](m))
	ke, nr := find[*wire.KeyExchange](m), find[*wire.Nonce](m)
	if err == nil && (ke.Method != s.ke.Group() || chosen.Suite().KE.ID != ke.Method) {
		err = fmt.Errorf("the answer is for DH group %s, and we sent %s", groupName(ke.Method), groupName(s.ke.Group()))
	}
	additional := chosen.Suite().Additional()
	if err == nil && len(additional) > 0 && m.notify(wire.NotifyIntermediateSupported) == nil {
		err = fmt.Errorf("it chooses additional key exchanges, and does not announce IKE_INTERMEDIATE")
	}
	if err != nil {
		e.initError(sa, fmt.Sprintf("peer's answer to IKE_SA_INIT does not fit our proposals: %v %s", err, sa.conn.cfg.at("proposals")))
		return
	}
	if err := s.learnHashes(m, e.signatureHashes(sa.conn) != nil); err != nil {
		e.initError(sa, "peer's answer to IKE_SA_INIT is malformed: "+err.Error())
		return
	}
	if why := sa.lacksPPK(m); why != "" {
		e.initError(sa, why) // RFC 8784 section 6: it may be forged
		return
	}
	if c := sa.conn.cfg; c.Childless == ChildlessForce && m.notify(wire.NotifyChildlessIKEv2Supported) == nil {
		e.initError(sa, fmt.Sprintf("peer %v does not accept an IKE_SA without a CHILD_SA, and childless = force %s", sa.remote.Addr(), c.at("childless")))
		return
	}
	sa.spiR = m.ResponderSPI
	sa.local = m.packet.Local
	s.additional = additional
	s.nr = slices.Clone(nr.Data)
	e.learn(sa, m)
	e.settle(sa)
	e.timers.stop(&sa.timers[timerLinger])
	e.compute(sa, sharedSecret(s.ke, slices.Clone(ke.Data)), func(result any) {
		r := result.(keyResult)
		if r.err == nil {
			r.err = e.deriveIKE(sa, chosen, s.ni, s.nr, []suite.Key{r.shared}, nil)
		}
		if r.err != nil {
			e.failSA(sa, "key exchange: "+r.err.Error())
			return
		}
		sa.floatPort()
		sa.out.next = 1
		e.nextKeyExchange(sa)
	})
}

// learn takes what an answer to IKE_SA_INIT says beside the key exchange.
func (e *Engine) learn(sa *ikeSA, m *message) {
	sa.setup.asksForCertificates(m)
	sa.detectNAT(m)
	sa.peerFragments = sa.conn.cfg.Fragmentation && m.notify(wire.NotifyFragmentationSupported) != nil
	sa.peerChildless = m.notify(wire.NotifyChildlessIKEv2Supported) != nil
	sa.setup.initR = m.packet.Data
}

// deriveIKE derives the keys of an IKE SA, with old as those of the one that it
// replaces (RFC 7296 sections 2.14 and 2.18). secrets are of the first key exchange and, in a rekey, of the
// additional ones.
func (e *Engine) deriveIKE(sa *ikeSA, chosen suite.Proposal, ni, nr []byte, secrets []suite.Key, old *ikeSA) error {
	defer wipe(secrets)
	s := chosen.Suite()
	prf, err := suite.NewPRF(s.PRF.ID)
	if err != nil {
		return err
	}
	in := suite.IKEInput{
		PRF: prf, Encr: s.Encr, Integ: s.Integ,
		Ni: ni, Nr: nr, SPIi: uint64(sa.spiI), SPIr: uint64(sa.spiR),
		Shared: secrets[0], More: secrets[1:],
	}
	var keys suite.Keys
	if old == nil {
		keys, err = suite.DeriveIKE(in)
	} else {
		keys, err = suite.DeriveIKERekey(old.prf, old.keys.SKd, in)
	}
	if err != nil {
		return err
	}
	if err := sa.useKeys(s, keys); err != nil {
		return err
	}
	sa.proposal, sa.suite, sa.prf = chosen, s, prf
	sa.nonceMin = lowerNonce(ni, nr)
	return nil
}

// useKeys makes keys those that protect the IKE SA's messages from now on.
func (sa *ikeSA) useKeys(s suite.Suite, keys suite.Keys) error {
	ci, err := suite.NewCipher(s.Encr, s.Integ, keys.SKei, keys.SKai)
	if err != nil {
		return err
	}
	cr, err := suite.NewCipher(s.Encr, s.Integ, keys.SKer, keys.SKar)
	if err != nil {
		return err
	}
	sa.seal, sa.open = ci, cr
	if !sa.initiator {
		sa.seal, sa.open = cr, ci
	}
	sa.keys = keys // the ciphers have their own; these are for a handover
	return nil
}

// wipe wipes all keys.
func wipe(keys []suite.Key) {
	for _, k := range keys {
		k.Wipe()
	}
}

// localAddr chooses our address towards a peer: the configured one of the same
// family, or what the host would use.
func (e *Engine) localAddr(c *Connection, remote netip.Addr) netip.Addr {
	var first netip.Addr
	for _, m := range c.LocalAddrs {
		a, ok := m.Single()
		switch {
		case !ok || a.Is4() != remote.Is4() || a.IsUnspecified():
		case slices.Contains(e.addrs, a):
			return a
		case !first.IsValid():
			first = a
		}
	}
	if first.IsValid() {
		return first
	}
	if e.cfg.Source != nil {
		return e.cfg.Source(remote)
	}
	return netip.Addr{}
}
