package ike

import (
	"fmt"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// ppkUse is what the two ends do about a post-quantum pre-shared key while an IKE SA is set up (RFC 8784).
type ppkUse struct {
	offered bool       // as initiator: we sent USE_PPK
	agreed  bool       // both sent USE_PPK
	used    bool       // the keys are mixed with it
	plain   suite.Keys // those before, as long as we may have to go back to them
}

// ppkIDFixed is the PPK_ID type for configured keys (RFC 8784 section 5.1).
const ppkIDFixed = 2

// ppk returns the key of an identity, or one that is there for every identity. A connection that names one uses no other.
func (e *Engine) ppk(c *Connection, id string) (suite.Key, bool) {
	if id == "" || !c.PPKID.IsAny() && c.PPKID.Data != id {
		return suite.Key{}, false
	}
	var anybody suite.Key
	for _, s := range e.cfg.PPKs {
		if len(s.Owners) == 0 && anybody.Len() == 0 {
			anybody = s.Key
		}
		for _, owner := range s.Owners {
			if owner.Data == id {
				return s.Key, true
			}
		}
	}
	return anybody, anybody.Len() > 0
}

// offerPPK returns the notification for IKE_SA_INIT of a connection that wants a PPK, or an error if it must have one and has none.
func (e *Engine) offerPPK(sa *ikeSA) ([]wire.Payload, error) {
	c, use := sa.conn.cfg, &sa.setup.ppk
	use.offered = false
	switch _, found := e.ppk(c, c.PPKID.Data); {
	case found:
		use.offered = true
		return []wire.Payload{notification(wire.NotifyUsePPK, nil)}, nil
	case !c.PPKRequired:
		return nil, nil
	case c.PPKID.IsAny():
		return nil, fmt.Errorf("ppk_required = yes, and no ppk_id says which to use %s", c.at("ppk_required"))
	}
	return nil, fmt.Errorf("no PPK for ppk_id '%v', which is required: add one to secrets %s", c.PPKID, c.at("ppk_id"))
}

// lacksPPK says what is wrong with an answer to IKE_SA_INIT that does not agree to the PPK that we must have.
func (sa *ikeSA) lacksPPK(m *message) string {
	c, use := sa.conn.cfg, &sa.setup.ppk
	use.agreed = use.offered && m.notify(wire.NotifyUsePPK) != nil
	if use.agreed || !c.PPKRequired {
		return ""
	}
	return fmt.Sprintf("PPK required, and peer %v does not use any: it does not support RFC 8784, or has no PPK for us %s",
		sa.remote.Addr(), c.at("ppk_required"))
}

// mixPPK makes the keys from here on depend on a PPK.
func (sa *ikeSA) mixPPK(key suite.Key) error {
	mixed, err := suite.MixPPK(sa.prf, key, sa.keys)
	if err != nil {
		return err
	}
	use := &sa.setup.ppk
	use.plain, use.used = sa.keys, true
	sa.keys = mixed
	return nil
}

// unmixPPK goes back to the keys without it.
func (sa *ikeSA) unmixPPK() {
	use := &sa.setup.ppk
	sa.keys, use.plain = use.plain, sa.keys
	use.used = false
}

// proveWithPPK makes our AUTH payload as initiator, and the notifications of IKE_AUTH that go with a PPK: its identity and, where it
// is optional, the proof for a peer that does not know it (RFC 8784 section 3).
func (e *Engine) proveWithPPK(sa *ikeSA, own *proof, idi *wire.Identification, done func(*wire.Auth, []wire.Payload, error)) {
	c := sa.conn.cfg
	key, found := e.ppk(c, c.PPKID.Data)
	if !sa.setup.ppk.agreed || !found {
		e.makeAuth(sa, own, idi, func(a *wire.Auth, err error) { done(a, nil, err) })
		return
	}
	notes := []wire.Payload{notification(wire.NotifyPPKIdentity, append([]byte{ppkIDFixed}, c.PPKID.Data...))}
	withKey := func() {
		if err := sa.mixPPK(key); err != nil {
			done(nil, nil, err)
			return
		}
		e.makeAuth(sa, own, idi, func(a *wire.Auth, err error) { done(a, notes, err) })
	}
	if c.PPKRequired {
		withKey()
		return
	}
	e.makeAuth(sa, own, idi, func(a *wire.Auth, err error) {
		if err != nil {
			done(nil, nil, err)
			return
		}
		notes = append(notes, notification(wire.NotifyNoPPKAuth, a.Data))
		withKey()
	})
}

// ppkAnswered finds out, as initiator, whether the responder has used the PPK; the error says that it had to.
func (sa *ikeSA) ppkAnswered(m *message) error {
	c := sa.conn.cfg
	if !sa.setup.ppk.used || m.notify(wire.NotifyPPKIdentity) != nil {
		return nil
	}
	if c.PPKRequired {
		return fmt.Errorf("PPK required, and peer %v did not use '%v' %s", sa.remote.Addr(), c.PPKID, c.at("ppk_required"))
	}
	sa.unmixPPK()
	return nil
}

// choosePPK decides, as responder, about the PPK of an initiator (RFC 8784 section 3, table 1). It returns the initiator's proof, which
// is in NO_PPK_AUTH if we go on without a PPK; the error says why we cannot go on.
func (e *Engine) choosePPK(sa *ikeSA, m *message, c *connection, a *wire.Auth) (*wire.Auth, error) {
	use := &sa.setup.ppk
	where := c.cfg.at("ppk_required")
	if !use.agreed {
		if c.cfg.PPKRequired {
			return nil, fmt.Errorf("PPK required, and peer %v does not use any %s", sa.remoteID, where)
		}
		return a, nil
	}
	n := m.notify(wire.NotifyPPKIdentity)
	if n == nil {
		return nil, fmt.Errorf("peer %v sends no PPK_IDENTITY, which USE_PPK calls for %s", sa.remoteID, where)
	}
	id := ""
	if len(n.Data) > 1 && n.Data[0] == ppkIDFixed {
		id = string(n.Data[1:])
	}
	if key, found := e.ppk(c.cfg, id); found {
		return a, sa.mixPPK(key)
	}
	unknown := fmt.Sprintf("no PPK for '%s' of peer %v", printable(id), sa.remoteID)
	fallback := m.notify(wire.NotifyNoPPKAuth)
	switch {
	case c.cfg.PPKRequired:
		return nil, fmt.Errorf("%s, and ppk_required = yes: compare secrets and ppk_id on both sides %s", unknown, where)
	case fallback == nil:
		return nil, fmt.Errorf("%s, which requires one: compare secrets and ppk_id on both sides %s", unknown, where)
	}
	e.note(sa, LevelWarn, "IKE", "%s, going on without, as it is optional on both sides %s", unknown, where)
	return &wire.Auth{Method: a.Method, Data: fallback.Data}, nil
}

// ppkConfirmation is what goes into the answer to IKE_AUTH if a PPK is used.
func (sa *ikeSA) ppkConfirmation() []wire.Payload {
	if !sa.setup.ppk.used {
		return nil
	}
	return []wire.Payload{notification(wire.NotifyPPKIdentity, nil)}
}

// andPPK tells, where a proof does not fit, that a PPK goes into it, too.
func (sa *ikeSA) andPPK() string {
	if !sa.setup.ppk.used {
		return ""
	}
	return ", and the PPK"
}

// printable writes a PPK_ID of a peer for people.
func printable(id string) string {
	return auth.Identity{Type: auth.IDKeyID, Data: id}.String()
}
