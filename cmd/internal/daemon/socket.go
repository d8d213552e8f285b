package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/ike"
)

// maxDatagram is the largest IKE message that is read; RFC 7296 section 2
// asks for 3000 octets at least.
const maxDatagram = 10000

// The directions of a socket's own policies (linux/xfrm.h).
const (
	policyIn  = 0
	policyOut = 1
)

// nonESPMarker precedes IKE on the NAT-T port (RFC 3948 section 2.2).
var nonESPMarker = [4]byte{}

// socket is one UDP socket of one address family: IKE's or NAT-T's.
type socket struct {
	natt      bool
	v6        bool
	strangers bool // it has the IKE_SA_INIT requests of its port, another one the rest
	port      uint16
	conn      *net.UDPConn
	p4        *ipv4.PacketConn
	p6        *ipv6.PacketConn
}

// openSocket binds a port of one family, alone.
func openSocket(port uint16, natt, v6 bool) (*socket, error) {
	return bind(port, natt, v6, growBuffer)
}

// bind opens a socket of a port, with an option of its own. Every policy is bypassed for it, so
// that IKE never follows a tunnel, and on the NAT-T port the kernel takes ESP
// out of UDP.
func bind(port uint16, natt, v6 bool, option func(fd int) error) (*socket, error) {
	network := "udp4"
	if v6 {
		network = "udp6"
	}
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if cerr := c.Control(func(fd uintptr) { err = errors.Join(socketOptions(int(fd), natt, v6), option(int(fd))) }); cerr != nil {
			return cerr
		}
		return err
	}}
	pc, err := lc.ListenPacket(context.Background(), network, fmt.Sprintf(":%d", port))
	if err != nil {
		return nil, fmt.Errorf("IKE port %d (%s): %w; is another IKE daemon running?", port, network, err)
	}
	return newSocket(port, natt, v6, pc.(*net.UDPConn))
}

// newSocket makes a socket of a bound connection.
func newSocket(port uint16, natt, v6 bool, conn *net.UDPConn) (*socket, error) {
	s := &socket{natt: natt, v6: v6, port: port, conn: conn}
	var err error
	if v6 {
		s.p6 = ipv6.NewPacketConn(s.conn)
		err = s.p6.SetControlMessage(ipv6.FlagDst|ipv6.FlagInterface, true)
	} else {
		s.p4 = ipv4.NewPacketConn(s.conn)
		err = s.p4.SetControlMessage(ipv4.FlagDst|ipv4.FlagInterface, true)
	}
	if err != nil {
		s.conn.Close()
		return nil, fmt.Errorf("IKE port %d: asking for destination addresses: %w", port, err)
	}
	return s, nil
}

func socketOptions(fd int, natt, v6 bool) error {
	level, option := unix.IPPROTO_IP, unix.IP_XFRM_POLICY
	if v6 {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_XFRM_POLICY
	}
	for _, dir := range []uint8{policyIn, policyOut} {
		if err := unix.SetsockoptString(fd, level, option, string(bypassPolicy(v6, dir))); err != nil {
			return fmt.Errorf("bypassing IPsec policies for IKE: %w (needs CAP_NET_ADMIN)", err)
		}
	}
	if natt {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_ENCAP, unix.UDP_ENCAP_ESPINUDP); err != nil {
			return fmt.Errorf("ESP in UDP on the NAT-T port: %w", err)
		}
	}
	return nil
}

// growBuffer makes room for received messages, beyond the host's limit for everybody where that is allowed.
func growBuffer(fd int) error {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) == nil {
		return nil
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer); err != nil {
		return fmt.Errorf("room for received messages: %w", err)
	}
	return nil
}

// bypassPolicy is a struct xfrm_userpolicy_info that allows everything without
// a transform.
func bypassPolicy(v6 bool, dir uint8) []byte {
	const (
		size         = 168
		familyOffset = 40  // sel.family
		dirOffset    = 160 // dir
	)
	b := make([]byte, size)
	b[familyOffset] = unix.AF_INET
	if v6 {
		b[familyOffset] = unix.AF_INET6
	}
	b[dirOffset] = dir
	return b
}

// read waits for the next IKE message. What is no IKE message (a keepalive,
// ESP that the kernel did not want) is skipped.
func (s *socket) read() (ike.Packet, error) {
	buf := make([]byte, maxDatagram)
	for {
		n, local, remote, err := s.readRaw(buf)
		if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrClosed) {
			return ike.Packet{}, net.ErrClosed
		}
		if err != nil {
			continue // ICMP errors of earlier sends: never a reason to give up (RFC 7296 section 2.4)
		}
		data := buf[:n]
		if s.natt {
			if n < len(nonESPMarker) || [4]byte(data[:4]) != nonESPMarker {
				continue
			}
			data = data[4:]
		}
		p := ike.Packet{
			Local:  netip.AddrPortFrom(local, s.port),
			Remote: remote,
			NATT:   s.natt,
			Data:   append([]byte(nil), data...),
		}
		return p, nil
	}
}

func (s *socket) readRaw(buf []byte) (n int, local netip.Addr, remote netip.AddrPort, err error) {
	var src net.Addr
	if s.v6 {
		var cm *ipv6.ControlMessage
		n, cm, src, err = s.p6.ReadFrom(buf)
		if cm != nil {
			local, _ = netip.AddrFromSlice(cm.Dst)
		}
	} else {
		var cm *ipv4.ControlMessage
		n, cm, src, err = s.p4.ReadFrom(buf)
		if cm != nil {
			local, _ = netip.AddrFromSlice(cm.Dst.To4())
		}
	}
	if err != nil {
		return 0, local, remote, err
	}
	ap := src.(*net.UDPAddr).AddrPort()
	return n, local, netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
}

// send sends an IKE message or a keepalive.
func (s *socket) send(a ike.Send) error {
	data := a.Data
	if s.natt && !a.Keepalive {
		data = append(nonESPMarker[:len(nonESPMarker):len(nonESPMarker)], data...)
	}
	dst := net.UDPAddrFromAddrPort(a.Remote)
	var err error
	if s.v6 {
		var cm *ipv6.ControlMessage
		if a.Local.Addr().IsValid() {
			cm = &ipv6.ControlMessage{Src: a.Local.Addr().AsSlice()}
		}
		_, err = s.p6.WriteTo(data, cm, dst)
	} else {
		var cm *ipv4.ControlMessage
		if a.Local.Addr().IsValid() {
			cm = &ipv4.ControlMessage{Src: a.Local.Addr().AsSlice()}
		}
		_, err = s.p4.WriteTo(data, cm, dst)
	}
	return err
}

func (s *socket) close() error { return s.conn.Close() }
