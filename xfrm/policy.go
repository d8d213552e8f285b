package xfrm

import (
	"fmt"
	"net/netip"
)

// Action is what a policy does with a packet.
type Action uint8

// The actions, with the kernel's numbers. Allow without templates lets packets
// pass unprotected.
const (
	Allow Action = 0
	Block Action = 1
)

// String returns the action's name as ip-xfrm(8) prints it.
func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case Block:
		return "block"
	}
	return fmt.Sprintf("action-%d", uint8(a))
}

// Template is one transformation a policy asks for.
type Template struct {
	// Src and Dst are the tunnel's end points; invalid in transport mode.
	Src, Dst netip.Addr
	SPI      SPI
	Proto    Proto
	Mode     Mode
	ReqID    uint32
	// Optional lets packets pass without the transformation. The kernel refuses
	// it outbound in tunnel mode.
	Optional bool
}

// PolicyID identifies a policy in the kernel.
type PolicyID struct {
	Dir      Dir
	Selector Selector
	IfID     uint32
	Mark     Mark
}

// String names the policy for messages.
func (id PolicyID) String() string {
	s := fmt.Sprintf("%v dir %v", id.Selector, id.Dir)
	if id.IfID != 0 {
		s += fmt.Sprintf(" if_id %#x", id.IfID)
	}
	if !id.Mark.IsZero() {
		s += " mark " + id.Mark.String()
	}
	return s
}

// Policy is an entry of the security policy database (RFC 4301 section 4.4.1).
type Policy struct {
	Dir      Dir
	Selector Selector
	IfID     uint32
	Mark     Mark
	// Priority orders policies: the lowest number that matches wins ([Priority]).
	Priority uint32
	Action   Action
	// Templates, at most six.
	Templates []Template
	// Index is the kernel's number of the policy. Wanted policies leave it 0:
	// Diff sets it where ownership needs it ([Owner]).
	Index uint32
	// PerCPU has an outbound policy ask for an SA for each CPU whose packets it meets ([AcquireEvent]), which meanwhile
	// use an SA that is for no CPU of its own. Linux 6.13 ([PerCPUSAs]).
	PerCPU bool
	// Offload to the device of SAs that are offloaded by packet; nil: none.
	Offload *Offload
	// ICMP extends an outbound policy to ICMP errors about packets of the other direction (forwarded ones: Linux 6.9).
	ICMP bool
}

// ID returns the policy's identity.
func (p *Policy) ID() PolicyID {
	return PolicyID{Dir: p.Dir, Selector: p.Selector, IfID: p.IfID, Mark: p.Mark}
}

// PolicyInfo is a policy as the kernel dumped it.
type PolicyInfo struct {
	Policy
	Counters
}

// Defaults is what the kernel does with packets that match no policy: true
// blocks them. Linux 5.14 ([DefaultPolicy]). Blocking covers all traffic of the
// network namespace, IKE and BGP too, unless policies or sockets exempt it.
type Defaults struct {
	BlockIn, BlockFwd, BlockOut bool
}
