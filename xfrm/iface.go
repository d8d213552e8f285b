package xfrm

import (
	"net/netip"
)

// Address is an address of an interface. Peer, if valid, is the other end of a
// point-to-point link and Prefix then has the peer's prefix length.
type Address struct {
	Prefix netip.Prefix
	Peer   netip.Addr
}

// Interface is an XFRM interface: packets routed to it meet the policies and SAs
// of its IfID. Linux 4.19.
type Interface struct {
	Name string
	IfID uint32
	// Parent is the underlying device by name; empty for none.
	Parent string
	// MTU in bytes; 0 leaves the kernel's.
	MTU int
	// Addresses the interface shall have. Link-local IPv6 addresses that the
	// kernel made are left alone.
	Addresses []Address
	// MSS is the TCP maximum segment size wished for, 0 for none (package comment).
	MSS int
	// Up is the administrative state. The daemon raises it when a CHILD_SA of IfID
	// is installed and lowers it when the last one is gone, so that routes follow.
	Up bool
	// Alias is the link's alias; it marks ownership ([Owner]). Wanted interfaces
	// leave it empty.
	Alias string
}

// InterfaceInfo is an XFRM interface as the kernel dumped it.
type InterfaceInfo struct {
	Interface
	// Index is the kernel's number of the device.
	Index int
}
