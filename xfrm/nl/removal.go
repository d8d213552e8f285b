package nl

import (
	"github.com/mdlayher/netlink"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// removals are the messages that say that something was deleted. The kernel sends
// them to the groups of everything that is added and changed, keys included: the
// rest is filtered out before it is queued for us.
var removals = []uint16{msgDelSA, msgDelPolicy, msgFlushSA, msgFlushPol}

// readRemoval reports what others deleted. Notices carry the port of the socket that
// asked: ours are no news.
func (k *Kernel) readRemoval(m netlink.Message) (xfrm.Event, error) {
	if m.Header.PID == k.conn.port.Load() {
		return nil, nil
	}
	return xfrm.RemovedEvent{AllPolicies: m.Header.Type == msgFlushPol}, nil
}

// onlyTypes is a socket filter that lets messages of some types pass.
func onlyTypes(types []uint16) []bpf.RawInstruction {
	const typeOffset, all = 4, 1 << 18 // nlmsghdr.nlmsg_type
	prog := []bpf.Instruction{bpf.LoadAbsolute{Off: typeOffset, Size: 2}}
	for i, typ := range types {
		// The filter reads big-endian, the header is native.
		var b [2]byte
		ne.PutUint16(b[:], typ)
		prog = append(prog, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(be.Uint16(b[:])), SkipTrue: uint8(len(types) - i)})
	}
	prog = append(prog, bpf.RetConstant{Val: 0}, bpf.RetConstant{Val: all})
	raw, err := bpf.Assemble(prog)
	if err != nil {
		panic(err) // of constants
	}
	return raw
}

// portOf returns the address of a netlink socket, 0 if it cannot be told.
func portOf(c *netlink.Conn) uint32 {
	rc, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	var port uint32
	_ = rc.Control(func(fd uintptr) {
		if sa, err := unix.Getsockname(int(fd)); err == nil {
			if nl, ok := sa.(*unix.SockaddrNetlink); ok {
				port = nl.Pid
			}
		}
	})
	return port
}
