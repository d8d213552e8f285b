package lookup

import (
	"net/netip"
	"slices"
)

// Filter says which ways do not count. Without anything set, all do.
type Filter struct {
	Use    []string // the only links that count; if set, Ignore says nothing
	Ignore []string // links that do not count
	Tables []uint32 // routing tables that do not count
}

// Ignores reports whether a link does not count.
func (f Filter) Ignores(link string) bool {
	if len(f.Use) > 0 {
		return !slices.Contains(f.Use, link)
	}
	return slices.Contains(f.Ignore, link)
}

// any reports whether there is something that does not count.
func (f Filter) any() bool { return len(f.Use)+len(f.Ignore)+len(f.Tables) > 0 }

// Path is the way to an address.
type Path struct {
	Link    int        // its index
	Source  netip.Addr // that was asked about, or that the kernel would choose; invalid: none
	Gateway netip.Addr // invalid: the address is on the link
}

// route is an entry of a routing table.
type route struct {
	dst    netip.Prefix
	metric int
	path   Path
}

// best returns the entry for an address: the one with the longest prefix, of these the one with the lowest metric.
func best(list []route, dst netip.Addr) (Path, bool) {
	var found *route
	for i := range list {
		r := &list[i]
		if !r.dst.Contains(dst) {
			continue
		}
		if found == nil || r.dst.Bits() > found.dst.Bits() || r.dst.Bits() == found.dst.Bits() && r.metric < found.metric {
			found = r
		}
	}
	if found == nil {
		return Path{}, false
	}
	return found.path, true
}
