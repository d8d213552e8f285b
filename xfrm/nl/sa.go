package nl

import (
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/xfrm"
)

// bodyCapacity fits any SA, so that appending never leaves a copy of keys behind.
const bodyCapacity = 1536

// appendSA returns the body of XFRM_MSG_NEWSA and UPDSA: an xfrm_usersa_info and
// attributes. ifindex resolves the selector's interface. The result holds keys:
// the caller wipes it.
func appendSA(sa *xfrm.SA, ifindex int, f xfrm.Features) []byte {
	w := builder{b: make([]byte, sizeUserSAInfo, bodyCapacity)}
	b := w.b
	putSelector(b[0:], sa.Selector, ifindex)
	putID(b[56:], sa.Dst, sa.SPI, sa.Proto)
	putAddr(b[80:], sa.Src)
	putLimits(b[96:], sa.Limits)
	ne.PutUint32(b[204:], sa.AcquireSeq)
	ne.PutUint32(b[208:], sa.ReqID)
	ne.PutUint16(b[212:], family(sa.Dst))
	b[214] = uint8(sa.Mode)
	flags := sa.Flags
	if sa.Mode != xfrm.Transport && sa.Selector == (xfrm.Selector{}) {
		// Without a selector the kernel would take the outer family for the inner.
		flags |= xfrm.AFUnspec
	}
	b[216] = uint8(flags)
	w.replay(sa, f.Has(xfrm.SADirection))

	w.algorithms(sa)
	if e := sa.Encap; e != nil {
		var d [sizeEncap]byte
		ne.PutUint16(d[0:], encapESPinUDP)
		be.PutUint16(d[2:], e.SrcPort)
		be.PutUint16(d[4:], e.DstPort)
		w.attr(attrEncap, d[:])
	}
	w.mark(sa.Mark)
	if !sa.OutputMark.IsZero() {
		w.u32(attrSetMark, sa.OutputMark.Value)
		w.u32(attrSetMarkMask, sa.OutputMark.Mask)
	}
	w.ifID(sa.IfID)
	if x := uint32(flags) >> 8; x != 0 {
		w.u32(attrExtraFlags, x)
	}
	if sa.TFCPad != 0 {
		w.u32(attrTFCPad, sa.TFCPad)
	}
	if sa.MappingThreshold != 0 {
		w.u32(attrMTimerThresh, uint32(seconds(sa.MappingThreshold)))
	}
	if sa.NATKeepalive != 0 {
		w.u32(attrNATKeepalive, uint32(seconds(sa.NATKeepalive)))
	}
	if sa.CPU.Bound {
		w.u32(attrSAPCPU, sa.CPU.Number)
	}
	if f.Has(xfrm.SADirection) {
		dir := byte(saDirIn)
		if sa.Dir == xfrm.DirOut {
			dir = saDirOut
		}
		w.attr(attrSADir, []byte{dir})
	}
	return w.b
}

// putID writes the xfrm_id of 24 bytes; what follows the protocol is padding.
func putID(b []byte, dst netip.Addr, spi xfrm.SPI, proto xfrm.Proto) {
	putAddr(b, dst)
	be.PutUint32(b[16:], uint32(spi))
	b[20] = uint8(proto)
}

// appendSAID returns the body of XFRM_MSG_GETSA and DELSA: an xfrm_usersa_id,
// which unlike an xfrm_id has the family before the protocol.
func appendSAID(id xfrm.SAID) []byte {
	w := builder{b: make([]byte, sizeUserSAID, 64)}
	putAddr(w.b, id.Dst)
	be.PutUint32(w.b[16:], uint32(id.SPI))
	ne.PutUint16(w.b[20:], family(id.Dst))
	w.b[22] = uint8(id.Proto)
	w.mark(id.Mark)
	return w.b
}

