package ike

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// takeAddresses takes up the virtual addresses that the responder assigns to us. What we have not asked for is
// not listened to.
func (e *Engine) takeAddresses(sa *ikeSA, m *message) {
	reply := m.configuration(wire.CFGReply)
	if reply == nil || len(sa.conn.cfg.VIPs) == 0 {
		return
	}
	list := addresses(reply, wire.ConfigInternalIP4Address, wire.ConfigInternalIP6Address)
	list = slices.DeleteFunc(list, func(a netip.Addr) bool {
		switch {
		case a.IsUnspecified():
		case !a.IsGlobalUnicast() || a == sa.local.Addr() || a == sa.remote.Addr():
			e.note(sa, LevelWarn, "IKE", "the peer assigns %v to us, which cannot be a virtual address: it is not taken", a)
		default:
			return false
		}
		return true
	})
	sa.virtual.local, sa.conn.virtual = list, list
	sa.virtual.dns = addresses(reply, wire.ConfigInternalIP4DNS, wire.ConfigInternalIP6DNS)
	for _, a := range list {
		e.note(sa, LevelInfo, "IKE", "installing new virtual IP %v", a)
	}
	e.tellVirtual(sa)
}

// tellVirtual tells the kernel which virtual addresses we have by an IKE SA, and the pools where its peer is.
func (e *Engine) tellVirtual(sa *ikeSA) {
	v := &sa.virtual
	for _, l := range v.leases {
		l.used[max(slices.Index(l.used, v.leasedTo), 0)] = sa.remote
	}
	v.leasedTo = sa.remote
	if len(v.local) > 0 {
		e.do(VirtualAddrs{IKEID: sa.id, Local: sa.local.Addr(), Addrs: v.local})
	}
}

// dropVirtual gives all virtual addresses of an IKE SA back.
func (e *Engine) dropVirtual(sa *ikeSA) {
	e.releaseAddresses(sa)
	if len(sa.virtual.local) > 0 {
		e.do(VirtualAddrs{IKEID: sa.id})
	}
	sa.virtual = virtual{}
}

// inheritVirtual moves them to the IKE SA that replaces another.
func (e *Engine) inheritVirtual(old, next *ikeSA) {
	next.virtual, old.virtual = old.virtual, virtual{}
	if len(next.virtual.local) > 0 {
		e.tellVirtual(next)
		e.do(VirtualAddrs{IKEID: old.id})
	}
}

// withoutAddress says why the responder has not given us the address that we asked for; empty: it has not refused.
func (e *Engine) withoutAddress(sa *ikeSA, m *message) string {
	c := sa.conn.cfg
	if n := m.notify(wire.NotifyInternalAddressFailure); n != nil && len(c.VIPs) > 0 {
		return fmt.Sprintf("received INTERNAL_ADDRESS_FAILURE notify error: peer has no virtual address for '%v'; are its pools empty, or has it none for this connection? %s",
			sa.localID, c.at("vips"))
	}
	if n := m.notify(wire.NotifyFailedCPRequired); n != nil {
		return fmt.Sprintf("received FAILED_CP_REQUIRED notify error: peer takes only who asks for a virtual address; set vips = 0.0.0.0 or vips = :: %s", c.at(""))
	}
	return ""
}

// endWithoutAddress ends an IKE SA that is established, but without the virtual address that is wanted; a new one is
// tried later, since the address is only given with it.
func (e *Engine) endWithoutAddress(sa *ikeSA, tries int, why string) {
	e.dropOffer(sa.setup.offer)
	sa.setup.offer = nil
	e.establish(sa)
	sa.conn.tries = tries
	e.finishTask(sa)
	e.deleteIKE(sa, why)
	e.attemptFailed(sa.conn, sa, why)
}
