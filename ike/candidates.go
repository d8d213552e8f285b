package ike

import (
	"net/netip"
	"slices"
)

// directory finds connections by the peer's address without looking at them all.
type directory struct {
	single map[netip.Addr][]ranked // connections with this address in remote_addrs
	others []ranked                // with ranges, or without remote_addrs
}

// ranked is a connection and its place in the configuration.
type ranked struct {
	c     *connection
	place int
}

func newDirectory(connections []*connection) *directory {
	d := &directory{single: map[netip.Addr][]ranked{}}
	for i, c := range connections {
		if c.cfg.OnlyShunts() {
			continue // it is for no peer
		}
		r := ranked{c, i}
		general := len(c.cfg.RemoteAddrs) == 0
		for _, m := range c.matches() {
			if a, ok := m.Single(); ok {
				d.single[a] = append(d.single[a], r)
			} else {
				general = general || m.Name == ""
			}
		}
		if general {
			d.others = append(d.others, r)
		}
	}
	return d
}

// candidates returns the connections that fit the addresses, those with the
// most specific addresses first, else in configured order.
func (d *directory) candidates(local, remote netip.Addr) []*connection {
	type scored struct {
		ranked
		score int
	}
	var fit []scored
	for _, list := range [][]ranked{d.single[remote], d.others} {
		for _, r := range list {
			l, m := matchAddr(r.c.cfg.LocalAddrs, local), matchAddr(r.c.matches(), remote)
			seen := slices.ContainsFunc(fit, func(s scored) bool { return s.c == r.c })
			if l > 0 && m > 0 && len(r.c.cfg.Proposals) > 0 && !seen {
				fit = append(fit, scored{r, l + m})
			}
		}
	}
	slices.SortFunc(fit, func(a, b scored) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return a.place - b.place
	})
	out := make([]*connection, len(fit))
	for i, s := range fit {
		out[i] = s.c
	}
	return out
}

// matchAddr returns how well an address fits: 0 not at all, 1 because any does, more for
// a longer prefix.
func matchAddr(list []AddrMatch, a netip.Addr) int {
	if len(list) == 0 {
		return 1
	}
	best := 0
	for _, m := range list {
		if m.Prefix.IsValid() && m.Prefix.Contains(a) {
			best = max(best, 1+m.Prefix.Bits())
		}
	}
	return best
}
