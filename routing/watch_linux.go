package routing

import (
	"encoding/binary"
	"errors"

	"github.com/mdlayher/netlink"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in a route notification.
const (
	offType     = 4  // nlmsghdr.nlmsg_type
	offPID      = 12 // nlmsghdr.nlmsg_pid
	offProtocol = 21 // rtmsg.rtm_protocol, after the 16 bytes of nlmsghdr
)

// dialEvents opens the socket for events. Changes made through the request
// socket own do not come back.
func dialEvents(own uint32) (*netlink.Conn, error) {
	c, err := netlink.Dial(unix.NETLINK_ROUTE, &netlink.Config{MessageBufferSize: messageBuffer})
	if err != nil {
		return nil, err
	}
	filter, err := bpf.Assemble(eventFilter(own))
	if err == nil {
		err = errors.Join(c.SetReadBuffer(eventBuffer), c.SetBPF(filter))
	}
	for _, group := range []uint32{unix.RTNLGRP_LINK, unix.RTNLGRP_NEXTHOP, unix.RTNLGRP_IPV4_ROUTE, unix.RTNLGRP_IPV6_ROUTE} {
		if err != nil {
			break
		}
		err = c.JoinGroup(group)
		if group == unix.RTNLGRP_NEXTHOP && errors.Is(err, unix.EINVAL) {
			err = nil // a kernel without nexthop objects
		}
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// eventFilter drops two kinds of notifications in the kernel, before they
// fill the socket's buffer: of what this process did, and of routes of our
// protocol that the kernel itself removed. The latter follow from the loss of
// a link or nexthop, which has a notification of its own.
func eventFilter(own uint32) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: offPID, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: swap32(own), SkipTrue: 6},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 4},
		bpf.LoadAbsolute{Off: offType, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(swap16(unix.RTM_DELROUTE)), SkipTrue: 2},
		bpf.LoadAbsolute{Off: offProtocol, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: Protocol, SkipTrue: 1},
		bpf.RetConstant{Val: 1 << 18},
		bpf.RetConstant{Val: 0},
	}
}

// BPF loads in network byte order what netlink has in native order.
func swap32(v uint32) uint32 {
	return binary.BigEndian.Uint32(binary.NativeEndian.AppendUint32(nil, v))
}

func swap16(v uint16) uint16 {
	return binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, v))
}

func (k *netlinkKernel) Events() <-chan Event { return k.events }

// pump turns notifications into events until Close. If nobody reads them, the
// kernel's buffer fills and an event says that some were lost.
func (k *netlinkKernel) pump() {
	defer close(k.events)
	for {
		msgs, err := k.watch.Receive()
		events := []Event{{Kind: Lost}}
		switch {
		case err == nil:
			events = decodeEvents(msgs)
		case !errors.Is(err, unix.ENOBUFS):
			select {
			case <-k.done:
				return
			default:
			}
			if errors.Is(err, unix.EBADF) {
				return
			}
		}
		for _, ev := range events {
			select {
			case k.events <- ev:
			case <-k.done:
				return
			}
		}
	}
}

// decodeEvents skips what is of no interest. A message that cannot be read
// counts as lost.
func decodeEvents(msgs []netlink.Message) []Event {
	var events []Event
	for _, m := range msgs {
		ev, ok, err := decodeEvent(m)
		if err != nil {
			ev, ok = Event{Kind: Lost}, true
		}
		if ok {
			events = append(events, ev)
		}
	}
	return events
}

func decodeEvent(m netlink.Message) (ev Event, ok bool, err error) {
	switch m.Header.Type {
	case unix.RTM_NEWLINK, unix.RTM_DELLINK:
		ev.Kind, ev.Deleted, ok = LinkEvent, m.Header.Type == unix.RTM_DELLINK, true
		if len(m.Data) > 0 && m.Data[0] != unix.AF_UNSPEC {
			return ev, false, nil // about a bridge port
		}
		ev.Link, err = decodeLink(m.Data)
	case unix.RTM_NEWNEXTHOP, unix.RTM_DELNEXTHOP:
		ev.Kind, ev.Deleted, ok = NexthopEvent, m.Header.Type == unix.RTM_DELNEXTHOP, true
		ev.Nexthop, err = decodeNexthop(m.Data)
	case unix.RTM_NEWROUTE, unix.RTM_DELROUTE:
		ev.Kind, ev.Deleted = RouteEvent, m.Header.Type == unix.RTM_DELROUTE
		ev.Route, ok, err = decodeRoute(m.Data)
	}
	return ev, ok, err
}
