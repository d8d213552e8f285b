package iketest

import (
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// setAddrs gives the host other addresses; what is under way to the old ones is lost.
func (h *Host) setAddrs(addrs []netip.Addr) {
	for _, a := range h.addrs {
		delete(h.net.byAddr, a)
		h.lost[a] = true
	}
	h.addrs = addrs
	for _, a := range addrs {
		h.net.byAddr[a] = h
	}
	h.Kernel.changed = true
}

// moved reports whether the host has lost an address.
func (h *Host) moved() bool { return len(h.lost) > 0 }

// SendESP sends a packet on every CHILD_SA that would be used, and reports how many arrive. A kernel that sees one from elsewhere than
// its SA says tells its engine, as XFRM_MSG_MAPPING does.
func (h *Host) SendESP() int {
	arrived := 0
	for _, id := range h.Kernel.ids() {
		out := h.Kernel.children[id]
		if h.Kernel.newest(out.sa.ReqID) != out {
			continue
		}
		src := netip.AddrPortFrom(out.sa.Local, out.sa.LocalPort)
		if h.nat != nil {
			src = h.nat.outbound(src)
		}
		to, in, err := h.net.path(h, out)
		if err != nil {
			h.net.tracef("a packet that %s sent on %s is lost: %v", h.Name, childText{out.sa}, err)
			continue
		}
		arrived++
		out.out++
		in.in++
		if in.sa.Encap && src != netip.AddrPortFrom(in.sa.Remote, in.sa.RemotePort) {
			to.step(func(now time.Time) { to.engine.HandleEvent(now, ike.PeerMoved{SPI: in.sa.SPIIn, New: src}) })
		}
	}
	return arrived
}
