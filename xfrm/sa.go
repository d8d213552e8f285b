package xfrm

import (
	"fmt"
	"net/netip"
	"time"
)

// AEAD is a combined-mode cipher under its kernel name, such as
// "rfc4106(gcm(aes))". Key includes the salt (RFC 4106 section 8.1).
type AEAD struct {
	Name    string
	Key     Key
	ICVBits int
}

// Crypt is a cipher without integrity under its kernel name, such as "cbc(aes)".
type Crypt struct {
	Name string
	Key  Key
}

// Auth is an integrity algorithm under its kernel name, such as "hmac(sha256)",
// with the length of the truncated ICV.
type Auth struct {
	Name      string
	Key       Key
	TruncBits int
}

// Format writes the algorithm without its key, whatever the verb. Without it, a
// verb that fits no struct would make fmt print the raw fields behind a pointer.
func (a AEAD) Format(f fmt.State, _ rune) { formatAlgorithm(f, a.Name, a.ICVBits) }

// Format writes the algorithm without its key, whatever the verb.
func (a Crypt) Format(f fmt.State, _ rune) { formatAlgorithm(f, a.Name, 0) }

// Format writes the algorithm without its key, whatever the verb.
func (a Auth) Format(f fmt.State, _ rune) { formatAlgorithm(f, a.Name, a.TruncBits) }

func formatAlgorithm(f fmt.State, name string, bits int) {
	_, _ = fmt.Fprintf(f, "%s %s", name, redacted)
	if bits != 0 {
		_, _ = fmt.Fprintf(f, " %d", bits)
	}
}

// Offload hands the work to a network device: encryption and decryption, or with Packet all of
// ESP and the policies' lookup too (Linux 6.2).
type Offload struct {
	Device string
	Packet bool
}

// UDPEncap is ESP in UDP (RFC 3948). Ports are those of the outer packet in the
// direction of the SA.
type UDPEncap struct {
	SrcPort, DstPort uint16
}

// CPU is one that an SA is for; the zero value is none of its own. Linux 6.13 ([PerCPUSAs]).
type CPU struct {
	Bound  bool
	Number uint32
}

// Limits ends an SA's life. A zero field is no limit. The kernel reports soft
// and hard limits as [ExpireEvent]; at a hard limit it deletes the SA. Durations
// count from the SA's installation (Add) or first packet (Use), in whole seconds.
type Limits struct {
	SoftBytes, HardBytes     uint64
	SoftPackets, HardPackets uint64
	SoftAdd, HardAdd         time.Duration
	SoftUse, HardUse         time.Duration
}

// SAFlags are the kernel's per-SA flags.
type SAFlags uint32

// The flags, with the kernel's values; those above 8 bits are its extra flags
// shifted left by 8.
const (
	NoECN         SAFlags = 1 << 0 // do not copy ECN bits between the headers
	DecapDSCP     SAFlags = 1 << 1 // copy DSCP to the inner header on decapsulation
	NoPMTUDisc    SAFlags = 1 << 2 // clear DF in the outer header
	WildRecv      SAFlags = 1 << 3 // accept any source address
	ICMP          SAFlags = 1 << 4 // let through ICMP errors about protected packets
	AFUnspec      SAFlags = 1 << 5 // inner address family may differ from the outer
	Align4        SAFlags = 1 << 6 // pad AH to 4 bytes
	DontEncapDSCP SAFlags = 1 << 8 // do not copy DSCP to the outer header
	OSeqMayWrap   SAFlags = 1 << 9 // allow the outbound sequence number to wrap
)

// SAID identifies an SA in the kernel.
type SAID struct {
	Dst   netip.Addr
	SPI   SPI
	Proto Proto
	Mark  Mark
}

// String names the SA for messages.
func (id SAID) String() string {
	s := fmt.Sprintf("%v %v spi %v", id.Dst, id.Proto, id.SPI)
	if !id.Mark.IsZero() {
		s += " mark " + id.Mark.String()
	}
	return s
}

// SA is one direction of a CHILD_SA (RFC 4301 section 4.4.2).
type SA struct {
	Src, Dst netip.Addr
	SPI      SPI
	Proto    Proto
	Mode     Mode
	// Dir is DirIn or DirOut. Kernels before 6.10 do not store it: in a dump it is
	// then zero.
	Dir   Dir
	ReqID uint32
	// IfID binds the SA to the XFRM interface of that number; 0 for none.
	IfID uint32
	Mark Mark
	// OutputMark is set on packets the SA has processed.
	OutputMark Mark
	Encap      *UDPEncap
	// CPU whose packets an outbound SA is for; those of CPUs that have none take an SA without.
	CPU CPU
	// Offload, if not nil; the kernel refuses it where device or driver cannot.
	Offload *Offload

	// Either AEAD, or Auth with or without Crypt.
	AEAD  *AEAD
	Crypt *Crypt
	Auth  *Auth

	// ReplayWindow is in packets: at least 1 inbound, 0 outbound.
	ReplayWindow uint32
	// ReplayOff says that an inbound SA shall have no replay protection, because
	// the configuration says so. It is not stored in the kernel.
	ReplayOff bool
	// ESN turns on 64-bit sequence numbers (RFC 4303 section 2.2.1).
	ESN bool
	// Selector restricts the inner packets; its zero value does not.
	Selector Selector
	Limits   Limits
	Flags    SAFlags
	// TFCPad pads packets to this many bytes at least (RFC 4303 section 2.7).
	TFCPad uint32
	// MappingThreshold is the shortest interval between two [MappingEvent]s of
	// this SA, in whole seconds; 0 for no limit. Linux 5.17.
	MappingThreshold time.Duration
	// NATKeepalive makes the kernel send NAT keepalives (RFC 3948 section 4) at
	// this interval in whole seconds, for outbound SAs with Encap; 0 for none.
	// Linux 6.11.
	NATKeepalive time.Duration
	// AcquireSeq, of an outbound SA, is that of the AcquireEvent that it answers, which
	// is then no longer open. The kernel does not tell it again.
	AcquireSeq uint32
	// Replay continues the sequence numbers of another SA; nil starts at zero.
	Replay *ReplayState
}

// ID returns the SA's identity.
func (sa *SA) ID() SAID { return SAID{Dst: sa.Dst, SPI: sa.SPI, Proto: sa.Proto, Mark: sa.Mark} }

// ReplayState is the position in the sequence number space. Bitmap is the
// kernel's, lowest word first; it is nil where the kernel did not tell it.
type ReplayState struct {
	OutSeq, InSeq uint64
	Bitmap        []uint32
}

// Counters is traffic through an SA or a policy.
type Counters struct {
	Bytes, Packets uint64
}

// SAInfo is an SA as the kernel dumped it.
type SAInfo struct {
	SA
	Counters
	// Added is when the SA was installed, Used when it saw its first packet,
	// LastUsed its last; the zero time if it never did. Wall clock, seconds.
	Added, Used, LastUsed time.Time
	// Packets dropped for their age, as repeats, and for a bad ICV.
	ReplayWindowDrops, ReplayDrops, IntegrityDrops uint32
}
