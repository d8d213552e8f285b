package bgp

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"strings"

	api "github.com/osrg/gobgp/v3/api"
	"google.golang.org/protobuf/proto"
)

// prefixOf decodes the NLRI of a unicast path.
func prefixOf(p *api.Path) (netip.Prefix, bool) {
	var nlri api.IPAddressPrefix
	if p.GetNlri() == nil || p.Nlri.UnmarshalTo(&nlri) != nil {
		return netip.Prefix{}, false
	}
	addr, err := netip.ParseAddr(nlri.Prefix)
	if err != nil {
		return netip.Prefix{}, false
	}
	// The bits beyond the length are irrelevant (RFC 4271 section 4.3).
	prefix, err := addr.Unmap().Prefix(int(nlri.PrefixLen))
	return prefix, err == nil
}

// defaultLocalPref is what a path without the attribute is worth.
const defaultLocalPref = 100

// pathOf decodes a path, except for its neighbour. It looks only at what a Path
// has: with full tables this is where the time of this package goes.
func pathOf(p *api.Path) (Path, bool) {
	out := Path{LocalPref: defaultLocalPref}
	for _, any := range p.GetPattrs() {
		switch any.MessageName() {
		case nameNextHop:
			var a api.NextHopAttribute
			if proto.Unmarshal(any.Value, &a) == nil {
				out.Nexthop = nexthop(a.NextHop)
			}
		case nameMpReach:
			var a api.MpReachNLRIAttribute
			if proto.Unmarshal(any.Value, &a) == nil {
				out.Nexthop = nexthop(a.NextHops...)
			}
		case nameASPath:
			var a api.AsPathAttribute
			if proto.Unmarshal(any.Value, &a) == nil {
				out.ASPathLen = asPathLen(&a)
			}
		case nameLocalPref:
			var a api.LocalPrefAttribute
			if proto.Unmarshal(any.Value, &a) == nil {
				out.LocalPref = a.LocalPref
			}
		case nameMED:
			var a api.MultiExitDiscAttribute
			if proto.Unmarshal(any.Value, &a) == nil {
				out.MED = a.Med
			}
		}
	}
	return out, out.Nexthop.IsValid()
}

var (
	nameNextHop   = proto.MessageName(&api.NextHopAttribute{})
	nameMpReach   = proto.MessageName(&api.MpReachNLRIAttribute{})
	nameASPath    = proto.MessageName(&api.AsPathAttribute{})
	nameLocalPref = proto.MessageName(&api.LocalPrefAttribute{})
	nameMED       = proto.MessageName(&api.MultiExitDiscAttribute{})
)

// samePrefix compares the NLRI of two paths of one event without decoding them.
func samePrefix(a, b *api.Path) bool {
	x, y := a.GetNlri(), b.GetNlri()
	return x != nil && y != nil && x.TypeUrl == y.TypeUrl && bytes.Equal(x.Value, y.Value)
}

// nexthop is the first address that can be one: for IPv6 the global one comes
// first, and is unspecified when the neighbour has only a link-local one
// (RFC 2545 section 3).
func nexthop(list ...string) netip.Addr {
	for _, s := range list {
		if a, err := netip.ParseAddr(s); err == nil && !a.IsUnspecified() {
			return a.Unmap()
		}
	}
	return netip.Addr{}
}

// asPathLen counts as RFC 4271 section 9.1.2.2 a and RFC 5065 section 5.3 say.
func asPathLen(a *api.AsPathAttribute) int {
	n := 0
	for _, s := range a.Segments {
		switch s.Type {
		case api.AsSegment_AS_SEQUENCE:
			n += len(s.Numbers)
		case api.AsSegment_AS_SET:
			n++
		}
	}
	return n
}

func sortPaths(ps []Path) {
	slices.SortFunc(ps, func(a, b Path) int {
		return cmp.Or(strings.Compare(a.Neighbor, b.Neighbor), a.Nexthop.Compare(b.Nexthop))
	})
}
