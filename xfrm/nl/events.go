package nl

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// eventQueue is how many events wait for a slow reader before they pile up in the
// socket's buffer, and are lost when that is full.
const eventQueue = 256

// source is one event socket: what to join and how to read it.
type source struct {
	family int
	groups []uint32
	types  []uint16 // of messages to hear; empty: all
	parse  func(netlink.Message) (xfrm.Event, error)
}

// Events delivers kernel events until ctx ends, then closes the channel. The
// sockets belong to the network namespace of the calling thread.
func (k *Kernel) Events(ctx context.Context) (<-chan xfrm.Event, error) {
	sources := []source{
		{unix.NETLINK_XFRM, []uint32{groupAcquire, groupExpire, groupMapping}, nil, k.readXFRM},
		{unix.NETLINK_XFRM, []uint32{groupSA, groupPolicy}, removals, k.readRemoval},
		{unix.NETLINK_ROUTE, []uint32{unix.RTNLGRP_LINK, unix.RTNLGRP_IPV4_IFADDR, unix.RTNLGRP_IPV6_IFADDR}, nil, readRoute},
	}
	var conns []*netlink.Conn
	for _, s := range sources {
		c, err := subscribe(s)
		if err != nil {
			for _, c := range conns {
				_ = c.Close()
			}
			return nil, fmt.Errorf("xfrm: cannot listen to kernel events: %w", err)
		}
		conns = append(conns, c)
	}
	out := make(chan xfrm.Event, eventQueue)
	var wg sync.WaitGroup
	for i, s := range sources {
		c := conns[i]
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		wg.Go(func() {
			defer stop()
			receive(ctx, c, s.parse, out)
		})
	}
	go func() {
		wg.Wait()
		close(out)
	}()
	return out, nil
}

func subscribe(s source) (*netlink.Conn, error) {
	c, err := netlink.Dial(s.family, &netlink.Config{MessageBufferSize: messageBuffer})
	if err != nil {
		return nil, err
	}
	// A smaller buffer loses events sooner, and says so.
	_ = c.SetReadBuffer(receiveBuffer)
	if len(s.types) > 0 {
		if err := c.SetBPF(onlyTypes(s.types)); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	for _, g := range s.groups {
		if err := c.JoinGroup(g); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

// receive passes on what c hears. Whatever goes wrong, the reader is told to dump:
// ENOBUFS, and a message that cannot be read. It ends when c is closed.
func receive(ctx context.Context, c *netlink.Conn, parse func(netlink.Message) (xfrm.Event, error), out chan<- xfrm.Event) {
	for {
		msgs, err := c.Receive()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if !deliver(ctx, out, xfrm.OverrunEvent{Err: err}) || fatal(err) {
				return
			}
			continue
		}
		for _, m := range msgs {
			ev, err := parse(m)
			if err != nil {
				ev = xfrm.OverrunEvent{Err: err}
			}
			if ev != nil && !deliver(ctx, out, ev) {
				return
			}
		}
	}
}

// fatal reports whether a socket will never deliver again.
func fatal(err error) bool {
	return !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ENOMEM)
}

func deliver(ctx context.Context, out chan<- xfrm.Event, ev xfrm.Event) bool {
	select {
	case out <- ev:
		return true
	case <-ctx.Done():
		return false
	}
}

func readRoute(m netlink.Message) (xfrm.Event, error) {
	return parseLinkEvent(uint16(m.Header.Type), m.Data)
}

func (k *Kernel) readXFRM(m netlink.Message) (xfrm.Event, error) {
	ev, ifindex, err := parseEvent(uint16(m.Header.Type), m.Data)
	if err != nil || ifindex == 0 {
		return ev, err
	}
	switch e := ev.(type) {
	case xfrm.AcquireEvent:
		e.Policy.Selector.Interface = k.ifname(ifindex)
		return e, nil
	case xfrm.ExpireEvent:
		e.SA.Selector.Interface = k.ifname(ifindex)
		return e, nil
	}
	return ev, nil
}
