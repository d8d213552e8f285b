package router

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"

	"github.com/ipsecd/ipsecd/routing"
)

// Resolver finds the interface, and the next hop on its link, by which the
// kernel reaches a gateway.
type Resolver func(gateway netip.Addr) (routing.Nexthop, error)

// gateways remembers what a Resolver said. Asking again waits for the next tick,
// since another program may change many routes at once.
type gateways struct {
	find  Resolver
	known map[netip.Addr]resolved
	stale bool // something happened that may change an answer
}

type resolved struct {
	hop routing.Nexthop
	err error
}

func newGateways(find Resolver) gateways {
	return gateways{find: find, known: make(map[netip.Addr]resolved)}
}

func (g *gateways) resolve(a netip.Addr) (routing.Nexthop, error) {
	k, ok := g.known[a]
	if !ok {
		k.hop, k.err = g.find(a)
		g.known[a] = k
	}
	return k.hop, k.err
}

func (g *gateways) forget() { clear(g.known) }

// failed says whether some gateway has no answer yet.
func (g *gateways) failed() bool {
	for _, k := range g.known {
		if k.err != nil {
			return true
		}
	}
	return false
}

// refreshGateways asks again for every gateway, and looks at every prefix if an
// answer differs.
func (r *router) refreshGateways() {
	before := r.gateways.known
	r.gateways = newGateways(r.opt.Resolve)
	for a, k := range before {
		if hop, err := r.gateways.resolve(a); hop != k.hop || (err == nil) != (k.err == nil) {
			r.rib.touchAll()
		}
	}
}

var errOwnAddress = errors.New("it is an address of this host")

// kernelResolver asks the kernel which route it would take.
func kernelResolver(gateway netip.Addr) (routing.Nexthop, error) {
	routes, err := netlink.RouteGet(gateway.AsSlice())
	if err != nil {
		return routing.Nexthop{}, fmt.Errorf("no route to it: %w", err)
	}
	if len(routes) == 0 {
		return routing.Nexthop{}, errors.New("no route to it")
	}
	link, err := netlink.LinkByIndex(routes[0].LinkIndex)
	if err != nil {
		return routing.Nexthop{}, fmt.Errorf("its interface: %w", err)
	}
	if link.Attrs().Flags&net.FlagLoopback != 0 {
		return routing.Nexthop{}, errOwnAddress
	}
	hop := routing.Nexthop{Interface: link.Attrs().Name, Gateway: gateway}
	if via, ok := netip.AddrFromSlice(routes[0].Gw); ok {
		hop.Gateway = via.Unmap() // the gateway is behind another one
	}
	return hop, nil
}
