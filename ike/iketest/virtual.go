package iketest

import (
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/ike"
)

// setVirtual keeps track of VirtualAddrs.
func (h *Host) setVirtual(a ike.VirtualAddrs) {
	h.net.tracef("%s: virtual addresses by IKE SA %d at %v: %v", h.Name, a.IKEID, a.Local, a.Addrs)
	if len(a.Addrs) > 0 {
		h.virtual[a.IKEID] = a
		return
	}
	if _, has := h.virtual[a.IKEID]; !has {
		h.net.violate("%s takes back virtual addresses of IKE SA %d, which has none", h.Name, a.IKEID)
	}
	delete(h.virtual, a.IKEID)
}

// Virtual returns the virtual addresses that the kernel has on the link of an outer address.
func (h *Host) Virtual(local netip.Addr) []netip.Addr {
	var list []netip.Addr
	for _, v := range h.virtual {
		for _, a := range v.Addrs {
			if v.Local == local && !slices.Contains(list, a) {
				list = append(list, a)
			}
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}
