package daemon

import (
	"net"
	"net/netip"
	"sync/atomic"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/routing/lookup"
)

// hostAddresses are the addresses that IKE may use, and where they are. Its methods may be called on any goroutine.
type hostAddresses struct {
	now atomic.Pointer[addressList]
}

// addressList is what the host had at one moment. It is never changed.
type addressList struct {
	addrs   []netip.Addr
	link    map[netip.Addr]int  // the link that has it
	floats  map[int]bool        // links whose addresses are those of the host as a whole: loopback and dummy
	tunnels map[int]bool        // our own xfrm interfaces
	ignored map[netip.Addr]bool // those of interfaces that are ignored, and of no other
	ways    lookup.Filter
}

// read asks the kernel anew. The addresses of links that are down or without carrier are left out, and those of tunnels: what is
// sent from there could not get out, or would go into a tunnel.
func (h *hostAddresses) read(tunnels map[string]bool, ways lookup.Filter) (*addressList, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, err
	}
	l := &addressList{link: map[netip.Addr]int{}, floats: map[int]bool{}, tunnels: map[int]bool{}, ignored: map[netip.Addr]bool{}, ways: ways}
	usable, ignored := map[int]bool{}, map[int]bool{}
	for _, link := range links {
		a := link.Attrs()
		const up = unix.IFF_UP | unix.IFF_RUNNING
		l.tunnels[a.Index] = tunnels[a.Name]
		l.floats[a.Index] = a.Flags&net.FlagLoopback != 0 || link.Type() == "dummy"
		ignored[a.Index] = ways.Ignores(a.Name)
		usable[a.Index] = a.RawFlags&up == up && !tunnels[a.Name] && !ignored[a.Index]
	}
	all, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		addr, _ := netip.AddrFromSlice(a.IP)
		addr = addr.Unmap()
		if was, known := l.ignored[addr]; !known || was {
			l.ignored[addr] = ignored[a.LinkIndex]
		}
		const unfit = unix.IFA_F_TENTATIVE | unix.IFA_F_DADFAILED | unix.IFA_F_DEPRECATED
		if !usable[a.LinkIndex] || a.Flags&unfit != 0 || !addr.IsGlobalUnicast() {
			continue
		}
		l.addrs = append(l.addrs, addr)
		l.link[addr] = a.LinkIndex
	}
	h.now.Store(l)
	return l, nil
}

// routed reports whether packets from a local address to a peer leave over the link that has the address. The
// kernel's rules count, also those by source address.
func (h *hostAddresses) routed(local, remote netip.Addr) bool {
	l := h.now.Load()
	if l == nil {
		return true
	}
	p, err := l.ways.Find(remote, local)
	if err != nil || l.tunnels[p.Link] {
		return false
	}
	link, known := l.link[local]
	return known && (link == p.Link || l.floats[link])
}

// ignores reports whether what is sent to one of the host's addresses is dropped, since only interfaces that are
// ignored have it.
func (h *hostAddresses) ignores(local netip.Addr) bool {
	l := h.now.Load()
	return l != nil && l.ignored[local]
}
