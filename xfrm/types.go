package xfrm

import (
	"fmt"
	"net/netip"
)

// SPI is a security parameter index in host byte order.
type SPI uint32

// String returns the SPI as ip-xfrm(8) prints it.
func (s SPI) String() string { return fmt.Sprintf("0x%08x", uint32(s)) }

// Proto is the IP protocol number of a security protocol.
type Proto uint8

// The protocols an SA or a template can have.
const (
	ESP Proto = 50
	AH  Proto = 51
)

// String returns the protocol's name as ip-xfrm(8) prints it.
func (p Proto) String() string {
	switch p {
	case ESP:
		return "esp"
	case AH:
		return "ah"
	}
	return fmt.Sprintf("proto-%d", uint8(p))
}

// Mode is the encapsulation mode of an SA, with the kernel's numbers.
type Mode uint8

// The modes of RFC 4301 section 4.1, and BEET.
const (
	Transport Mode = 0
	Tunnel    Mode = 1
	BEET      Mode = 4
)

// String returns the mode's name as ip-xfrm(8) prints it.
func (m Mode) String() string {
	switch m {
	case Transport:
		return "transport"
	case Tunnel:
		return "tunnel"
	case BEET:
		return "beet"
	}
	return fmt.Sprintf("mode-%d", uint8(m))
}

// Dir is a direction of traffic. The zero value is no direction. SAs are In or
// Out; policies are In, Out or Fwd.
type Dir uint8

// The directions.
const (
	DirIn Dir = iota + 1
	DirOut
	DirFwd
)

// String returns the direction's name as ip-xfrm(8) prints it.
func (d Dir) String() string {
	switch d {
	case DirIn:
		return "in"
	case DirOut:
		return "out"
	case DirFwd:
		return "fwd"
	}
	return fmt.Sprintf("dir-%d", uint8(d))
}

// Mark is a packet mark and the bits of it that count. The zero value matches
// every packet.
type Mark struct {
	Value uint32
	Mask  uint32
}

// IsZero reports whether m matches every packet.
func (m Mark) IsZero() bool { return m == Mark{} }

// String returns value/mask.
func (m Mark) String() string { return fmt.Sprintf("0x%x/0x%x", m.Value, m.Mask) }

// Selector says which packets a policy or an SA is for. The zero value matches
// everything; in a policy, Src and Dst must be valid and of one family.
type Selector struct {
	Src, Dst netip.Prefix
	// Proto is an IP protocol number, 0 any.
	Proto uint8
	// SrcPort and DstPort are matched under their masks; a zero mask matches
	// every port. For ICMP, SrcPort is the type and DstPort the code.
	SrcPort, SrcPortMask uint16
	DstPort, DstPortMask uint16
	// Interface restricts the selector to one network device: the outgoing one
	// for DirOut, the incoming one otherwise. Empty for every device. "#17" names
	// a device that no longer exists by its index.
	Interface string
}

// String returns the selector as ip-xfrm(8) prints it.
func (s Selector) String() string {
	out := fmt.Sprintf("src %v dst %v", s.Src, s.Dst)
	if s.Proto != 0 {
		out += fmt.Sprintf(" proto %d", s.Proto)
	}
	out += portString("sport", s.SrcPort, s.SrcPortMask)
	out += portString("dport", s.DstPort, s.DstPortMask)
	if s.Interface != "" {
		out += " dev " + s.Interface
	}
	return out
}

func portString(name string, port, mask uint16) string {
	switch mask {
	case 0:
		return ""
	case 0xffff:
		return fmt.Sprintf(" %s %d", name, port)
	}
	return fmt.Sprintf(" %s %d/%#x", name, port, mask)
}
