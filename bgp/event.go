package bgp

import (
	"net/netip"
	"time"
)

// Family is an address family with the unicast SAFI.
type Family uint8

// The families.
const (
	IPv4 Family = 4
	IPv6 Family = 6
)

func (f Family) String() string {
	if f == IPv6 {
		return "ipv6"
	}
	return "ipv4"
}

// Path is one way to a prefix.
type Path struct {
	// Neighbor is the name of the neighbour that announced it.
	Neighbor string
	// Nexthop as announced; for IPv6 the global address when there are two.
	Nexthop netip.Addr
	// ASPathLen counts an AS_SET as one (RFC 4271 section 9.1.2.2).
	ASPathLen int
	LocalPref uint32
	MED       uint32
}

// Update is the full set of the best, equally good paths of one prefix, in the
// order of neighbour name and nexthop. No paths: the prefix is withdrawn.
type Update struct {
	Prefix netip.Prefix
	Paths  []Path
}

// EndOfRIB says that a neighbour has sent all it had (RFC 4724 section 2).
type EndOfRIB struct {
	Neighbor string
	Family   Family
}

// Session is a session that came up or went down.
type Session struct {
	Neighbor string
	Up       bool
	// Reason it went down.
	Reason string
}

// Batch is what happened since the previous Batch, in the order in which its
// fields are to be handled: every update of a neighbour that came before its
// End-of-RIB is in the same Batch or in an earlier one.
type Batch struct {
	// Updates hold each prefix once, in no order.
	Updates  []Update
	EndOfRIB []EndOfRIB
	Sessions []Session
}

// The states of a session (RFC 4271 section 8.2.2).
const (
	StateIdle        = "Idle"
	StateConnect     = "Connect"
	StateActive      = "Active"
	StateOpenSent    = "OpenSent"
	StateOpenConfirm = "OpenConfirm"
	StateEstablished = "Established"
)

// PeerStatus is what is known about one neighbour.
type PeerStatus struct {
	Name    string
	Address netip.Addr
	AS      uint32
	State   string
	// Since is when the session was last established or lost; zero before the first.
	Since time.Time
	// Restarting: the session is lost and the neighbour's routes are kept for
	// its restart time.
	Restarting bool
	// EndOfRIB: seen in this session, for every family of it.
	EndOfRIB bool
	// PrefixesReceived are counted before filters.
	PrefixesReceived, PrefixesAdvertised uint64
	MessagesIn, MessagesOut              uint64
	// Flaps counts lost sessions.
	Flaps uint64
	// LastError is why there is no session, or why the last one ended.
	LastError string
	// Refused are prefixes now announced that Neighbor.Refuse keeps out, sorted,
	// at most MaxRefused; RefusedCount is their number.
	Refused      []netip.Prefix
	RefusedCount int
}
