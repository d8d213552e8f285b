package lookup

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Addresses lists the addresses of links that are up and count, as strongSwan shows where it listens: without those of
// loopback, link-local ones of IPv6, and ones that are not to be used for anything new.
func (f Filter) Addresses() ([]netip.Addr, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("reading links: %w", err)
	}
	all, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("reading addresses: %w", err)
	}
	var out []netip.Addr
	for _, l := range links {
		if a := l.Attrs(); a.Flags&net.FlagUp == 0 || a.Flags&net.FlagLoopback != 0 || f.Ignores(a.Name) {
			continue
		}
		for _, a := range all {
			addr, _ := netip.AddrFromSlice(a.IP)
			addr = addr.Unmap()
			const unfit = unix.IFA_F_TENTATIVE | unix.IFA_F_DADFAILED | unix.IFA_F_DEPRECATED
			if a.LinkIndex == l.Attrs().Index && a.Flags&unfit == 0 && (addr.Is4() || !addr.IsLinkLocalUnicast()) {
				out = append(out, addr)
			}
		}
	}
	return out, nil
}