// parseSA reads an xfrm_usersa_info and its attributes. The second result is the
// index of the selector's interface, 0 for none.
func parseSA(b []byte) (xfrm.SAInfo, int, error) {
	if len(b) < sizeUserSAInfo {
		return xfrm.SAInfo{}, 0, short("SA", b, sizeUserSAInfo)
	}
	sa, ifindex := parseSAInfo(b)
	err := attrs(b[sizeUserSAInfo:], func(typ uint16, d []byte) error { return parseSAAttr(&sa, typ, d) })
	if err != nil {
		return xfrm.SAInfo{}, 0, err
	}
	return sa, ifindex, nil
}

// parseSAInfo reads the fixed structure, of full length.
func parseSAInfo(b []byte) (sa xfrm.SAInfo, ifindex int) {
	fam := ne.Uint16(b[212:])
	sa.Selector, ifindex = getSelector(b)
	if sa.Selector.Src.Bits() <= 0 && sa.Selector.Dst.Bits() <= 0 {
		// The kernel stores an empty selector as 0/0 of the outer family.
		if s := sa.Selector; s == (xfrm.Selector{Src: s.Src, Dst: s.Dst}) {
			sa.Selector = xfrm.Selector{}
		}
	}
	sa.Dst = getAddr(b[56:], fam)
	sa.SPI = xfrm.SPI(be.Uint32(b[72:]))
	sa.Proto = xfrm.Proto(b[76])
	sa.Src = getAddr(b[80:], fam)
	sa.Limits = getLimits(b[96:])
	sa.Counters = getCounters(b[160:])
	sa.Added, sa.Used = clock(ne.Uint64(b[176:])), clock(ne.Uint64(b[184:]))
	sa.ReplayWindowDrops = ne.Uint32(b[192:])
	sa.ReplayDrops = ne.Uint32(b[196:])
	sa.IntegrityDrops = ne.Uint32(b[200:])
	sa.ReqID = ne.Uint32(b[208:])
	sa.Mode = xfrm.Mode(b[214])
	sa.ReplayWindow = uint32(b[215])
	sa.Flags = xfrm.SAFlags(b[216] &^ flagESN)
	if sa.Mode != xfrm.Transport && sa.Selector == (xfrm.Selector{}) {
		sa.Flags &^= xfrm.AFUnspec
	}
	sa.ESN = b[216]&flagESN != 0
	return sa, ifindex
}

func parseSAAttr(sa *xfrm.SAInfo, typ uint16, d []byte) error {
	switch typ {
	case attrAlgAEAD, attrAlgCrypt, attrAlgAuth, attrAlgAuthTrunc:
		return parseAlgorithm(&sa.SA, typ, d)
	case attrEncap:
		sa.Encap = &xfrm.UDPEncap{SrcPort: be.Uint16(d[2:]), DstPort: be.Uint16(d[4:])}
	case attrOffloadDev:
		sa.Offload = parseOffload(d)
	case attrReplayVal:
		parseReplay(sa, d)
	case attrReplayESN:
		return parseReplayESN(sa, d)
	case attrMark:
		sa.Mark = getMark(d)
	case attrSetMark:
		sa.OutputMark.Value = ne.Uint32(d)
	case attrSetMarkMask:
		sa.OutputMark.Mask = ne.Uint32(d)
	case attrIfID:
		sa.IfID = ne.Uint32(d)
	case attrExtraFlags:
		sa.Flags |= xfrm.SAFlags(ne.Uint32(d) << 8)
	case attrTFCPad:
		sa.TFCPad = ne.Uint32(d)
	case attrMTimerThresh:
		sa.MappingThreshold = time.Duration(ne.Uint32(d)) * time.Second
	case attrNATKeepalive:
		sa.NATKeepalive = time.Duration(ne.Uint32(d)) * time.Second
	case attrSAPCPU:
		sa.CPU = xfrm.CPU{Bound: true, Number: ne.Uint32(d)}
	case attrLastUsed:
		sa.LastUsed = clock(ne.Uint64(d))
	case attrSADir:
		switch d[0] {
		case saDirIn:
			sa.Dir = xfrm.DirIn
		case saDirOut:
			sa.Dir = xfrm.DirOut
		}
	}
	return nil
}
