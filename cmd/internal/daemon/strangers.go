package daemon

import (
	"fmt"
	"syscall"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// Each port has two sockets, between which the kernel divides what comes in: requests for a new
// IKE SA, which anybody can send, go to the one of strangers, all else to that of peers. A flood of the former fills a buffer
// that no peer's message goes through, and costs nothing but the kernel's time.
const (
	peersSocket     = 0 // in the order of opening
	strangersSocket = 1
)

// Octets of the IKE header (RFC 7296 section 3.1).
const (
	exchangeOffset = 18
	flagsOffset    = 19
)

// openStrangers opens the second socket of s's port. Only now is s shared: when it
// was bound, it was alone, or another IKE daemon would have gone unnoticed.
func (s *socket) openStrangers() (*socket, error) {
	raw, err := s.conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	if cerr := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) }); cerr != nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("IKE port %d: a socket for strangers' requests: %w", s.port, err)
	}
	second, err := bind(s.port, s.natt, s.v6, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	if err != nil {
		return nil, err
	}
	second.strangers = true
	if err := second.divide(); err != nil {
		second.close()
		return nil, fmt.Errorf("IKE port %d: dividing strangers' requests from peers' messages: %w", s.port, err)
	}
	return second, nil
}

// divide tells the kernel which messages are for which of the port's sockets.
func (s *socket) divide() error {
	instructions, err := bpf.Assemble(divider(s.natt))
	if err != nil {
		return err
	}
	var filter []unix.SockFilter
	for _, i := range instructions {
		filter = append(filter, unix.SockFilter{Code: i.Op, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	var raw syscall.RawConn
	if raw, err = s.conn.SyscallConn(); err != nil {
		return err
	}
	if cerr := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF, &prog)
	}); cerr != nil {
		err = cerr
	}
	return err
}

// divider is a program over what a datagram carries that returns the socket for it. A
// datagram that is too short for it ends the program with 0, the socket of peers.
func divider(natt bool) []bpf.Instruction {
	var p []bpf.Instruction
	at := uint32(0)
	if natt {
		at = uint32(len(nonESPMarker))
		p = append(p, bpf.LoadAbsolute{Off: 0, Size: 4}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipFalse: 5})
	}
	return append(p,
		bpf.LoadAbsolute{Off: at + exchangeOffset, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(wire.ExchangeSAInit), SkipFalse: 3},
		bpf.LoadAbsolute{Off: at + flagsOffset, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: uint32(wire.FlagResponse), SkipTrue: 1},
		bpf.RetConstant{Val: strangersSocket},
		bpf.RetConstant{Val: peersSocket},
	)
}
