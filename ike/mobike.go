package ike

import (
	"bytes"
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// mobike is what an IKE SA knows for MOBIKE (RFC 4555). With it the original initiator alone
// decides which addresses are used, and tells the responder.
type mobike struct {
	on      bool         // both ends have announced it
	leads   bool         // we initiated the first of the IKE SAs that rekeys have replaced
	natt    bool         // the peer can do NAT traversal: it sent NAT detection payloads
	peer    []netip.Addr // the peer's additional addresses
	told    []netip.Addr // our own, the one in use first, as the peer was told last
	proven  netip.Addr   // where the peer has answered
	natSeen []byte       // how the peer sees us: its last NAT_DETECTION_DESTINATION_IP
	pending bool         // the addresses have changed and the responder has not been told
	tried   int          // further paths tried since the peer last answered
}

// mobikePayloads announce MOBIKE in IKE_AUTH, with our other addresses (RFC 4555 sections 3.1 and 3.4).
func (e *Engine) mobikePayloads(sa *ikeSA) []wire.Payload {
	if !sa.conn.cfg.MOBIKE {
		return nil
	}
	sa.mobike.told = e.ownAddresses(sa)
	payloads := append([]wire.Payload{notification(wire.NotifyMOBIKESupported, nil)}, addressPayloads(sa.mobike.told[1:])...)
	if sa.initiator && !sa.mobike.natt {
		payloads = append(payloads, noNATs(sa)) // RFC 4555 section 3.9
	}
	return payloads
}

// learnMOBIKE takes the peer's announcement from its IKE_AUTH message.
func (e *Engine) learnMOBIKE(sa *ikeSA, m *message) {
	sa.mobike.on = sa.conn.cfg.MOBIKE && m.notify(wire.NotifyMOBIKESupported) != nil
	sa.mobike.leads, sa.mobike.proven = sa.initiator, sa.remote.Addr()
	if sa.mobike.on {
		sa.mobike.peer, _ = peerAddresses(m)
		e.note(sa, LevelDebug, "IKE", "peer supports MOBIKE")
	}
}

// ownAddresses returns our address in use, and behind it the others that the connection may use.
func (e *Engine) ownAddresses(sa *ikeSA) []netip.Addr {
	list := []netip.Addr{sa.local.Addr()}
	for _, a := range e.addrs {
		if a != sa.local.Addr() && matchAddr(sa.conn.cfg.LocalAddrs, a) > 0 && len(list) <= maxAdditional {
			list = append(list, a)
		}
	}
	return list
}

// addressPayloads list additional addresses (RFC 4555 section 4.2.2).
func addressPayloads(list []netip.Addr) []wire.Payload {
	var payloads []wire.Payload
	for _, a := range list {
		t := wire.NotifyAdditionalIP4Address
		if a.Is6() {
			t = wire.NotifyAdditionalIP6Address
		}
		payloads = append(payloads, notification(t, a.AsSlice()))
	}
	return payloads
}

// peerAddresses reads a list of additional addresses; listed is false if m has none, not even an empty one.
func peerAddresses(m *message) (list []netip.Addr, listed bool) {
	for n := range wire.All[*wire.Notify](m.payloads) {
		switch n.NotifyType {
		case wire.NotifyAdditionalIP4Address, wire.NotifyAdditionalIP6Address:
			listed = true
			a, ok := netip.AddrFromSlice(n.Data)
			if ok && a.Is4() == (n.NotifyType == wire.NotifyAdditionalIP4Address) && len(list) < maxAdditional {
				list = append(list, a)
			}
		case wire.NotifyNoAdditionalAddresses:
			listed = true
		}
	}
	return list, listed
}

// noNATs protects the addresses where NAT traversal cannot be used (RFC 4555 section 4.2.6).
func noNATs(sa *ikeSA) *wire.Notify {
	return notification(wire.NotifyNoNATsAllowed, natTuple(sa.local, sa.remote))
}

// natTuple is the content of NO_NATS_ALLOWED: addresses, then ports.
func natTuple(src, dst netip.AddrPort) []byte {
	b := append(src.Addr().AsSlice(), dst.Addr().AsSlice()...)
	return append(b, byte(src.Port()>>8), byte(src.Port()), byte(dst.Port()>>8), byte(dst.Port()))
}

// natOnTheWay reports whether a message whose sender forbids NATs has met one (RFC 4555 section 3.9).
func natOnTheWay(m *message) bool {
	n := m.notify(wire.NotifyNoNATsAllowed)
	return n != nil && !bytes.Equal(n.Data, natTuple(m.packet.Remote, m.packet.Local))
}

// updateNAT takes NAT detection payloads of a message of an established IKE SA, if it has some: UDP
// encapsulation and keepalives begin or end with the NAT (RFC 4555 section 3.5).
func (e *Engine) updateNAT(sa *ikeSA, m *message) {
	if m.notify(wire.NotifyNATDetectionDestinationIP) == nil {
		return
	}
	sa.detectNAT(m)
	e.timers.stop(&sa.timers[timerKeepalive])
	if sa.up() {
		e.keepalive(sa)
	}
}

// moveChildren lets the kernel use the IKE SA's addresses for its CHILD_SAs, too.
func (e *Engine) moveChildren(sa *ikeSA) {
	e.tellVirtual(sa)
	for _, c := range slices.Clone(sa.children) {
		info := *c.info
		if sa.outer(&info); info.Local != c.info.Local || info.Remote != c.info.Remote || info.Encap != c.info.Encap ||
			info.LocalPort != c.info.LocalPort || info.RemotePort != c.info.RemotePort {
			e.moveChild(c)
		}
	}
}

// mappingQuestion asks in a liveness check how the peer sees us, when we are behind a NAT (RFC 4555 section 3.8).
func (e *Engine) mappingQuestion(sa *ikeSA) []wire.Payload {
	if !sa.mobike.on || !sa.mobike.leads || !sa.natLocal {
		return nil
	}
	return e.natNotifies(sa, sa.local, sa.forceEncap)
}

// mappingAnswer tells the peer our addresses anew when the NAT has given us other ones. After a rekey of the IKE SA, whose SPIs
// are part of the hash, this happens once for nothing.
func (e *Engine) mappingAnswer(sa *ikeSA, m *message) {
	n := m.notify(wire.NotifyNATDetectionDestinationIP)
	if n == nil || !sa.up() || !sa.mobike.on || !sa.mobike.leads || bytes.Equal(n.Data, sa.mobike.natSeen) {
		return
	}
	e.note(sa, LevelDebug, "IKE", "the NAT has changed our address or port")
	e.startUpdate(sa)
}

// pathWorks stays on the path on which an answer has come, when others were tried.
func (e *Engine) pathWorks(sa *ikeSA, p Packet) {
	if sa.mobike.tried > 0 {
		sa.mobike.tried = 0
		sa.local, sa.remote, sa.natt = p.Local, p.Remote, p.NATT
	}
}
