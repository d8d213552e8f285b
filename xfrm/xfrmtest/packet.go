package xfrmtest

import (
	"net/netip"

	"github.com/ipsecd/ipsecd/xfrm"
)

// Packet is a packet that leaves the host.
type Packet struct {
	Src, Dst         netip.Addr
	Proto            uint8
	SrcPort, DstPort uint16
	// Device is where its route points.
	Device string
}

// Fate is what becomes of a packet.
type Fate string

// The fates.
const (
	Plain     Fate = "plain"     // it leaves unprotected
	Protected Fate = "protected" // an SA takes it
	Dropped   Fate = "dropped"   // a policy or an interface without SA drops it
)

// Output tells what happens to an outgoing packet: policies without if_id first;
// when its device is an XFRM interface, that interface's policies too. A policy
// whose SA is missing makes the kernel report an acquire.
func (k *Kernel) Output(p Packet) Fate {
	k.mu.Lock()
	defer k.mu.Unlock()
	fate := k.lookup(p, 0)
	l := k.links[p.Device]
	if fate != Plain || l == nil {
		return fate
	}
	if !l.Up || k.lookup(p, l.IfID) != Protected {
		return Dropped
	}
	return Protected
}

// lookup applies the outbound policy of one interface ID.
func (k *Kernel) lookup(p Packet, ifID uint32) Fate {
	var best *xfrm.PolicyInfo
	for _, pol := range k.policies {
		if pol.Dir == xfrm.DirOut && pol.IfID == ifID && matches(pol.Selector, p) && (best == nil || pol.Priority < best.Priority) {
			best = pol
		}
	}
	switch {
	case best == nil && k.defaults.BlockOut, best != nil && best.Action == xfrm.Block:
		return Dropped
	case best == nil || len(best.Templates) == 0:
		return Plain
	}
	for _, t := range best.Templates {
		if !t.Optional && !k.hasSA(t, ifID) {
			k.emit(xfrm.AcquireEvent{
				ReqID: t.ReqID, Proto: t.Proto, Mode: t.Mode, Src: t.Src, Dst: t.Dst,
				Packet: packetSelector(p), Policy: *best,
			})
			return Dropped
		}
	}
	return Protected
}

func (k *Kernel) hasSA(t xfrm.Template, ifID uint32) bool {
	for _, sa := range k.sas {
		if sa.Proto == t.Proto && sa.Mode == t.Mode && sa.ReqID == t.ReqID && sa.IfID == ifID && sa.Dir != xfrm.DirIn &&
			(!t.Dst.IsValid() || t.Dst == sa.Dst) && (!t.Src.IsValid() || t.Src == sa.Src) {
			return true
		}
	}
	return false
}

func matches(s xfrm.Selector, p Packet) bool {
	return s.Src.Contains(p.Src) && s.Dst.Contains(p.Dst) &&
		(s.Proto == 0 || s.Proto == p.Proto) &&
		s.SrcPort&s.SrcPortMask == p.SrcPort&s.SrcPortMask &&
		s.DstPort&s.DstPortMask == p.DstPort&s.DstPortMask &&
		(s.Interface == "" || s.Interface == p.Device)
}

func packetSelector(p Packet) xfrm.Selector {
	s := xfrm.Selector{
		Src: netip.PrefixFrom(p.Src, p.Src.BitLen()), Dst: netip.PrefixFrom(p.Dst, p.Dst.BitLen()),
		Proto: p.Proto, SrcPort: p.SrcPort, DstPort: p.DstPort,
	}
	if p.SrcPort != 0 || p.DstPort != 0 {
		s.SrcPortMask, s.DstPortMask = 0xffff, 0xffff
	}
	return s
}
