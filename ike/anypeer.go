package ike

import (
	"net/netip"
	"slices"
)

// anyPeer reports whether the connection is for peers that only their packets tell: it has no address to
// try, and a child in transport mode, whose policies need none. That depends on no start_action: peers stay what they are
// when a trap comes or goes.
func (c *Connection) anyPeer() bool {
	for _, m := range c.RemoteAddrs {
		if _, single := m.Single(); single || m.Name != "" {
			return false
		}
	}
	return slices.ContainsFunc(c.Children, func(ch *ChildConfig) bool { return ch.Mode == ModeTransport })
}

// AnyPeerTrap returns the selectors of a trap that catches the packets for any peer that remote_addrs allows.
// ok is false where a trap is for one peer or needs one, as in tunnel mode, whose policies name both ends.
func (c *Connection) AnyPeerTrap(ch *ChildConfig) (local, remote []TrafficSelector, ok bool) {
	if ch.Mode != ModeTransport || !c.anyPeer() {
		return nil, nil, false
	}
	remote = spread(ch.RemoteTS, c.peerPrefixes())
	locals := prefixesOf(c.LocalAddrs)
	if len(locals) == 0 {
		locals = []netip.Prefix{wholeOf(true), wholeOf(false)}
	}
	locals = slices.DeleteFunc(locals, func(p netip.Prefix) bool {
		return !slices.ContainsFunc(remote, func(t TrafficSelector) bool { return t.Start.Is4() == p.Addr().Is4() })
	})
	local = spread(ch.LocalTS, locals)
	return local, remote, len(local) > 0
}

// peerPrefixes returns where the peers may be: without a restriction anywhere in IPv4, as with charon,
// unless local_addrs has only IPv6.
func (c *Connection) peerPrefixes() []netip.Prefix {
	if list := prefixesOf(c.RemoteAddrs); len(list) > 0 {
		return list
	}
	locals := prefixesOf(c.LocalAddrs)
	return []netip.Prefix{wholeOf(len(locals) == 0 || slices.ContainsFunc(locals, func(p netip.Prefix) bool { return p.Addr().Is4() }))}
}

// wholeOf returns the prefix of all addresses of a family.
func wholeOf(ipv4 bool) netip.Prefix {
	if ipv4 {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
}

func prefixesOf(list []AddrMatch) (out []netip.Prefix) {
	for _, m := range list {
		if m.Prefix.IsValid() {
			out = append(out, m.Prefix)
		}
	}
	return out
}

// spread puts all the addresses that a side may have in the place of its dynamic selectors. No selectors at all stand
// for one dynamic one.
func spread(list []TrafficSelector, side []netip.Prefix) (out []TrafficSelector) {
	if len(list) == 0 {
		list = []TrafficSelector{{Dynamic: true, EndPort: anyPort}}
	}
	for _, t := range list {
		if !t.Dynamic {
			out = append(out, t)
			continue
		}
		for _, p := range side {
			all := PrefixSelector(p)
			all.Protocol, all.StartPort, all.EndPort = t.Protocol, t.StartPort, t.EndPort
			out = append(out, all)
		}
	}
	return out
}
