package ike

import (
	"bytes"
	"slices"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// updateTask tells the responder which addresses are used from now on (RFC 4555 section 3.5).
type updateTask struct {
	cookie  []byte
	noNATs  bool
	refused int // times
}

func (*updateTask) name() string { return "IKE_MOBIKE" }

// startUpdate plans to tell the responder; before anything else that waits.
func (e *Engine) startUpdate(sa *ikeSA) {
	sa.mobike.pending = true
	if !sa.up() {
		return // adopt sees to it, if somebody takes over
	}
	if !slices.ContainsFunc(sa.queue, func(t task) bool { _, ok := t.(*updateTask); return ok }) {
		sa.queue = slices.Insert(sa.queue, 0, task(&updateTask{}))
	}
	e.nextTask(sa)
}

func (t *updateTask) begin(e *Engine, sa *ikeSA) bool {
	if !sa.up() || !sa.mobike.pending {
		return false
	}
	sa.mobike.pending = false
	payloads := append([]wire.Payload{notification(wire.NotifyUpdateSAAddresses, nil)}, e.listAddresses(sa)...)
	if t.noNATs = !sa.mobike.natt; !t.noNATs {
		payloads = append(payloads, e.natNotifies(sa, sa.local, sa.forceEncap)...)
	}
	if t.cookie = nil; sa.remote.Addr() != sa.mobike.proven {
		t.cookie = e.newCookie2() // does the peer receive where we send to now?
		payloads = append(payloads, notification(wire.NotifyCookie2, t.cookie))
	}
	e.note(sa, LevelInfo, "IKE", "telling the peer that IKE_SA %s is between %v and %v", sa.label(), sa.local.Addr(), sa.remote.Addr())
	e.request(sa, wire.ExchangeInformational, payloads...)
	return true
}

func (t *updateTask) answer(e *Engine, sa *ikeSA, m *message) {
	e.finishTask(sa)
	if t.cookie != nil && !cookie2Fits(m, t.cookie) {
		e.routabilityFailed(sa)
		return
	}
	switch {
	case sa.mobike.pending || !sa.up():
		return // the addresses have changed again, or another IKE SA is in use
	case m.notify(wire.NotifyUnexpectedNATDetected) != nil && t.noNATs:
		// RFC 4555 section 3.9: try again, since a single packet may have been changed.
		if t.refused++; t.refused <= e.cfg.Timing.RetransmitTries {
			sa.mobike.pending = true
			sa.queue = slices.Insert(sa.queue, 0, task(t))
			return
		}
		e.abandonPath(sa, "there is a NAT on the way, and the peer cannot do NAT traversal")
		return
	case m.notify(wire.NotifyUnacceptableAddresses) != nil:
		e.abandonPath(sa, "the peer does not accept our address")
		return
	}
	sa.mobike.proven = sa.remote.Addr()
	e.updateNAT(sa, m)
	e.moveChildren(sa)
	e.tellAddresses(sa)
}

func (*updateTask) abandon(*Engine, *ikeSA) {}

// resumePath goes on, on the new IKE SA of a rekey, with a change of addresses that had not come to its end on the old one.
func (e *Engine) resumePath(old, next *ikeSA) {
	if !next.mobike.on {
		return
	}
	_, under := old.active.(*updateTask)
	switch {
	case !next.mobike.leads:
		e.bringChildren(next)
	case under || old.mobike.pending:
		e.startUpdate(next)
	}
	e.tellAddresses(next)
}

// abandonPath gives up an IKE SA that cannot follow us, and sets up a new one.
func (e *Engine) abandonPath(sa *ikeSA, why string) {
	e.note(sa, LevelWarn, "IKE", "cannot move IKE_SA %s to %v: %s; setting it up anew", sa.label(), sa.local.Addr(), why)
	e.keepUp(sa, func(*want) ChildAction { return ActionStart })
	e.deleteIKE(sa, why)
	e.ensure(sa.conn)
}

// tellAddresses tells the peer our other addresses where they have changed (RFC 4555 section 3.6). A responder
// whose own address is another one now tells by the same message.
func (e *Engine) tellAddresses(sa *ikeSA) {
	if !sa.up() || !sa.mobike.on || slices.Equal(e.ownAddresses(sa), sa.mobike.told) ||
		slices.ContainsFunc(sa.queue, func(t task) bool { _, ok := t.(*addressesTask); return ok }) {
		return
	}
	e.enqueue(sa, &addressesTask{})
}

// listAddresses returns the payloads of our whole list of addresses.
func (e *Engine) listAddresses(sa *ikeSA) []wire.Payload {
	sa.mobike.told = e.ownAddresses(sa)
	payloads := addressPayloads(sa.mobike.told[1:])
	if len(payloads) == 0 {
		payloads = append(payloads, notification(wire.NotifyNoAdditionalAddresses, nil))
	}
	if !sa.mobike.natt {
		payloads = append(payloads, noNATs(sa))
	}
	return payloads
}

// addressesTask tells the peer our additional addresses.
type addressesTask struct{}

func (*addressesTask) name() string { return "IKE_MOBIKE" }

func (t *addressesTask) begin(e *Engine, sa *ikeSA) bool {
	if !sa.up() || slices.Equal(e.ownAddresses(sa), sa.mobike.told) {
		return false
	}
	e.request(sa, wire.ExchangeInformational, e.listAddresses(sa)...)
	return true
}

func (*addressesTask) answer(e *Engine, sa *ikeSA, _ *message) { e.finishTask(sa) }

func (*addressesTask) abandon(*Engine, *ikeSA) {}

// newCookie2 makes the content of a COOKIE2, which nobody can guess (RFC 4555 section 4.2.5).
func (e *Engine) newCookie2() []byte {
	b := make([]byte, cookie2Len)
	e.random(b)
	return b
}

// cookie2Fits reports whether a response brings a COOKIE2 back as it was sent.
func cookie2Fits(m *message, sent []byte) bool {
	n := m.notify(wire.NotifyCookie2)
	return n != nil && bytes.Equal(n.Data, sent)
}

// routabilityFailed closes an IKE SA whose peer is not where it says (RFC 4555 section 3.7).
func (e *Engine) routabilityFailed(sa *ikeSA) {
	if sa.up() {
		e.note(sa, LevelWarn, "IKE", "%v did not return our COOKIE2, closing IKE_SA %s", sa.remote, sa.label())
		e.deleteIKE(sa, "the return routability check failed")
	}
}
