package ike

import (
	"crypto/sha1"
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// natHash is the content of a NAT_DETECTION notification: SHA1(SPIi | SPIr | IP | port),
// a checksum and not a protection (RFC 7296 section 2.23).
func natHash(i, r wire.SPI, a netip.AddrPort) []byte {
	b := append(i.Bytes(), r.Bytes()...)
	b = append(b, a.Addr().AsSlice()...)
	b = binary.BigEndian.AppendUint16(b, a.Port())
	h := sha1.Sum(b)
	return h[:]
}

// natNotifies returns what we send in IKE_SA_INIT. Where the connection wants
// UDP encapsulation, or our address is not known, the source is made not to match.
func (e *Engine) natNotifies(sa *ikeSA, local netip.AddrPort, force bool) []wire.Payload {
	return e.natNotifiesTo(sa, local, sa.remote, force)
}

// natNotifiesTo is natNotifies for a message that goes elsewhere.
func (e *Engine) natNotifiesTo(sa *ikeSA, local, remote netip.AddrPort, force bool) []wire.Payload {
	source := natHash(sa.spiI, sa.spiR, local)
	if force || !local.Addr().IsValid() {
		e.random(source)
	}
	return []wire.Payload{
		notification(wire.NotifyNATDetectionSourceIP, source),
		notification(wire.NotifyNATDetectionDestinationIP, natHash(sa.spiI, sa.spiR, remote)),
	}
}

// detectNAT compares what the peer saw with what we see. A peer that sends none
// of the notifications cannot do NAT traversal.
func (sa *ikeSA) detectNAT(m *message) {
	var sources int
	sourceFits := false
	for n := range wire.All[*wire.Notify](m.payloads) {
		switch n.NotifyType {
		case wire.NotifyNATDetectionSourceIP: // several, from a host with several addresses
			sources++
			sourceFits = sourceFits || string(n.Data) == string(natHash(m.InitiatorSPI, m.ResponderSPI, m.packet.Remote))
		case wire.NotifyNATDetectionDestinationIP:
			sa.natLocal = string(n.Data) != string(natHash(m.InitiatorSPI, m.ResponderSPI, m.packet.Local))
			sa.mobike.natSeen = slices.Clone(n.Data)
		}
	}
	sa.natRemote = sources > 0 && !sourceFits
	sa.mobike.natt = sources > 0
}

// encap reports whether ESP must go in UDP (RFC 3948).
func (sa *ikeSA) encap() bool { return sa.natLocal || sa.natRemote || sa.forceEncap }

// floatPort moves the initiator to the NAT-T port when there is a NAT
// (RFC 7296 section 2.23), or when there may be one some day (RFC 4555 section 3.3).
func (sa *ikeSA) floatPort() {
	if may := sa.conn.cfg.MOBIKE && sa.mobike.natt; sa.natt || !sa.encap() && !may {
		return
	}
	sa.natt = true
	sa.local = netip.AddrPortFrom(sa.local.Addr(), nattPort)
	if sa.remote.Port() == ikePort {
		sa.remote = netip.AddrPortFrom(sa.remote.Addr(), nattPort)
	}
}

// keepalive keeps the NAT's mapping alive (RFC 3948 section 4).
func (e *Engine) keepalive(sa *ikeSA) {
	interval := e.cfg.Timing.KeepAlive
	if interval <= 0 || !sa.natLocal {
		return
	}
	if quiet := e.now.Sub(sa.lastSent); quiet >= interval {
		e.do(Send{Packet: Packet{Local: sa.local, Remote: sa.remote, NATT: sa.natt, Data: []byte{0xff}}, Keepalive: true})
		sa.lastSent = e.now
	}
	e.setSATimer(sa, timerKeepalive, sa.lastSent.Add(interval))
}

// move follows the peer to a new address, with all CHILD_SAs.
func (e *Engine) move(sa *ikeSA, p Packet) {
	e.note(sa, LevelInfo, "IKE", "peer moved from %v to %v", sa.remote, p.Remote)
	sa.local, sa.remote, sa.natt = p.Local, p.Remote, p.NATT
	e.tellVirtual(sa)
	for _, c := range sa.children {
		e.moveChild(c)
	}
}
