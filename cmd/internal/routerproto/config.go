package routerproto

import (
	"net/netip"
	"time"
)

// Config is everything the router process is told. Zero values mean the
// defaults of the packages bgp and routing.
type Config struct {
	BGP     BGP     `json:"bgp"`
	Routing Routing `json:"routing"`
}

// BGP is the speaker. Without neighbours no BGP runs, and the guard routes are
// all there is to do.
type BGP struct {
	// AS is ours.
	AS uint32 `json:"as"`
	// RouterID is an IPv4 address.
	RouterID netip.Addr `json:"router_id"`
	// Networks are announced to every neighbour; nothing else is.
	Networks []netip.Prefix `json:"networks,omitempty"`
	// ListenPort is where neighbours may connect to us; 0 means that only we connect.
	ListenPort uint16 `json:"listen_port,omitempty"`
	// ListenAddresses default to the neighbours' local addresses.
	ListenAddresses []netip.Addr `json:"listen_addresses,omitempty"`
	Neighbors       []Neighbor   `json:"neighbors,omitempty"`
}

// Neighbor is one BGP session.
type Neighbor struct {
	// Name is unique, the section's name in the configuration.
	Name    string     `json:"name"`
	Address netip.Addr `json:"address"`
	// LocalAddress may be shared between neighbours; Address may not.
	LocalAddress netip.Addr `json:"local_address,omitzero"`
	AS           uint32     `json:"as"`
	// Interface is where the session is bound and where its nexthops are
	// reached. It may be empty for a neighbour on a plain link: then the kernel
	// is asked.
	Interface string `json:"interface,omitempty"`
	// RemotePort is 179 when 0.
	RemotePort   uint16        `json:"remote_port,omitempty"`
	HoldTime     time.Duration `json:"hold_time,omitempty"`
	Keepalive    time.Duration `json:"keepalive,omitempty"`
	ConnectRetry time.Duration `json:"connect_retry,omitempty"`
	Passive      bool          `json:"passive,omitempty"`
	// MultihopTTL allows a neighbour that is this many hops away; 0 means one hop.
	MultihopTTL uint8 `json:"multihop_ttl,omitempty"`
	// TTLSecurity accepts only packets that arrive with this TTL or more
	// (RFC 5082); 0 means no check.
	TTLSecurity uint8 `json:"ttl_security,omitempty"`
	// Password is the TCP MD5 key (RFC 2385). It is not in the JSON of a
	// Config; Conn carries it beside.
	Password Secret `json:"-"`
	// Import are the prefixes accepted, with all that lie inside them; none
	// means everything.
	Import []netip.Prefix `json:"import,omitempty"`
	// ImportMax closes the session when the neighbour sends more prefixes.
	ImportMax uint32 `json:"import_max,omitempty"`
	// NoGracefulRestart switches RFC 4724 off.
	NoGracefulRestart bool          `json:"no_graceful_restart,omitempty"`
	RestartTime       time.Duration `json:"restart_time,omitempty"`
}

// Routing is what becomes of the prefixes learned.
type Routing struct {
	// Metric of the routes learned by BGP.
	Metric uint32 `json:"metric,omitempty"`
	// GuardMetric of the blackhole routes; larger than Metric.
	GuardMetric uint32 `json:"guard_metric,omitempty"`
	// MaxPaths bounds the nexthops of one route.
	MaxPaths int `json:"max_paths,omitempty"`
	// Table is the main table when 0.
	Table uint32 `json:"table,omitempty"`
	// Protect are the prefixes that may only be reached through a tunnel.
	Protect []netip.Prefix `json:"protect,omitempty"`
	// OuterEndpoints are the peers' outer addresses: a learned route that covers
	// one of them would send the tunnel into itself.
	OuterEndpoints []netip.Addr `json:"outer_endpoints,omitempty"`
	Tunnels        []Tunnel     `json:"tunnels,omitempty"`
	// Hold is how long the first kernel writes wait for the neighbours'
	// End-of-RIB.
	Hold time.Duration `json:"hold,omitempty"`
	// StaleTime is how long the routes of an earlier router are kept when its
	// neighbours do not come back.
	StaleTime time.Duration `json:"stale_time,omitempty"`
	// SetSysctls allows the router to set the sysctls that it reports.
	SetSysctls bool `json:"set_sysctls,omitempty"`
}

// Tunnel is an interface whose traffic is protected by a Child SA.
type Tunnel struct {
	// Name is the connection's, for status and logs.
	Name string `json:"name"`
	// Interface is up while the Child SA is installed and down otherwise.
	Interface string `json:"interface"`
}
