package ike

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// String writes the selector as strongSwan does: 10.0.0.0/8, 10.0.0.1..10.0.0.5,
// with [protocol/port] where they are restricted.
func (t TrafficSelector) String() string {
	var s string
	switch p, ok := t.prefix(); {
	case t.Dynamic && !t.Start.IsValid():
		s = "dynamic"
	case ok:
		s = p.String()
	default:
		s = t.Start.String() + ".." + t.End.String()
	}
	anyPort := t.StartPort == 0 && t.EndPort == 65535
	if t.Protocol == 0 && anyPort {
		return s
	}
	ports := fmt.Sprintf("%d-%d", t.StartPort, t.EndPort)
	switch {
	case anyPort:
		return fmt.Sprintf("%s[%d]", s, t.Protocol)
	case t.StartPort == t.EndPort:
		ports = fmt.Sprint(t.StartPort)
	case t.opaque():
		ports = "OPAQUE"
	}
	return fmt.Sprintf("%s[%d/%s]", s, t.Protocol, ports)
}

// prefix returns the selector's range as a prefix, if it is one.
func (t TrafficSelector) prefix() (netip.Prefix, bool) {
	if !t.Start.IsValid() || !t.End.IsValid() {
		return netip.Prefix{}, false
	}
	for bits := 0; bits <= t.Start.BitLen(); bits++ {
		p := netip.PrefixFrom(t.Start, bits)
		if p.Masked().Addr() == t.Start && lastAddr(p) == t.End {
			return p, true
		}
	}
	return netip.Prefix{}, false
}

// lastAddr returns the highest address of a prefix.
func lastAddr(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// PrefixSelector returns the selector of all traffic of a prefix.
func PrefixSelector(p netip.Prefix) TrafficSelector {
	return TrafficSelector{Start: p.Masked().Addr(), End: lastAddr(p), EndPort: 65535}
}

// opaque says that only packets whose ports are not to be seen are meant
// (RFC 7296 section 3.13.1).
func (t TrafficSelector) opaque() bool { return t.StartPort == 65535 && t.EndPort == 0 }

// contains reports whether all traffic of o is traffic of t.
func (t TrafficSelector) contains(o TrafficSelector) bool {
	x, ok := t.intersect(o)
	return ok && x == o
}

// intersect returns the traffic that both cover, if there is any.
func (t TrafficSelector) intersect(o TrafficSelector) (TrafficSelector, bool) {
	if t.Start.Is4() != o.Start.Is4() || t.Protocol != 0 && o.Protocol != 0 && t.Protocol != o.Protocol {
		return TrafficSelector{}, false
	}
	x := TrafficSelector{
		Start: t.Start, End: t.End, Protocol: max(t.Protocol, o.Protocol),
		StartPort: max(t.StartPort, o.StartPort), EndPort: min(t.EndPort, o.EndPort),
	}
	if o.Start.Compare(x.Start) > 0 {
		x.Start = o.Start
	}
	if o.End.Compare(x.End) < 0 {
		x.End = o.End
	}
	if x.Start.Compare(x.End) > 0 {
		return TrafficSelector{}, false
	}
	if t.opaque() || o.opaque() {
		all := func(s TrafficSelector) bool { return s.opaque() || s.StartPort == 0 && s.EndPort == 65535 }
		x.StartPort, x.EndPort = 65535, 0
		return x, all(t) && all(o)
	}
	return x, x.StartPort <= x.EndPort
}

// narrow returns the part of the proposed selectors that policy allows, in the
// order of the proposal, so that its first selector, which may be that of the
// packet that asked for the SA, is kept (RFC 7296 section 2.9).
func narrow(policy, proposed []TrafficSelector) []TrafficSelector {
	var out []TrafficSelector
	for _, p := range proposed {
		for _, own := range policy {
			if x, ok := own.intersect(p); ok {
				out = addSelector(out, x)
			}
		}
	}
	return out
}

// addSelector adds x unless it is covered, and drops what it covers.
func addSelector(list []TrafficSelector, x TrafficSelector) []TrafficSelector {
	kept := list[:0:0]
	for _, t := range list {
		if t.contains(x) {
			return list
		}
		if !x.contains(t) {
			kept = append(kept, t)
		}
	}
	return append(kept, x)
}

// merged returns the list without what others in it cover.
func merged(list []TrafficSelector) []TrafficSelector {
	var out []TrafficSelector
	for _, t := range list {
		out = addSelector(out, t)
	}
	return out
}

// covered reports whether each selector is inside one of the wider ones.
func covered(wider, list []TrafficSelector) bool {
	for _, t := range list {
		inside := false
		for _, w := range wider {
			inside = inside || w.contains(t)
		}
		if !inside {
			return false
		}
	}
	return true
}

// resolve puts the addresses of a side in the place of its dynamic selectors; an unspecified one stands for all
// of its family. No selectors at all stand for one dynamic one.
func resolve(list []TrafficSelector, hosts ...netip.Addr) []TrafficSelector {
	if len(list) == 0 {
		list = []TrafficSelector{{Dynamic: true, EndPort: 65535}}
	}
	out := make([]TrafficSelector, 0, len(list))
	for _, t := range list {
		if !t.Dynamic {
			out = append(out, t)
			continue
		}
		for _, host := range hosts {
			if !host.IsValid() {
				continue
			}
			t.Dynamic, t.Start, t.End = false, host, host
			if host.IsUnspecified() {
				t.End = lastAddr(netip.PrefixFrom(host, 0))
			}
			out = append(out, t)
		}
	}
	return out
}

// tsPayload builds a TSi or TSr payload.
func tsPayload(typ wire.PayloadType, list []TrafficSelector) *wire.TrafficSelectors {
	p := &wire.TrafficSelectors{PayloadType: typ}
	for _, t := range list {
		w := wire.TrafficSelector{
			TSType: wire.TSIPv6AddrRange, Protocol: t.Protocol,
			StartPort: t.StartPort, EndPort: t.EndPort, First: t.Start, Last: t.End,
		}
		if t.Start.Is4() {
			w.TSType = wire.TSIPv4AddrRange
		}
		p.Selectors = append(p.Selectors, w)
	}
	return p
}

// fromTSPayload reads one; selectors of unknown types are as good as not there.
func fromTSPayload(p *wire.TrafficSelectors) []TrafficSelector {
	var list []TrafficSelector
	for _, w := range p.Selectors {
		if w.TSType == wire.TSIPv4AddrRange || w.TSType == wire.TSIPv6AddrRange {
			list = append(list, TrafficSelector{
				Start: w.First, End: w.Last, Protocol: w.Protocol, StartPort: w.StartPort, EndPort: w.EndPort,
			})
		}
	}
	return list
}

// tsString joins selectors as charon logs them.
func tsString(list []TrafficSelector) string {
	s := make([]string, len(list))
	for i, t := range list {
		s[i] = t.String()
	}
	return strings.Join(s, " ")
}
