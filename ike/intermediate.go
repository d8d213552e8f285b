package ike

import (
	"encoding/binary"
	"fmt"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// intAuth is what the IKE_INTERMEDIATE exchanges so far add to the octets of AUTH (RFC 9242 section 3.3.2).
type intAuth struct {
	i, r    []byte // IntAuth_i and IntAuth_r
	count   uint32 // exchanges
	request []byte // of the one under way, unencrypted
}

// add takes in one exchange, with the keys that protected it.
func (a *intAuth) add(prf suite.PRFunc, k suite.Keys, request, response []byte) {
	// RFC 9242 section 3.3.2: IntAuth_in = prf(SK_pin, IntAuth_i(n-1) | IntAuth_inA | IntAuth_inP)
	a.i = prf.Sum(k.SKpi, a.i, request)
	a.r = prf.Sum(k.SKpr, a.r, response)
	a.count++
	a.request = nil
}

// octets returns IntAuth, which is empty without such exchanges.
func (a *intAuth) octets() []byte {
	if a.count == 0 {
		return nil
	}
	// RFC 9242 section 3.3.2: IntAuth = IntAuth_iN | IntAuth_rN | IKE_AUTH_MID; the message ID is one more than that of
	// the last IKE_INTERMEDIATE exchange (section 3.2).
	all := append(append([]byte(nil), a.i...), a.r...)
	return binary.BigEndian.AppendUint32(all, a.count+1)
}

// offersAdditional reports whether a connection may use additional key exchanges.
func (c *connection) offersAdditional() bool {
	for _, p := range c.cfg.Proposals {
		if p.HasAdditional() {
			return true
		}
	}
	return false
}

// nextKeyExchange makes, as initiator, our half of the next additional key exchange (RFC 9370 section 2.2.2), or goes on to IKE_AUTH
// when there is none left.
func (e *Engine) nextKeyExchange(sa *ikeSA) {
	s := sa.setup
	if len(s.additional) == 0 {
		sa.state = stateAuth
		e.sendAuth(sa)
		return
	}
	sa.state = stateIntermediate
	e.compute(sa, e.newKE(s.additional[0], nil), func(result any) {
		r := result.(keyResult)
		if r.err != nil {
			e.failSA(sa, "key exchange: "+r.err.Error())
			return
		}
		s.addKE = r.ke
		payload := &wire.KeyExchange{Method: r.ke.Group(), Data: r.ke.Public()}
		var err error
		s.intAuth.request, err = wire.AppendUnencrypted(nil, sa.header(wire.ExchangeIntermediate, sa.out.next, false), payload)
		if err != nil {
			e.failSA(sa, "cannot build IKE_INTERMEDIATE: "+err.Error())
			return
		}
		e.request(sa, wire.ExchangeIntermediate, payload)
	})
}

// intermediateResponse completes an additional key exchange as initiator.
func (e *Engine) intermediateResponse(sa *ikeSA, m *message) {
	s := sa.setup
	failed := func(text string) { // nobody has proved yet who sent it (RFC 9242 section 3.4)
		if !e.nextAnswer(sa, true) {
			e.failSA(sa, text)
		}
	}
	if n := m.error(); n != nil {
		failed(fmt.Sprintf("received %v notify error from %v in answer to IKE_INTERMEDIATE with %s %s",
			n.NotifyType, sa.remote.Addr(), groupName(s.additional[0]), sa.conn.cfg.at("proposals")))
		return
	}
	ke := find[*wire.KeyExchange](m)
	if ke.Method != s.additional[0] {
		failed(fmt.Sprintf("peer's IKE_INTERMEDIATE is for %s, and ours was for %s", groupName(ke.Method), groupName(s.additional[0])))
		return
	}
	e.compute(sa, sharedSecret(s.addKE, ke.Data), func(result any) {
		r := result.(keyResult)
		if r.err == nil {
			s.intAuth.add(sa.prf, sa.keys, s.intAuth.request, m.whole)
			r.err = sa.updateKeys(r.shared)
		}
		if r.err != nil {
			failed("key exchange: " + r.err.Error())
			return
		}
		s.additional = s.additional[1:]
		e.nextKeyExchange(sa)
	})
}

// intermediateRequest answers, as responder, an additional key exchange (RFC 9370 section 2.2.2). There are exactly as many as
// were negotiated, in the order of their transform types.
func (e *Engine) intermediateRequest(sa *ikeSA, m *message) {
	s, ke := sa.setup, find[*wire.KeyExchange](m)
	refuse := func(why string) {
		e.respond(sa, m, notification(wire.NotifyInvalidSyntax, nil))
		e.failSA(sa, why)
	}
	switch {
	case len(s.additional) == 0:
		refuse("peer sends IKE_INTERMEDIATE, and no further key exchange was agreed upon")
		return
	case ke.Method != s.additional[0]:
		refuse(fmt.Sprintf("peer's IKE_INTERMEDIATE is for %s, and %s is next", groupName(ke.Method), groupName(s.additional[0])))
		return
	}
	e.compute(sa, e.newKE(ke.Method, ke.Data), func(result any) {
		r := result.(keyResult)
		if r.err != nil {
			refuse("key exchange: " + r.err.Error())
			return
		}
		payload := &wire.KeyExchange{Method: ke.Method, Data: r.ke.Public()}
		whole, err := wire.AppendUnencrypted(nil, sa.header(m.Exchange, m.MessageID, true), payload)
		if err != nil {
			refuse("cannot build the response to IKE_INTERMEDIATE: " + err.Error())
			return
		}
		e.respond(sa, m, payload) // RFC 9242 section 3.3.1: with the keys as they were
		if sa.gone {
			return
		}
		s.intAuth.add(sa.prf, sa.keys, m.whole, whole)
		if err := sa.updateKeys(r.shared); err != nil {
			e.failSA(sa, "key exchange: "+err.Error())
			return
		}
		s.additional = s.additional[1:]
	})
}

// updateKeys replaces the keys of an IKE SA after an additional key exchange (RFC 9370 section 2.2.2).
func (sa *ikeSA) updateKeys(shared suite.Key) error {
	defer shared.Wipe()
	s, old := sa.setup, sa.keys
	keys, err := suite.DeriveIKEUpdate(old.SKd, suite.IKEInput{
		PRF: sa.prf, Encr: sa.suite.Encr, Integ: sa.suite.Integ,
		Ni: s.ni, Nr: s.nr, SPIi: uint64(sa.spiI), SPIr: uint64(sa.spiR), Shared: shared,
	})
	if err == nil {
		err = sa.useKeys(sa.suite, keys)
	}
	if err == nil {
		old.Wipe()
	}
	return err
}
