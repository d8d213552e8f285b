package ike

import (
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// mobikeRequest takes the MOBIKE part of the peer's INFORMATIONAL request and returns that of the response.
func (e *Engine) mobikeRequest(sa *ikeSA, m *message) []wire.Payload {
	if !sa.mobike.on {
		return nil
	}
	var response []wire.Payload
	if c := m.notify(wire.NotifyCookie2); c != nil && len(c.Data) <= maxCookie2 {
		response = append(response, notification(wire.NotifyCookie2, c.Data)) // RFC 4555 section 3.7
	}
	list, listed := peerAddresses(m)
	update := m.notify(wire.NotifyUpdateSAAddresses) != nil && !sa.mobike.leads // it is the initiator who decides
	switch {
	case (listed || update) && natOnTheWay(m):
		e.note(sa, LevelWarn, "IKE", "there is a NAT between %v and %v, and the peer forbids that", m.packet.Remote, m.packet.Local)
		return append(response, notification(wire.NotifyUnexpectedNATDetected, nil))
	case update && !e.acceptable(m.packet.Remote.Addr()):
		return append(response, notification(wire.NotifyUnacceptableAddresses, nil))
	}
	if listed {
		sa.mobike.peer = list
	}
	if update {
		e.peerUpdates(sa, m)
	}
	if m.notify(wire.NotifyNATDetectionSourceIP) != nil {
		// RFC 4555 section 3.8: what we send is addressed to where the request came from.
		response = append(response, e.natNotifiesTo(sa, m.packet.Local, m.packet.Remote, sa.forceEncap)...)
	}
	if listed && sa.mobike.leads {
		e.peerLists(sa, m.packet.Remote)
	}
	return response
}

// acceptable refuses what cannot be a peer's address.
func (e *Engine) acceptable(a netip.Addr) bool {
	return a.IsValid() && !a.IsUnspecified() && !a.IsMulticast() && !slices.Contains(e.addrs, a)
}

// peerUpdates follows the initiator to the addresses in the IP header of its request, first with the IKE SA, and
// with its CHILD_SAs when it is known to receive there (RFC 4555 sections 3.5 and 3.7).
func (e *Engine) peerUpdates(sa *ikeSA, m *message) {
	p := m.packet
	if sa.remote != p.Remote || sa.local != p.Local {
		e.note(sa, LevelInfo, "IKE", "peer moved from %v to %v", sa.remote, p.Remote)
	}
	sa.local, sa.remote, sa.natt = p.Local, p.Remote, p.NATT
	e.updateNAT(sa, m)
	if twin := sa.rekey.twin; twin != nil && !twin.gone {
		e.follow(sa, twin)
	}
	if old := sa.rekey.replaces; old != nil && !old.gone {
		e.follow(sa, old) // which waits for its Delete
	}
	e.bringChildren(sa)
}

// bringChildren lets the CHILD_SAs follow the IKE SA of a responder, after a return routability check if the peer's address
// is a new one.
func (e *Engine) bringChildren(sa *ikeSA) {
	elsewhere := func(c *childSA) bool { return c.info.Remote != sa.remote.Addr() }
	if !e.cfg.RoutabilityCheck || !sa.up() || !slices.ContainsFunc(sa.children, elsewhere) {
		e.moveChildren(sa)
		return
	}
	sa.queue = slices.DeleteFunc(sa.queue, func(t task) bool { _, ok := t.(*routabilityTask); return ok })
	sa.queue = slices.Insert(sa.queue, 0, task(&routabilityTask{remote: sa.remote})) // it begins after the response
}

// follow gives an IKE SA the addresses of another one with the same peer.
func (e *Engine) follow(sa, other *ikeSA) {
	other.local, other.remote, other.natt = sa.local, sa.remote, sa.natt
	other.natLocal, other.natRemote = sa.natLocal, sa.natRemote
}

// peerLists is told the responder's addresses. One that has lost the address that we use sends from
// another one: then we go there (RFC 4555 section 3.6).
func (e *Engine) peerLists(sa *ikeSA, from netip.AddrPort) {
	if sa.natRemote || sa.natLocal || from.Addr() == sa.remote.Addr() || slices.Contains(sa.mobike.peer, sa.remote.Addr()) {
		return
	}
	if local := e.sourceOr(sa, from.Addr()); local.IsValid() {
		e.changePath(sa, local, from.Addr())
	}
}

// sourceOr returns our address towards the peer's new one: the present one, if nothing else is known.
func (e *Engine) sourceOr(sa *ikeSA, remote netip.Addr) netip.Addr {
	if local := sa.local.Addr(); local.Is4() == remote.Is4() && (e.cfg.Routed == nil || e.cfg.Routed(local, remote)) {
		return local
	}
	return e.sourceFor(sa.conn.cfg, remote)
}

// routabilityTask asks whether the initiator receives at its new address, before traffic is sent
// there (RFC 4555 section 3.7).
type routabilityTask struct {
	remote netip.AddrPort
	cookie []byte
}

func (*routabilityTask) name() string { return "IKE_MOBIKE" }

func (t *routabilityTask) begin(e *Engine, sa *ikeSA) bool {
	if !sa.up() || sa.remote != t.remote {
		return false
	}
	t.cookie = e.newCookie2()
	e.request(sa, wire.ExchangeInformational, notification(wire.NotifyCookie2, t.cookie))
	return true
}

func (t *routabilityTask) answer(e *Engine, sa *ikeSA, m *message) {
	e.finishTask(sa)
	switch {
	case !cookie2Fits(m, t.cookie):
		e.routabilityFailed(sa)
	case sa.remote == t.remote && sa.state != stateRekeyed:
		e.moveChildren(sa)
	}
}

func (*routabilityTask) abandon(*Engine, *ikeSA) {}
