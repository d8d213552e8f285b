package ike

import "net/netip"

// Packet is one IKE message without its non-ESP marker.
type Packet struct {
	Local, Remote netip.AddrPort
	NATT          bool // on the NAT-T socket, whose IKE packets carry the non-ESP marker (RFC 3948)
	Data          []byte
}

// Event is something that happened outside the engine: one of the types below.
type Event interface{ event() }

// Initiate asks for a connection's IKE SA and, if Child is not empty, that
// child. An SA that exists already or is being set up is not duplicated.
type Initiate struct{ Connection, Child string }

// Terminate asks for the deletion of SAs; the zero fields match any. With no
// Child and no ChildID the IKE SA goes, else the CHILD_SA. A connection that
// the operator took down is not started again by its start_action.
type Terminate struct {
	Connection, Child string
	IKEID             uint32
	ChildID           uint32
	Force             bool // without waiting for the peer
}

// Rekey asks for the rekeying of matching SAs, as Terminate matches them. With Reauth
// the IKE SA is authenticated anew instead.
type Rekey struct {
	Connection, Child string
	IKEID             uint32
	ChildID           uint32
	Reauth            bool
}

// Disarm asks for the end of a Trap: the policies that wait for the traffic of a lost CHILD_SA.
type Disarm struct{ Connection, Child string }

// Redirect asks for the peers of matching IKE SAs, which have initiated them, to go to another gateway: an
// address or a host name (RFC 5685).
type Redirect struct {
	Connection string
	IKEID      uint32
	Gateway    string
}

// Installed reports that the kernel has what an InstallChild action asked for.
type Installed struct{ ChildID uint32 }

// InstallFailed reports that the kernel refused; the executor has undone the
// rest of that action.
type InstallFailed struct {
	ChildID uint32
	Err     error
}

// Expire reports that the kernel's lifetime of an SA ran out: Hard means that
// the kernel has deleted it.
type Expire struct {
	SPI  uint32 // of the SA that expired
	Dst  netip.Addr
	Hard bool
}

// Acquire reports traffic that met a policy without an SA.
type Acquire struct {
	ReqID    uint32
	IfID     uint32
	CPU      CPU    // that met it, if an SA is wanted for that alone
	Seq      uint32 // by which the kernel knows the request; see ChildSA.AcquireSeq
	Src, Dst netip.AddrPort
	Protocol uint8
}

// Traffic reports what the kernel counted for a CHILD_SA, for liveness checks
// that take inbound ESP as a sign of life (RFC 7296 section 2.4) and for the
// use of a rekeyed SA.
type Traffic struct {
	ChildID           uint32
	InPackets         uint64
	OutPackets        uint64
	InBytes, OutBytes uint64
}

// PeerMoved reports that the kernel has verified ESP of an SA from another address or
// port (XFRM_MSG_MAPPING).
type PeerMoved struct {
	SPI uint32
	New netip.AddrPort
}

// Computed brings the result of a Compute action.
type Computed struct {
	ID     uint64
	Result any
}

// Resolved brings what a Resolve action has found, for each name in the order of preference.
type Resolved struct {
	Connection string
	Addrs      map[string][]netip.Addr
	Err        error // why a name is not among Addrs
}

// Reconfigure replaces the configuration. SAs whose connection did not change
// are not touched; those whose connection is gone or changed are closed and,
// where the new start_action says so, started anew.
type Reconfigure struct{ Config *Config }

// AddressChanged reports the host's present addresses that IKE may use, after they or its
// routes have changed.
type AddressChanged struct{ Addrs []netip.Addr }

// Shutdown asks for the orderly deletion of all IKE SAs. When none is left,
// Engine.Idle reports true.
type Shutdown struct{}

func (Initiate) event()       {}
func (Terminate) event()      {}
func (Rekey) event()          {}
func (Disarm) event()         {}
func (Redirect) event()       {}
func (Installed) event()      {}
func (InstallFailed) event()  {}
func (Expire) event()         {}
func (Acquire) event()        {}
func (Traffic) event()        {}
func (PeerMoved) event()      {}
func (Computed) event()       {}
func (Resolved) event()       {}
func (Reconfigure) event()    {}
func (AddressChanged) event() {}
func (Shutdown) event()       {}
