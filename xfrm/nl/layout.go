package nl

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/xfrm"
)

// The kernel's structures hold native integers, and addresses, ports and SPIs in
// network order.
var (
	ne = binary.NativeEndian
	be = binary.BigEndian
)

// Address families.
const (
	familyV4 = 2
	familyV6 = 10
)

// family returns the address family of a; 0 for the invalid address.
func family(a netip.Addr) uint16 {
	switch {
	case !a.IsValid():
		return 0
	case a.Is4():
		return familyV4
	}
	return familyV6
}

// putAddr writes an xfrm_address_t; the invalid address is all zeros.
func putAddr(b []byte, a netip.Addr) {
	if a.IsValid() {
		copy(b[:16], a.AsSlice())
	}
}

// getAddr reads an xfrm_address_t of a family. Without a family there is no
// address.
func getAddr(b []byte, fam uint16) netip.Addr {
	switch fam {
	case familyV4:
		return netip.AddrFrom4([4]byte(b[:4]))
	case familyV6:
		return netip.AddrFrom16([16]byte(b[:16]))
	}
	return netip.Addr{}
}

// getAddrOrAny is getAddr with the unspecified address made the invalid one.
func getAddrOrAny(b []byte, fam uint16) netip.Addr {
	a := getAddr(b, fam)
	if a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}

// putSelector writes an xfrm_selector of 56 bytes.
func putSelector(b []byte, s xfrm.Selector, ifindex int) {
	putAddr(b[0:], s.Dst.Addr())
	putAddr(b[16:], s.Src.Addr())
	be.PutUint16(b[32:], s.DstPort)
	be.PutUint16(b[34:], s.DstPortMask)
	be.PutUint16(b[36:], s.SrcPort)
	be.PutUint16(b[38:], s.SrcPortMask)
	ne.PutUint16(b[40:], family(s.Dst.Addr()))
	b[42] = uint8(max(s.Dst.Bits(), 0))
	b[43] = uint8(max(s.Src.Bits(), 0))
	b[44] = s.Proto
	ne.PutUint32(b[48:], uint32(ifindex))
}

// getSelector reads an xfrm_selector. Host bits and impossible prefix lengths,
// which the kernel takes but never means, are cut off.
func getSelector(b []byte) (s xfrm.Selector, ifindex int) {
	fam := ne.Uint16(b[40:])
	s.Dst = prefix(getAddr(b[0:], fam), b[42])
	s.Src = prefix(getAddr(b[16:], fam), b[43])
	s.DstPort, s.DstPortMask = be.Uint16(b[32:]), be.Uint16(b[34:])
	s.SrcPort, s.SrcPortMask = be.Uint16(b[36:]), be.Uint16(b[38:])
	s.Proto = b[44]
	return s, int(int32(ne.Uint32(b[48:])))
}

func prefix(a netip.Addr, bits uint8) netip.Prefix {
	if !a.IsValid() {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(a, min(int(bits), a.BitLen())).Masked()
}

// putLimits writes an xfrm_lifetime_cfg of 64 bytes.
func putLimits(b []byte, l xfrm.Limits) {
	for i, v := range []uint64{l.SoftBytes, l.HardBytes, l.SoftPackets, l.HardPackets} {
		if v == 0 {
			v = lifetimeInfinity
		}
		ne.PutUint64(b[8*i:], v)
	}
	for i, d := range []time.Duration{l.SoftAdd, l.HardAdd, l.SoftUse, l.HardUse} {
		ne.PutUint64(b[32+8*i:], seconds(d))
	}
}

func getLimits(b []byte) xfrm.Limits {
	count := func(off int) uint64 {
		if v := ne.Uint64(b[off:]); v != lifetimeInfinity {
			return v
		}
		return 0
	}
	return xfrm.Limits{
		SoftBytes: count(0), HardBytes: count(8),
		SoftPackets: count(16), HardPackets: count(24),
		SoftAdd: duration(ne.Uint64(b[32:])), HardAdd: duration(ne.Uint64(b[40:])),
		SoftUse: duration(ne.Uint64(b[48:])), HardUse: duration(ne.Uint64(b[56:])),
	}
}

// seconds rounds up, so that a limit neither comes early nor becomes none.
func seconds(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return uint64((d-1)/time.Second) + 1
}

// duration turns the kernel's seconds into a Duration; more than fits is no limit.
func duration(sec uint64) time.Duration {
	if sec > uint64((1<<63-1)/time.Second) {
		return 0
	}
	return time.Duration(sec) * time.Second
}

// clock turns the kernel's wall-clock seconds into a time; 0 is never.
func clock(sec uint64) time.Time {
	if sec == 0 || sec > 1<<62 {
		return time.Time{}
	}
	return time.Unix(int64(sec), 0)
}

// getCounters reads the traffic of an xfrm_lifetime_cur of 32 bytes.
func getCounters(b []byte) xfrm.Counters {
	return xfrm.Counters{Bytes: ne.Uint64(b), Packets: ne.Uint64(b[8:])}
}

func putMark(b []byte, m xfrm.Mark) {
	ne.PutUint32(b, m.Value)
	ne.PutUint32(b[4:], m.Mask)
}

func getMark(b []byte) xfrm.Mark { return xfrm.Mark{Value: ne.Uint32(b), Mask: ne.Uint32(b[4:])} }
