package xfrm

import (
	"bytes"
	"net/netip"
	"slices"
)

// SameSA reports whether an SA in the kernel is the one wanted. It allows for what
// a kernel does not tell: the direction (before 6.10), the outbound window, and
// keys, which count only where both sides have them.
func SameSA(want, have *SA) bool {
	w, h := canonicalSA(want), canonicalSA(have)
	return updatable(want, have) &&
		w.Limits == h.Limits && equalPtr(w.Encap, h.Encap) && w.OutputMark == h.OutputMark
}

// updatable reports whether UpdateSA can turn have into want.
func updatable(want, have *SA) bool {
	w, h := canonicalSA(want), canonicalSA(have)
	if w.Dir == DirOut || h.Dir == 0 {
		h.Dir, h.ReplayWindow = w.Dir, w.ReplayWindow
	}
	return w.Src == h.Src && w.Dst == h.Dst && w.SPI == h.SPI && w.Proto == h.Proto &&
		w.Mode == h.Mode && w.Dir == h.Dir && w.ReqID == h.ReqID && w.IfID == h.IfID && w.Mark == h.Mark && w.CPU == h.CPU &&
		(w.Encap == nil) == (h.Encap == nil) && equalPtr(w.Offload, h.Offload) &&
		sameAlgorithms(&w, &h) &&
		w.ReplayWindow == h.ReplayWindow && w.ESN == h.ESN && w.Selector == h.Selector && w.Flags == h.Flags &&
		w.TFCPad == h.TFCPad && w.MappingThreshold == h.MappingThreshold && w.NATKeepalive == h.NATKeepalive
}

func sameAlgorithms(w, h *SA) bool {
	a, b := w.AEAD, h.AEAD
	if (a == nil) != (b == nil) || a != nil && (a.Name != b.Name || a.ICVBits != b.ICVBits || !sameKey(a.Key, b.Key)) {
		return false
	}
	c, d := w.Crypt, h.Crypt
	if (c == nil) != (d == nil) || c != nil && (c.Name != d.Name || !sameKey(c.Key, d.Key)) {
		return false
	}
	e, f := w.Auth, h.Auth
	return (e == nil) == (f == nil) &&
		(e == nil || e.Name == f.Name && e.TruncBits == f.TruncBits && sameKey(e.Key, f.Key))
}

func sameKey(a, b Key) bool { return len(a) == 0 || len(b) == 0 || bytes.Equal(a, b) }

// canonicalSA returns the SA as the kernel would tell it back.
func canonicalSA(sa *SA) SA {
	c := *sa
	l := &c.Limits
	l.SoftAdd, l.HardAdd = wholeSeconds(l.SoftAdd), wholeSeconds(l.HardAdd)
	l.SoftUse, l.HardUse = wholeSeconds(l.SoftUse), wholeSeconds(l.HardUse)
	c.MappingThreshold = wholeSeconds(c.MappingThreshold)
	c.NATKeepalive = wholeSeconds(c.NATKeepalive)
	if s := c.Selector; isAny(s.Src) && isAny(s.Dst) && s == (Selector{Src: s.Src, Dst: s.Dst}) {
		c.Selector = Selector{}
	}
	// Set by the codec for tunnels without a selector.
	c.Flags &^= AFUnspec
	return c
}

func isAny(p netip.Prefix) bool { return p.Bits() == 0 }

func equalPtr[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// SamePolicy reports whether a policy in the kernel is the one wanted, whatever
// its index.
func SamePolicy(want, have *Policy) bool {
	return want.ID() == have.ID() && want.Priority == have.Priority && want.Action == have.Action &&
		want.ICMP == have.ICMP && want.PerCPU == have.PerCPU && equalPtr(want.Offload, have.Offload) && slices.Equal(want.Templates, have.Templates)
}

// sameLink reports whether MTU and addresses of an interface are those wanted.
func sameLink(want, have *Interface) bool {
	if want.MTU != 0 && want.MTU != have.MTU {
		return false
	}
	add, del := DiffAddresses(want.Addresses, have.Addresses)
	return len(add) == 0 && (len(del) == 0 || have.Alias == "")
}

// DiffAddresses returns the addresses to add to and remove from an interface.
// Link-local IPv6 addresses are never removed: the kernel makes them.
func DiffAddresses(want, have []Address) (add, del []Address) {
	for _, a := range want {
		if !slices.Contains(have, a) {
			add = append(add, a)
		}
	}
	for _, a := range have {
		ll := a.Prefix.Addr().Is6() && a.Prefix.Addr().IsLinkLocalUnicast()
		if !ll && !slices.Contains(want, a) {
			del = append(del, a)
		}
	}
	return add, del
}
