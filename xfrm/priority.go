package xfrm

import (
	"math/bits"
	"net/netip"
)

// Class ranks policies against each other before their selectors do.
type Class uint8

// The classes, strongest first.
const (
	// ClassPass is for bypass shunts.
	ClassPass Class = iota
	// ClassDefault is for the policies of an established CHILD_SA, and drop shunts.
	ClassDefault
	// ClassRouted is for traps.
	ClassRouted
	// ClassFallback is for guards.
	ClassFallback
)

// Priorities are those that users of strongSwan know from ip-xfrm(8), so that
// policies of both rank alike and an explicit priority in a configuration keeps
// its meaning: classes are 200000 apart, and within a class each bit of a
// narrower selector counts down from the top.
const (
	classStep     = 200000
	portBitStep   = 1 << 2
	protoStep     = 1 << 8
	prefixBitStep = 1 << 9
)

// Priority returns the policy priority for a selector: within a class, narrower
// selectors get lower numbers and so win. 192.168.15.0/24 to 192.168.14.128/25 in
// ClassDefault is 374911.
func Priority(c Class, s Selector) uint32 {
	prio := classStep*(uint32(c)+1) - 1
	prio -= uint32(s.Src.Bits()+s.Dst.Bits()) * prefixBitStep
	prio -= uint32(bits.OnesCount16(s.SrcPortMask)+bits.OnesCount16(s.DstPortMask)) * portBitStep
	if s.Proto != 0 {
		prio -= protoStep
	}
	if s.Interface != "" {
		prio--
	}
	return prio
}

// Protect returns policies, in all three directions, that block plaintext to and
// from the prefixes. They rank below everything else the daemon installs, so that
// traffic passes while its tunnel has policies and is dropped while it has none.
//
// via names the interfaces that may carry such traffic nevertheless, XFRM
// interfaces: before a packet enters one, the kernel consults the outbound
// policies without if_id, and the interface itself drops what has no SA.
// Interfaces must exist when the policies are installed.
func Protect(prefixes []netip.Prefix, via []string) []Policy {
	var out []Policy
	for _, p := range prefixes {
		p = p.Masked()
		all := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
		if p.Addr().Is6() {
			all = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
		}
		to, from := Selector{Src: all, Dst: p}, Selector{Src: p, Dst: all}
		out = append(out, guard(DirOut, to, Block), guard(DirIn, from, Block), guard(DirFwd, from, Block))
		for _, name := range via {
			to.Interface = name
			out = append(out, guard(DirOut, to, Allow))
		}
	}
	return out
}

// guard makes one policy of Protect. The selector's interface makes a pass policy
// outrank the block policy of the same prefix.
func guard(d Dir, s Selector, a Action) Policy {
	return Policy{Dir: d, Selector: s, Action: a, Priority: Priority(ClassFallback, s)}
}
