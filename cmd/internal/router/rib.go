package router

import (
	"net/netip"

	"github.com/ipsecd/ipsecd/bgp"
)

// rib is what BGP has told, and which prefixes are to be written.
type rib struct {
	paths map[netip.Prefix][]bgp.Path
	dirty map[netip.Prefix]struct{}
	// refused says why a prefix has no route, or not by every path.
	refused map[netip.Prefix]string
}

func newRIB() rib {
	return rib{
		paths:   make(map[netip.Prefix][]bgp.Path),
		dirty:   make(map[netip.Prefix]struct{}),
		refused: make(map[netip.Prefix]string),
	}
}

func (b *rib) update(u bgp.Update) {
	if len(u.Paths) == 0 {
		delete(b.paths, u.Prefix)
	} else {
		b.paths[u.Prefix] = u.Paths
	}
	b.dirty[u.Prefix] = struct{}{}
}

func (b *rib) pending() bool { return len(b.dirty) > 0 }

// touchAll marks every prefix: what its paths mean may have changed.
func (b *rib) touchAll() {
	for p := range b.paths {
		b.dirty[p] = struct{}{}
	}
}

func (b *rib) withdrawAll() {
	b.touchAll()
	clear(b.paths)
}

// next takes up to n marked prefixes.
func (b *rib) next(n int) []netip.Prefix {
	out := make([]netip.Prefix, 0, min(n, len(b.dirty)))
	for p := range b.dirty {
		if len(out) == n {
			break
		}
		out = append(out, p)
		delete(b.dirty, p)
	}
	return out
}
