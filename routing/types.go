package routing

import (
	"fmt"
	"net/netip"
)

// Nexthop names a leg: a gateway reached over an interface. It is comparable
// and serves as map key. The gateway is taken to be on the link, whatever
// addresses the interface has.
type Nexthop struct {
	Interface string
	Gateway   netip.Addr
}

// String returns "via GATEWAY dev INTERFACE", as ip-route(8) writes it.
func (n Nexthop) String() string {
	return fmt.Sprintf("via %s dev %s", n.Gateway, n.Interface)
}

// Leg is one member of a route's set.
type Leg struct {
	Nexthop
	Weight uint8 // share relative to the other legs; 0 means 1
}

// RouteID is what the kernel tells routes apart by.
type RouteID struct {
	Prefix netip.Prefix // masked
	Table  uint32       // 0: Config.Table
	Metric uint32       // 0: Config.Metric (Config.GuardMetric for a Guard)
}

// String returns "PREFIX table TABLE metric METRIC".
func (id RouteID) String() string {
	return fmt.Sprintf("%s table %d metric %d", id.Prefix, id.Table, id.Metric)
}

// Route is a desired route over a set of legs, in any order. The legs are
// copied.
type Route struct {
	RouteID
	Legs []Leg
}

// Guard is a route that discards what no better route takes. Its metric is
// worse than that of any Route, and it is there whether legs are up or not.
type Guard struct {
	RouteID
	Unreachable bool // answer with ICMP unreachable instead of silence
}

// Policy says which routes are wanted whatever BGP learns, and which learned
// routes must not be taken.
type Policy struct {
	// Guards are the protected prefixes. A route inside one uses only legs
	// over Tunnels.
	Guards []Guard

	// OuterEndpoints are the addresses that encapsulated packets are sent
	// to. Tunnels carry no route that is their longest match. Only routes of
	// others count as a way around the tunnels: ours come and go.
	OuterEndpoints []netip.Addr

	// Tunnels are the interfaces that encrypt. If empty, every interface
	// counts as one.
	Tunnels []string
}
