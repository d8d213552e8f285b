package ike

import (
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// virtual are the virtual addresses of the two ends of an IKE SA (RFC 7296 section 2.19).
type virtual struct {
	local    []netip.Addr   // that the peer has assigned to us
	dns      []netip.Addr   // name servers that it told us
	leases   []*lease       // that the peer has of our pools
	leasedTo netip.AddrPort // where the peer was known to be by them
}

// remote returns the peer's virtual addresses.
func (v *virtual) remote() []netip.Addr {
	var list []netip.Addr
	for _, l := range v.leases {
		list = append(list, l.addr)
	}
	return list
}

// asymmetric reports whether only the peer can set the IKE SA up anew: we would not ask for what it has got from us.
func (sa *ikeSA) asymmetric() bool { return len(sa.virtual.leases) > 0 }

// localHosts returns what stands for dynamic selectors of ours: our virtual addresses, else the outer address.
func (sa *ikeSA) localHosts() []netip.Addr {
	if len(sa.virtual.local) > 0 {
		return sa.virtual.local
	}
	return []netip.Addr{sa.local.Addr()}
}

// remoteHosts is localHosts for the peer.
func (sa *ikeSA) remoteHosts() []netip.Addr {
	if list := sa.virtual.remote(); len(list) > 0 {
		return list
	}
	return []netip.Addr{sa.remote.Addr()}
}

// wantedAddresses returns the virtual addresses to ask for: the one that we had last, where any of its family will do.
func (c *connection) wantedAddresses() []netip.Addr {
	had := slices.Clone(c.virtual)
	list := slices.Clone(c.cfg.VIPs)
	for i, a := range list {
		j := slices.IndexFunc(had, func(h netip.Addr) bool { return h.Is4() == a.Is4() })
		if a.IsUnspecified() && j >= 0 {
			list[i] = had[j]
			had = slices.Delete(had, j, j+1)
		}
	}
	return list
}

// offeredHosts returns what stands for dynamic selectors of ours in IKE_AUTH: where we ask for a virtual address, all addresses
// of its family, which the responder narrows (RFC 7296 section 2.19).
func (sa *ikeSA) offeredHosts() []netip.Addr {
	if sa.setup == nil || len(sa.conn.cfg.VIPs) == 0 {
		return sa.localHosts()
	}
	var list []netip.Addr
	for _, a := range sa.conn.cfg.VIPs {
		wildcard := netip.IPv4Unspecified()
		if a.Is6() {
			wildcard = netip.IPv6Unspecified()
		}
		if !slices.Contains(list, wildcard) {
			list = append(list, wildcard)
		}
	}
	return list
}

// configRequest returns the payload that asks for virtual addresses, and for name servers of their families.
func (sa *ikeSA) configRequest() []wire.Payload {
	wanted := sa.conn.wantedAddresses()
	if len(wanted) == 0 {
		return nil
	}
	p := &wire.Configuration{CFGType: wire.CFGRequest}
	for _, a := range wanted {
		p.Attributes = append(p.Attributes, addressAttribute(a))
	}
	for _, t := range []wire.ConfigType{wire.ConfigInternalIP4DNS, wire.ConfigInternalIP6DNS} {
		if slices.ContainsFunc(wanted, func(a netip.Addr) bool { return a.Is4() == (t == wire.ConfigInternalIP4DNS) }) {
			p.Attributes = append(p.Attributes, wire.ConfigAttribute{Type: t})
		}
	}
	return []wire.Payload{p}
}

// addressAttribute asks for an address or assigns it; an unspecified one asks for any (RFC 7296 section 3.15.1).
func addressAttribute(a netip.Addr) wire.ConfigAttribute {
	attr := wire.ConfigAttribute{Type: wire.ConfigInternalIP4Address}
	if a.Is6() {
		attr.Type = wire.ConfigInternalIP6Address
	}
	if !a.IsUnspecified() {
		attr.Value = a.AsSlice()
		if a.Is6() {
			attr.Value = append(attr.Value, virtualPrefix6)
		}
	}
	return attr
}

// address reads an attribute with an address, unspecified if it is empty. IPv6 addresses may have a prefix length.
func address(a wire.ConfigAttribute) (netip.Addr, bool) {
	is4 := a.Type == wire.ConfigInternalIP4Address || a.Type == wire.ConfigInternalIP4DNS
	switch n := len(a.Value); {
	case n == 0 && is4:
		return netip.IPv4Unspecified(), true
	case n == 0:
		return netip.IPv6Unspecified(), true
	case is4 && n == 4, !is4 && n == 16, !is4 && n == 17:
		addr, _ := netip.AddrFromSlice(a.Value[:min(n, 16)])
		return addr, !addr.Is4In6()
	}
	return netip.Addr{}, false
}

// configuration returns the Configuration payload of a type, or nil.
func (m *message) configuration(t wire.CFGType) *wire.Configuration {
	for p := range wire.All[*wire.Configuration](m.payloads) {
		if p.CFGType == t {
			return p
		}
	}
	return nil
}

// addresses reads the attributes of given types, each address once, no more than maxVirtual.
func addresses(p *wire.Configuration, types ...wire.ConfigType) []netip.Addr {
	var list []netip.Addr
	if p == nil {
		return nil
	}
	for _, attr := range p.Attributes {
		if !slices.Contains(types, attr.Type) || len(list) == maxVirtual {
			continue
		}
		if a, ok := address(attr); ok && (a.IsUnspecified() || !slices.Contains(list, a)) {
			list = append(list, a)
		}
	}
	return list
}
