package daemon

import (
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// sourceAddress asks the kernel, by one look-up that honours its rules, which
// address it would use towards a peer. It is invalid when there is no route or
// when the route leads into one of the tunnels: IKE never follows its own. Where a source route says that packets come from a
// virtual address, it is another one of the same link.
func sourceAddress(remote netip.Addr, tunnels map[string]bool) netip.Addr {
	routes, err := netlink.RouteGet(remote.AsSlice())
	if err != nil || len(routes) == 0 || routes[0].Src == nil {
		return netip.Addr{}
	}
	link, err := netlink.LinkByIndex(routes[0].LinkIndex)
	if err == nil && tunnels[link.Attrs().Name] {
		return netip.Addr{}
	}
	a, _ := netip.AddrFromSlice(routes[0].Src)
	if a = a.Unmap(); err != nil {
		return a
	}
	list, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return a
	}
	return ownAddress(a, list)
}

// ownAddress returns a, unless it is deprecated, as our virtual addresses are, and the link has one that is not.
func ownAddress(a netip.Addr, list []netlink.Addr) netip.Addr {
	deprecated, other := false, netip.Addr{}
	for _, l := range list {
		addr, _ := netip.AddrFromSlice(l.IP)
		addr = addr.Unmap()
		switch is := l.Flags&unix.IFA_F_DEPRECATED != 0; {
		case addr == a:
			deprecated = is
		case !is && !other.IsValid() && addr.Is4() == a.Is4() && addr.IsGlobalUnicast():
			other = addr
		}
	}
	if deprecated && other.IsValid() {
		return other
	}
	return a
}
