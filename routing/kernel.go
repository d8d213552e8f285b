package routing

import "net/netip"

// Protocol is RTPROT_BGP, the owner recorded on every object of ours.
const Protocol = 186

// IDs of our nexthop objects. Legs count up from MinNexthopID, groups from
// MinGroupID.
const (
	MinNexthopID = 186_000_000
	MinGroupID   = 186_500_000
	MaxNexthopID = 186_999_999
)

// Kernel is the kernel's routing interface. Except for Events and Close, it
// is used by one goroutine.
type Kernel interface {
	// Features reports what the kernel can do. It is asked once.
	Features() (Features, error)

	// Links, Nexthops and Routes return everything there is, foreign
	// objects included, of all tables and both address families.
	Links() ([]Link, error)
	Nexthops() ([]NexthopObject, error)
	Routes() ([]RouteEntry, error)

	// Apply executes ops in order; a failed one does not stop the rest. It
	// returns nil if all succeeded, else one error (or nil) per op.
	Apply(ops []Op) []error

	// Events delivers what others changed, in the kernel's order. The
	// channel is closed by Close.
	Events() <-chan Event

	Close() error
}

// Features are abilities that differ between kernels.
type Features struct {
	NexthopObjects bool // Linux 5.3
}

// Link is a network interface.
type Link struct {
	Index int
	Name  string
	Up    bool // administratively up and with carrier
}

// NexthopObject is a kernel nexthop: a leg, or a group of legs.
type NexthopObject struct {
	ID       uint32
	Protocol uint8
	Index    int        // interface; 0 for a group
	Gateway  netip.Addr // invalid for a group
	Group    []GroupEntry
	Other    bool // a kind that ipsecd never creates (blackhole, fdb, encap, no gateway)
}

// GroupEntry is a member of a group.
type GroupEntry struct {
	ID     uint32
	Weight uint8 // at least 1
}

// RouteKind is the kernel's route type.
type RouteKind uint8

// Kinds of routes.
const (
	Unicast RouteKind = iota
	Blackhole
	Unreachable
	OtherKind // local, broadcast, prohibit, …: only ever read
)

// RouteEntry is a kernel route. All fields of its RouteID are set.
type RouteEntry struct {
	RouteID
	Kind      RouteKind
	Protocol  uint8
	NexthopID uint32 // 0: see Hops
	Hops      []Hop
}

// Hop is a leg written into the route itself.
type Hop struct {
	Index   int
	Gateway netip.Addr
	Weight  uint8 // at least 1
}

// Verb says what an Op does.
type Verb uint8

// Add fails with EEXIST if there is an object of that identity, Replace with
// ENOENT if there is none. Delete of a route removes only one of our protocol
// (else ESRCH). Add and Replace of a nexthop take a leg or a group.
const (
	AddNexthop Verb = iota
	ReplaceNexthop
	DeleteNexthop
	AddRoute
	ReplaceRoute
	DeleteRoute
)

// Op is one change. Nexthop is set for the nexthop verbs, Route for the
// others.
type Op struct {
	Verb    Verb
	Nexthop NexthopObject
	Route   RouteEntry
}

// EventKind says what an Event is about.
type EventKind uint8

// Kinds of events. Lost means that the kernel dropped events: call
// Manager.Resync.
const (
	LinkEvent EventKind = iota
	NexthopEvent
	RouteEvent
	Lost
)

// Event is one change in the kernel that was not made through this Kernel.
type Event struct {
	Kind    EventKind
	Deleted bool
	Link    Link
	Nexthop NexthopObject
	Route   RouteEntry
}
