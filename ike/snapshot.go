package ike

import (
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// Snapshot is the state of an Engine at one moment: immutable, without keys,
// safe to read on any goroutine.
type Snapshot struct {
	Taken       time.Time
	IKESAs      []IKESAInfo      // ordered by ID
	Connections []ConnectionInfo // every configured connection, in configured order
	Pools       []PoolInfo       // every configured pool, in configured order
	Counters    Counters
}

// IKEState is the state of an IKE SA, in charon's words (see its String).
type IKEState uint8

// The states of an IKE SA.
const (
	IKEConnecting IKEState = iota + 1
	IKEEstablished
	IKERekeying
	IKERekeyed
	IKEDeleting
)

// String returns charon's word for the state.
func (s IKEState) String() string {
	switch s {
	case IKEConnecting:
		return "CONNECTING"
	case IKEEstablished:
		return "ESTABLISHED"
	case IKERekeying:
		return "REKEYING"
	case IKERekeyed:
		return "REKEYED"
	case IKEDeleting:
		return "DELETING"
	}
	return "CREATED"
}

// ChildState is the state of a CHILD_SA, in charon's words (see its String).
type ChildState uint8

// The states of a CHILD_SA.
const (
	ChildInstalling ChildState = iota + 1
	ChildInstalled
	ChildRekeying
	ChildRekeyed
	ChildDeleting
)

// String returns charon's word for the state.
func (s ChildState) String() string {
	switch s {
	case ChildInstalling:
		return "INSTALLING"
	case ChildInstalled:
		return "INSTALLED"
	case ChildRekeying:
		return "REKEYING"
	case ChildRekeyed:
		return "REKEYED"
	case ChildDeleting:
		return "DELETING"
	}
	return "CREATED"
}

// IKESAInfo describes one IKE SA.
type IKESAInfo struct {
	ID                uint32
	Connection        string
	State             IKEState
	Initiator         bool
	SPIi, SPIr        uint64
	Local, Remote     netip.AddrPort
	LocalID, RemoteID auth.Identity
	NATLocal          bool           // we are behind a NAT
	NATRemote         bool           // the peer is
	NATFaked          bool           // there is no NAT, and ESP is in UDP all the same (encap = yes)
	Proposal          suite.Proposal // chosen; empty before
	LocalVIPs         []netip.Addr   // our virtual addresses
	RemoteVIPs        []netip.Addr   // those of the peer, from our pools
	DNS               []netip.Addr   // name servers that the peer told us with ours
	PPK               bool           // the keys depend on a post-quantum pre-shared key
	IfIDIn, IfIDOut   uint32
	Established       time.Time // zero before
	RekeyAt           time.Time // zero: never
	ReauthAt          time.Time
	ExpireAt          time.Time
	LastInbound       time.Time // last authenticated message
	TasksQueued       []string  // charon's task names
	TasksActive       []string
	Children          []ChildInfo
}

// ChildInfo describes one CHILD_SA.
type ChildInfo struct {
	SA        *ChildSA
	State     ChildState
	Proposal  suite.Proposal // chosen
	Installed time.Time
	RekeyAt   time.Time
	ExpireAt  time.Time
}

// ConnectionInfo is what became of one configured connection.
type ConnectionInfo struct {
	Config    *Connection
	LastError string // why the last attempt failed, or the SA went down; empty when up
	ErrorAt   time.Time
	Tries     int       // attempts since it was last up
	NextTry   time.Time // zero: none planned
}

// Counters only ever grow.
type Counters struct {
	Messages         map[MessageKey]uint64
	Retransmits      uint64            // requests sent again by us
	DuplicateRequest uint64            // requests answered again from the stored response
	Invalid          map[string]uint64 // reason -> messages dropped
	Negotiations     map[NegotiationKey]uint64
	Rekeys           map[RekeyKey]uint64
	RekeyCollisions  uint64
	DPDTimeouts      uint64
	CookiesSent      uint64
	HalfOpen         int                  // now
	Connections      []ConnectionCounters // ordered by name; those of which something was counted
}

// MessageKey classes IKE messages for counting.
type MessageKey struct {
	Exchange string // IKE_SA_INIT, ...
	Inbound  bool
	Request  bool
}

// NegotiationKey classes finished attempts to set up an IKE SA.
type NegotiationKey struct {
	Initiator bool
	OK        bool
}

// RekeyKey classes finished rekeys.
type RekeyKey struct {
	Child     bool // else of the IKE SA
	Initiator bool
	OK        bool
}
