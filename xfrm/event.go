package xfrm

import (
	"net/netip"
)

// Event is something the kernel reports on its own account: one of the types
// below.
type Event interface{ event() }

// AcquireEvent says that an outbound policy met a packet but has no SA for it.
type AcquireEvent struct {
	// ReqID, Proto, Mode of the template that lacks its SA, and its end points.
	ReqID    uint32
	Proto    Proto
	Mode     Mode
	Src, Dst netip.Addr
	// Packet is the selector of the very packet.
	Packet Selector
	// Policy is the one that asked.
	Policy PolicyInfo
	// CPU that met the packet, where the policy wants an SA for each.
	CPU CPU
	// Seq answers the acquire when the daemon wants to.
	Seq uint32
}

// ExpireEvent says that an SA reached a limit; after a hard one it is gone.
type ExpireEvent struct {
	SA   SAInfo // without keys
	Hard bool
}

// PolicyExpireEvent says that a policy reached a limit; after a hard one it is
// gone. The daemon sets no such limits: somebody else does.
type PolicyExpireEvent struct {
	Policy PolicyInfo
	Hard   bool
}

// MappingEvent says that authenticated ESP in UDP came from another address or
// port than the SA has: the peer's NAT mapping moved (RFC 7296 section 2.23).
type MappingEvent struct {
	ID       SAID
	ReqID    uint32
	Old, New netip.AddrPort
}

// RemovedEvent says that somebody else deleted SAs or policies, ours perhaps: dump
// and reconcile. What the Kernel that delivers it deletes itself is no such event.
type RemovedEvent struct {
	AllPolicies bool // there is not one left, but what has been added since
}

// LinkEvent says that a network device changed or is gone.
type LinkEvent struct {
	Index   int
	Name    string
	Up      bool // administratively up
	Running bool // carrier
	Deleted bool
}

// AddrEvent says that an address was added to or removed from a device.
type AddrEvent struct {
	Index   int
	Address netip.Prefix
	Deleted bool
}

// OverrunEvent says that the kernel dropped events because we were too slow (or
// that the event socket failed and was opened anew): dump and reconcile.
type OverrunEvent struct {
	Err error
}

func (AcquireEvent) event()      {}
func (ExpireEvent) event()       {}
func (PolicyExpireEvent) event() {}
func (MappingEvent) event()      {}
func (RemovedEvent) event()      {}
func (LinkEvent) event()         {}
func (AddrEvent) event()         {}
func (OverrunEvent) event()      {}
