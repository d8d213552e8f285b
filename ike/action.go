package ike

import (
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
)

// Action is something that the engine wants done outside: one of the types
// below. Actions are carried out in the order in which NextAction gives them.
type Action interface{ action() }

// Send sends an IKE message. A local port of 0 in Packet.Local, or an invalid
// local address, leaves that choice to the socket. Keepalive packets (one octet 0xff) are
// sent raw, without the non-ESP marker.
type Send struct {
	Packet
	Keepalive bool
}

// Compute runs heavy public-key work on a worker and brings the result back as
// a Computed event with the same ID. Run touches nothing of the engine. With Waits it
// computes next to nothing and waits for the network: it must not keep a worker from others.
type Compute struct {
	ID    uint64
	Waits bool
	Class JobClass // who goes first
	Run   func() any
}

// JobClass says which work goes first where there is more of it than workers.
type JobClass uint8

const (
	JobEstablished JobClass = iota // of an established IKE SA
	JobSetup                       // of one that is being set up
	JobBulk                        // for a stranger's address that has much of it under way
)

// Resolve looks up the addresses of host names. It is answered by Resolved, in bounded time.
type Resolve struct {
	Connection string
	Names      []string
}

// ESPKeys are the algorithm and keys of one CHILD_SA, for both directions.
type ESPKeys struct {
	Encr, Integ     suite.Transform // Integ is zero for AEAD
	ESN             bool
	EncrIn, EncrOut suite.Key // with the salt, as the kernel takes it
	IntegIn         suite.Key
	IntegOut        suite.Key
}

// ChildSA identifies a CHILD_SA and says all that the kernel must know but
// its keys. It is immutable; a new one replaces it when something changes.
type ChildSA struct {
	ID         uint32 // unique in this engine for its life; VICI's child uniqueid
	IKEID      uint32
	Connection string
	Config     *ChildConfig
	ReqID      uint32

	Local, Remote     netip.Addr // outer addresses
	Encap             bool       // ESP in UDP (RFC 3948) between the ports below
	LocalPort         uint16
	RemotePort        uint16
	SPIIn, SPIOut     uint32 // SPIIn was chosen by us
	LocalTS, RemoteTS []TrafficSelector
	IfIDIn, IfIDOut   uint32
	MarkIn, MarkOut   Mark
	Mode              Mode
	Initiator         bool // of the exchange that made it

	// PerCPU: there may be others with the same selectors, each for a CPU (RFC 9611), that traffic asks for.
	PerCPU bool
	// CPU of ours that the CHILD_SA is for.
	CPU CPU

	// AcquireSeq is that of the Acquire that the CHILD_SA answers, 0 if there is none. The kernel
	// asks for no other while its request is open.
	AcquireSeq uint32

	// Hard lifetime in the kernel; the engine's own timers rekey long before.
	LifeTime time.Duration
	// Soft limits in the kernel, less what was left to chance; 0: none.
	RekeyBytes, RekeyPackets uint64
	// NoTFC: the peer takes no packets with TFC padding (RFC 7296 section 1.3.1).
	NoTFC bool
}

// InstallChild puts the inbound SA, the policies and, unless DeferOutbound is
// set, the outbound SA into the kernel, in the order of RFC 7296 section 2.8.
// It is answered by Installed or InstallFailed. Replaces names the CHILD_SA that a rekey
// replaces: its policies serve on. The executor wipes the keys when done.
type InstallChild struct {
	Child         *ChildSA
	Keys          *ESPKeys
	Replaces      uint32
	DeferOutbound bool
}

// InstallOutbound adds the outbound SA that InstallChild deferred: the peer
// now receives on the new CHILD_SA. It is not answered.
type InstallOutbound struct{ ChildID uint32 }

// RemoveOutbound takes the outbound SA of a rekeyed CHILD_SA out of the kernel; the
// inbound one stays for packets under way. It is not answered.
type RemoveOutbound struct{ ChildID uint32 }

// RemoveChild takes the CHILD_SA's SAs out of the kernel and, unless another
// CHILD_SA of the same reqid uses them, its policies; the guard remains. Each
// CHILD_SA that was reported as Installed is removed exactly once.
type RemoveChild struct{ ChildID uint32 }

// MoveChild replaces the outer addresses and ports of a CHILD_SA's states and
// policies together.
type MoveChild struct{ Child *ChildSA }

// ChildUp reports that a CHILD_SA is in use: bring its interface up. A rekey
// is not reported.
type ChildUp struct{ Child *ChildSA }

// ChildDown reports that no CHILD_SA of this connection and child is left.
type ChildDown struct {
	Connection, Child string
	Reason            string
}

// VirtualAddrs says which virtual addresses we have by an IKE SA from now on: none when it is gone. They belong on the link that has
// the address Local, until no IKE SA has them any more, and before what is installed later.
type VirtualAddrs struct {
	IKEID uint32
	Local netip.Addr // the IKE SA's outer address
	Addrs []netip.Addr
}

// UpDown reports that a CHILD_SA of a child with an updown script is in use, or gone, as NoteChildUp and NoteChildDown do:
// rekeys are not reported.
type UpDown struct {
	Up    bool
	Child *ChildSA
	SA    IKESAInfo // its IKE SA at that time, without CHILD_SAs
}

// Trap has policies without an SA wait for traffic, which is reported by Acquire: dpd_action or
// close_action = trap. Child has neither SPIs nor keys. The traps of start_action are not among
// these: they are there from the beginning.
type Trap struct{ Child *ChildSA }

// Untrap takes back a Trap, since its child is configured otherwise now.
type Untrap struct{ Connection, Child string }

// NoteLevel is the weight of a Note.
type NoteLevel uint8

// The levels.
const (
	LevelDebug NoteLevel = iota
	LevelInfo
	LevelWarn
	LevelError
)

// NoteKind classes a Note for counters and VICI events.
type NoteKind uint8

// The kinds.
const (
	NoteText NoteKind = iota
	NoteIKEUp
	NoteIKEDown
	NoteIKERekeyed
	NoteChildUp   // a CHILD_SA that replaces none is in use
	NoteChildDown // a CHILD_SA is gone, and not because a rekey replaced it
	NoteChildRekeyed
	NoteFailure  // an attempt failed; Text says why and what to change
	NoteAlert    // Alert says what happened; it has no Text
	NoteIKEMoved // an IKE SA has other endpoints now: Moved; it has no Text
)

// Note is one line for the log and, by its kind, an event for VICI clients.
// Text never holds secrets.
type Note struct {
	Level      NoteLevel
	Kind       NoteKind
	Group      string // charon's subsystem: IKE, CHD, NET, ENC, CFG, KNL
	Connection string
	Child      string
	IKEID      uint32
	Old        uint32 // of a rekey: the id of the SA that was replaced
	ChildID    uint32
	Alert      Alert
	Moved      *Moved
	Text       string // empty: nothing for the log
}

// Moved are the endpoints of an IKE SA before and after a change.
type Moved struct{ OldLocal, OldRemote, Local, Remote netip.AddrPort }

func (Send) action()            {}
func (Compute) action()         {}
func (Resolve) action()         {}
func (InstallChild) action()    {}
func (InstallOutbound) action() {}
func (RemoveOutbound) action()  {}
func (RemoveChild) action()     {}
func (MoveChild) action()       {}
func (ChildUp) action()         {}
func (ChildDown) action()       {}
func (VirtualAddrs) action()    {}
func (UpDown) action()          {}
func (Trap) action()            {}
func (Untrap) action()          {}
func (Note) action()            {}
