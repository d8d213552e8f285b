package daemon

import (
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/routing/lookup"
)

// sourceAddress asks the kernel, by one look-up that honours its rules, which
// address it would use towards a peer. It is invalid when there is no route or
// when the route leads into one of the tunnels: IKE never follows its own. Where a source route says that packets come from a
// virtual address, it is another one of the same link.
func sourceAddress(remote netip.Addr, tunnels map[string]bool, ways lookup.Filter) netip.Addr {
	p, err := ways.Find(remote, netip.Addr{})
	if err != nil || !p.Source.IsValid() {
		return netip.Addr{}
	}
	link, err := netlink.LinkByIndex(p.Link)
	if err == nil && tunnels[link.Attrs().Name] {
		return netip.Addr{}
	}
	if err != nil {
		return p.Source
	}
	list, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return p.Source
	}
	return ownAddress(p.Source, list)
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
