package routerproto

import (
	"log/slog"
	"net/netip"
	"time"
)

// Status is everything the router knows, at one time.
type Status struct {
	Time    time.Time `json:"time"`
	Started time.Time `json:"started"`
	// Phase is one of the Phase constants.
	Phase string `json:"phase"`
	// Peers are in the order of the configuration.
	Peers []Peer `json:"peers"`
	// Tunnels are in the order of the configuration.
	Tunnels []TunnelStatus `json:"tunnels"`
	// Groups are the distinct sets of nexthops in use.
	Groups []Group `json:"groups"`
	// Routes are sorted, at most MaxStatusRoutes of them.
	Routes []Route `json:"routes"`
	// Guards are the protected prefixes and whether their blackhole is in the kernel.
	Guards []Guard `json:"guards"`
	// LastFailover is nil when no tunnel went down yet.
	LastFailover *Failover `json:"last_failover,omitempty"`
	Sysctls      []Sysctl  `json:"sysctls,omitempty"`
	Counters     Counters  `json:"counters"`
	// Problems are standing errors, one sentence each: what failed and what to do.
	Problems []string `json:"problems,omitempty"`
}

// The phases of a router's life.
const (
	// PhaseHold: guards are installed; learned routes wait for End-of-RIB.
	PhaseHold = "hold"
	// PhaseReconcile: routes are written; those of an earlier router are still kept.
	PhaseReconcile = "reconcile"
	// PhaseRun: the kernel holds what is wanted and nothing else of ours.
	PhaseRun = "run"
)

// Peer is one BGP neighbour.
type Peer struct {
	Name    string     `json:"name"`
	Address netip.Addr `json:"address"`
	AS      uint32     `json:"as"`
	// Interface as configured, or as the kernel resolved it.
	Interface string `json:"interface,omitempty"`
	// State is RFC 4271's: Idle, Connect, Active, OpenSent, OpenConfirm, Established.
	State string `json:"state"`
	// Since is when the session was last established or lost; zero before the first.
	Since time.Time `json:"since,omitzero"`
	// Restarting: the session is lost and the neighbour's routes are kept (RFC 4724).
	Restarting         bool           `json:"restarting,omitempty"`
	EndOfRIB           bool           `json:"end_of_rib"`
	PrefixesReceived   uint64         `json:"prefixes_received"`
	PrefixesAdvertised uint64         `json:"prefixes_advertised"`
	MessagesIn         uint64         `json:"messages_in"`
	MessagesOut        uint64         `json:"messages_out"`
	Flaps              uint64         `json:"flaps"`
	LastError          string         `json:"last_error,omitempty"`
	RefusedCount       int            `json:"refused_count,omitempty"`
	Refused            []netip.Prefix `json:"refused,omitempty"`
}

// TunnelStatus is one leg of the multipath routes.
type TunnelStatus struct {
	Name      string    `json:"name"`
	Interface string    `json:"interface"`
	Up        bool      `json:"up"`
	Since     time.Time `json:"since,omitzero"`
	// Routes is how many prefixes use this leg now.
	Routes int `json:"routes"`
}

// Nexthop is one way out.
type Nexthop struct {
	Interface string     `json:"interface,omitempty"`
	Gateway   netip.Addr `json:"gateway,omitzero"`
	// Neighbor is the BGP neighbour that said so.
	Neighbor string `json:"neighbor,omitempty"`
	Up       bool   `json:"up"`
}

// Group is a set of nexthops shared by routes.
type Group struct {
	// ID is the kernel's, 0 when the kernel has no nexthop objects.
	ID       uint32    `json:"id,omitempty"`
	Nexthops []Nexthop `json:"nexthops"`
	Routes   int       `json:"routes"`
}

// Route is one prefix that is in the kernel, or should be.
type Route struct {
	Prefix   netip.Prefix `json:"prefix"`
	Metric   uint32       `json:"metric"`
	Group    uint32       `json:"group,omitempty"`
	Nexthops []Nexthop    `json:"nexthops"`
	// Installed says that the kernel has it.
	Installed bool `json:"installed"`
	// Reason says why it is not installed, or not with every path.
	Reason string `json:"reason,omitempty"`
}

// Guard is the blackhole route of one protected prefix.
type Guard struct {
	Prefix    netip.Prefix `json:"prefix"`
	Installed bool         `json:"installed"`
	Reason    string       `json:"reason,omitempty"`
}

// Failover is the measured end of one leg.
type Failover struct {
	Tunnel    string    `json:"tunnel"`
	Interface string    `json:"interface"`
	Time      time.Time `json:"time"`
	// Duration is from the arrival of the kernel's link event to the kernel's
	// acknowledgement of the last group update.
	Duration time.Duration `json:"duration"`
	Groups   int           `json:"groups"`
	Routes   int           `json:"routes"`
}

// Sysctl is one kernel setting that routing depends on.
type Sysctl struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Want  string `json:"want"`
	// Consequence says what a different value costs.
	Consequence string `json:"consequence,omitempty"`
}

// Counters only grow while the router lives, except for the gauges.
type Counters struct {
	// RoutesInstalled and RouteNexthops are gauges.
	RoutesInstalled int `json:"routes_installed"`
	RouteNexthops   int `json:"route_nexthops"`

	Failovers     uint64 `json:"failovers"`
	GroupUpdates  uint64 `json:"group_updates"`
	RouteWrites   uint64 `json:"route_writes"`
	RouteDeletes  uint64 `json:"route_deletes"`
	ApplyErrors   uint64 `json:"apply_errors"`
	PrefixUpdates uint64 `json:"prefix_updates"`
}

// Log is one record of the router's log.
type Log struct {
	Time    time.Time  `json:"time"`
	Level   slog.Level `json:"level"`
	Message string     `json:"message"`
	Attrs   []Attr     `json:"attrs,omitempty"`
}

// Attr is one attribute of a Log, as text.
type Attr struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}
