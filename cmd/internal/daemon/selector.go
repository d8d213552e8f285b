package daemon

import (
	"net/netip"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// selectors turns the traffic selectors of a CHILD_SA into those that the
// kernel can hold, as seen outbound: every local range with every remote one
// of the same address family. A range that is no prefix becomes several.
func selectors(local, remote []ike.TrafficSelector) []xfrm.Selector {
	var out []xfrm.Selector
	for _, l := range local {
		for _, r := range remote {
			if l.Start.Is4() != r.Start.Is4() {
				continue
			}
			out = append(out, pair(l, r)...)
		}
	}
	return out
}

func pair(l, r ike.TrafficSelector) []xfrm.Selector {
	proto := max(l.Protocol, r.Protocol)
	if l.Protocol != 0 && r.Protocol != 0 && l.Protocol != r.Protocol {
		return nil // no packet is of both
	}
	var out []xfrm.Selector
	for _, src := range prefixes(l.Start, l.End) {
		for _, dst := range prefixes(r.Start, r.End) {
			for _, p := range ports(proto, l, r) {
				p.Src, p.Dst, p.Proto = src, dst, proto
				out = append(out, p)
			}
		}
	}
	return out
}

// ports returns selectors with nothing but ports.
func ports(proto uint8, l, r ike.TrafficSelector) []xfrm.Selector {
	var out []xfrm.Selector
	if isICMP(proto) {
		// RFC 7296 section 3.13.1: type and code are the octets of one number, and each side may
		// restrict it. The kernel takes the type for the source port and the code for the other.
		start, end := max(l.StartPort, r.StartPort), min(l.EndPort, r.EndPort)
		if start > end {
			return nil
		}
		for _, m := range portMasks(start, end) {
			out = append(out, xfrm.Selector{
				SrcPort: m.port >> 8, SrcPortMask: m.mask >> 8,
				DstPort: m.port & 0xff, DstPortMask: m.mask & 0xff,
			})
		}
		return out
	}
	for _, sp := range portMasks(l.StartPort, l.EndPort) {
		for _, dp := range portMasks(r.StartPort, r.EndPort) {
			out = append(out, xfrm.Selector{SrcPort: sp.port, SrcPortMask: sp.mask, DstPort: dp.port, DstPortMask: dp.mask})
		}
	}
	return out
}

// The protocols whose ports are type and code.
const (
	protoICMP   = 1
	protoICMPv6 = 58
)

func isICMP(proto uint8) bool { return proto == protoICMP || proto == protoICMPv6 }

// reverse returns the selector as the peer's direction has it. ICMP's type and code
// stay where they are.
func reverse(s xfrm.Selector) xfrm.Selector {
	s.Src, s.Dst = s.Dst, s.Src
	if !isICMP(s.Proto) {
		s.SrcPort, s.DstPort = s.DstPort, s.SrcPort
		s.SrcPortMask, s.DstPortMask = s.DstPortMask, s.SrcPortMask
	}
	return s
}

// prefixes covers an address range with the fewest prefixes.
func prefixes(start, end netip.Addr) []netip.Prefix {
	var out []netip.Prefix
	for start.Compare(end) <= 0 {
		p := netip.PrefixFrom(start, start.BitLen())
		for p.Bits() > 0 {
			wider := netip.PrefixFrom(start, p.Bits()-1)
			if wider.Masked().Addr() != start || last(wider).Compare(end) > 0 {
				break
			}
			p = wider
		}
		out = append(out, p)
		start = last(p).Next()
		if !start.IsValid() {
			break
		}
	}
	return out
}

// last returns the highest address of a prefix.
func last(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

type portMask struct{ port, mask uint16 }

// portMasks covers a port range with the fewest masked ports. All ports, and
// the OPAQUE range of RFC 7296 section 3.13.1 (start above end), are one with
// no mask.
func portMasks(start, end uint16) []portMask {
	if start == 0 && end == 0xffff || start > end {
		return []portMask{{}}
	}
	var out []portMask
	for p, e := uint32(start), uint32(end); p <= e; {
		size := uint32(1)
		for p&(size*2-1) == 0 && p+size*2-1 <= e {
			size *= 2
		}
		out = append(out, portMask{uint16(p), uint16(0x10000 - size)})
		p += size
	}
	return out
}
