package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/handover"
	"github.com/ipsecd/ipsecd/ike"
)

// sockets are the eight sockets of IKE: two ports, two address families, peers and strangers.
type sockets struct{ list []*socket }

// openSockets binds them all, but for those that another process has handed over. A host without IPv6 has half of them.
func openSockets(ports config.Ports, from *handover.Bundle) (*sockets, error) {
	s := &sockets{}
	for _, natt := range []bool{false, true} {
		port := ports.IKE
		if natt {
			port = ports.NATT
		}
		for _, v6 := range []bool{false, true} {
			sock, err := inheritSocket(from, port, natt, v6, false)
			if sock == nil && err == nil {
				sock, err = openSocket(port, natt, v6)
			}
			if v6 && errors.Is(err, syscall.EAFNOSUPPORT) {
				continue
			}
			if err != nil {
				s.close()
				return nil, err
			}
			s.list = append(s.list, sock)
			strangers, err := inheritSocket(from, port, natt, v6, true)
			if strangers == nil && err == nil {
				strangers, err = sock.openStrangers()
			}
			if err != nil {
				s.close()
				return nil, err
			}
			s.list = append(s.list, strangers)
		}
	}
	return s, nil
}

// socketName names a socket in a handover.
func socketName(natt, v6, strangers bool) string {
	name := "ike"
	if natt {
		name = "nat-t"
	}
	if v6 {
		name += "-6"
	}
	if strangers {
		name += "-strangers"
	}
	return name
}

// inheritSocket goes on with the socket of the process before; nil if it left none for this port.
func inheritSocket(from *handover.Bundle, port uint16, natt, v6, strangers bool) (*socket, error) {
	name := socketName(natt, v6, strangers)
	file := from.Take(name)
	if file == nil {
		return nil, nil
	}
	defer file.Close()
	pc, err := net.FilePacketConn(file)
	if err != nil {
		return nil, fmt.Errorf("the IKE socket %s that was handed over: %w", name, err)
	}
	conn, ok := pc.(*net.UDPConn)
	if !ok || conn.LocalAddr().(*net.UDPAddr).AddrPort().Port() != port {
		pc.Close()
		return nil, nil
	}
	s, err := newSocket(port, natt, v6, conn)
	if err != nil {
		return nil, err
	}
	s.strangers = strangers
	return s, nil
}

// handOver adds copies of the sockets to a bundle.
func (s *sockets) handOver(to *handover.Bundle) error {
	for _, sock := range s.list {
		if err := to.Add(socketName(sock.natt, sock.v6, sock.strangers), sock.conn); err != nil {
			return err
		}
	}
	return nil
}

// receive reads every socket until close or the end of ctx, without what comes to addresses that are ignored.
func (s *sockets) receive(ctx context.Context, in *intake, ignored func(local netip.Addr) bool) {
	for _, sock := range s.list {
		deliver := in.fromPeer(ctx)
		if sock.strangers {
			deliver = in.fromStranger
		}
		go func() {
			for {
				p, err := sock.read()
				if err != nil || ctx.Err() != nil {
					return
				}
				if !ignored(p.Local.Addr()) {
					deliver(p)
				}
			}
		}()
	}
}

// send picks the socket by port and family.
func (s *sockets) send(a ike.Send) error {
	v6 := a.Remote.Addr().Is6()
	for _, sock := range s.list {
		if sock.natt == a.NATT && sock.v6 == v6 {
			return sock.send(a)
		}
	}
	return fmt.Errorf("no socket for %v", a.Remote)
}

func (s *sockets) close() {
	for _, sock := range s.list {
		sock.close()
	}
}
