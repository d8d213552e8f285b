package router

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/bgp"
	"github.com/ipsecd/ipsecd/routing"
)

// legs turns the paths of a prefix into next hops on links, and says why some
// are left out.
func (r *router) legs(p netip.Prefix, paths []bgp.Path) ([]routing.Leg, string) {
	protected := bgp.Refuses(r.cfg.Routing.Protect, p)
	limit := r.cfg.Routing.MaxPaths
	if limit <= 0 {
		limit = DefaultMaxPaths
	}
	var legs []routing.Leg
	var why []string
	over := 0
	for _, path := range paths {
		hop, err := r.nexthop(path)
		switch {
		case err != nil:
			why = append(why, err.Error())
		case protected && !r.tunnels.has(hop.Interface):
			why = append(why, fmt.Sprintf("%s: the prefix is protected and %s is not a tunnel", path.Neighbor, hop.Interface))
		case slices.ContainsFunc(legs, func(l routing.Leg) bool { return l.Nexthop == hop }):
			// Two neighbours name the same gateway.
		case len(legs) == limit:
			over++
		default:
			legs = append(legs, routing.Leg{Nexthop: hop})
		}
	}
	if over > 0 {
		why = append(why, fmt.Sprintf("%d more paths than max_paths = %d", over, limit))
	}
	return legs, strings.Join(why, "; ")
}

// nexthop is the leg of one path. A tunnel's paths are on the tunnel, whatever
// gateway they name; other gateways are where the configuration or the kernel
// says.
func (r *router) nexthop(p bgp.Path) (routing.Nexthop, error) {
	n, ok := r.neighbors[p.Neighbor]
	if !ok {
		return routing.Nexthop{}, fmt.Errorf("neighbour %s is not configured", p.Neighbor)
	}
	if n.Interface != "" {
		return routing.Nexthop{Interface: n.Interface, Gateway: p.Nexthop}, nil
	}
	if zone := n.Address.Zone(); zone != "" && p.Nexthop.IsLinkLocalUnicast() {
		return routing.Nexthop{Interface: zone, Gateway: p.Nexthop}, nil
	}
	hop, err := r.gateways.resolve(p.Nexthop)
	if err != nil {
		return hop, fmt.Errorf("neighbour %s: gateway %v: %w", p.Neighbor, p.Nexthop, err)
	}
	return hop, nil
}
