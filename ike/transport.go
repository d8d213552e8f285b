package ike

import "net/netip"

// behindNAT puts the IKE SA's addresses in the place of those that a NAT has changed on their way: in
// transport mode the selectors are for the very addresses of the ends, as each end sees them (RFC
// 7296 section 2.23.1). local and remote are the selectors as the peer wrote them.
func (sa *ikeSA) behindNAT(local, remote []TrafficSelector) (l, r []TrafficSelector) {
	l, r = local, remote
	if sa.natLocal {
		l = rehost(local, sa.local.Addr())
	}
	if sa.natRemote {
		r = rehost(remote, sa.remote.Addr())
	}
	return l, r
}

// rehost gives selectors of single hosts another host.
func rehost(list []TrafficSelector, host netip.Addr) []TrafficSelector {
	out := make([]TrafficSelector, 0, len(list))
	for _, t := range list {
		if t.Start == t.End && t.Start.Is4() == host.Is4() {
			t.Start, t.End = host, host
		}
		out = append(out, t)
	}
	return out
}

// follow gives the selectors of a CHILD_SA in transport mode its new addresses.
func (c *ChildSA) follow() {
	if c.Mode == ModeTransport {
		c.LocalTS, c.RemoteTS = rehost(c.LocalTS, c.Local), rehost(c.RemoteTS, c.Remote)
	}
}

// selection is the child that a peer's proposal of selectors is for, and what both sides cover.
type selection struct {
	w             *want
	local, remote []TrafficSelector
	mode          Mode
}

// selectChild chooses the child and the mode. A peer that proposes transport mode gets it from a child
// that has it and fits the addresses as we see them; else, and so it proposed nothing, it is tunnel mode,
// for the selectors as they are (RFC 7296 section 2.23.1). Without a fitting child, w is nil, or one whose
// mode is not that of the result.
func (sa *ikeSA) selectChild(local, remote []TrafficSelector, transport bool, old *childSA) selection {
	if transport {
		l, r := sa.behindNAT(local, remote)
		if s := sa.chooseChild(l, r, ModeTransport, old); s.w != nil {
			return s
		}
	}
	s := sa.chooseChild(local, remote, ModeTunnel, old)
	if s.w == nil && !transport {
		s = sa.chooseChild(local, remote, ModeTransport, old)
		s.mode = ModeTunnel
	}
	return s
}
