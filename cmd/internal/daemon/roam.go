package daemon

import (
	"context"
	"encoding/binary"
	"log/slog"
	"time"

	mnl "github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
)

const (
	roamDelay = 100 * time.Millisecond // from a change of addresses or routes until the engine hears of it
	roamPause = 500 * time.Millisecond // until it hears of the next
	roamRetry = 5 * time.Second        // after an error
)

// roamGroups are what the kernel is asked to tell: links, addresses, routes and rules.
const roamGroups = unix.RTMGRP_LINK | unix.RTMGRP_IPV4_IFADDR | unix.RTMGRP_IPV6_IFADDR |
	unix.RTMGRP_IPV4_ROUTE | unix.RTMGRP_IPV6_ROUTE | unix.RTMGRP_IPV4_RULE | 1<<(unix.RTNLGRP_IPV6_RULE-1)

// roam tells the engine of changes of the host's addresses and routes, gathered, until ctx ends.
type roam struct {
	addrs  *hostAddresses
	config func() *config.Config
	emit   func(ike.Event)
	log    *slog.Logger
}

func (r *roam) run(ctx context.Context) {
	changes := make(chan struct{}, 1)
	go r.listen(ctx, changes)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
		}
		if !sleep(ctx, roamDelay) {
			return
		}
		select {
		case <-changes:
		default:
		}
		c := r.config()
		if l, err := r.addrs.read(tunnelNames(c), waysOf(c)); err != nil {
			r.log.Error("could not read the host's addresses", "err", err)
		} else {
			r.emit(ike.AddressChanged{Addrs: l.addrs})
		}
		if !sleep(ctx, roamPause) {
			return
		}
	}
}

// listen signals changes. After an error, such as an overrun, anything may have changed.
func (r *roam) listen(ctx context.Context, changes chan<- struct{}) {
	signal := func() {
		select {
		case changes <- struct{}{}:
		default:
		}
	}
	for ctx.Err() == nil {
		err := r.listenOnce(ctx, signal)
		if ctx.Err() != nil {
			return
		}
		r.log.Warn("listening to changes of addresses and routes", "err", err, "again_in", roamRetry)
		sleep(ctx, roamRetry)
		signal()
	}
}

func (r *roam) listenOnce(ctx context.Context, signal func()) error {
	conn, err := mnl.Dial(unix.NETLINK_ROUTE, &mnl.Config{Groups: roamGroups})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	for {
		messages, err := conn.Receive()
		if err != nil {
			return err
		}
		for _, m := range messages {
			if r.concerns(m) {
				signal()
				break
			}
		}
	}
}

// concerns leaves out what the tunnels themselves and the routes learned over them cause.
func (r *roam) concerns(m mnl.Message) bool {
	const (
		indexAt    = 4 // in ifinfomsg and ifaddrmsg
		protocolAt = 5 // in rtmsg
		rtmsgLen   = 12
	)
	l := r.addrs.now.Load()
	switch uint16(m.Header.Type) {
	case unix.RTM_NEWLINK, unix.RTM_DELLINK, unix.RTM_NEWADDR, unix.RTM_DELADDR:
		return l == nil || len(m.Data) < indexAt+4 || !l.tunnels[int(binary.NativeEndian.Uint32(m.Data[indexAt:]))]
	case unix.RTM_NEWROUTE, unix.RTM_DELROUTE:
		if l == nil || len(m.Data) < rtmsgLen {
			return true
		}
		if m.Data[protocolAt] == unix.RTPROT_BGP {
			return false
		}
		attrs, err := mnl.NewAttributeDecoder(m.Data[rtmsgLen:])
		for err == nil && attrs.Next() {
			if attrs.Type() == unix.RTA_OIF {
				return !l.tunnels[int(attrs.Uint32())]
			}
		}
	}
	return true
}

// sleep waits, and reports false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
