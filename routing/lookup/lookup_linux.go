package lookup

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Find returns the way to dst, for packets from src if that is valid.
func (f Filter) Find(dst, src netip.Addr) (Path, error) {
	o := &netlink.RouteGetOptions{}
	if src.IsValid() {
		o.SrcAddr = src.AsSlice()
	}
	routes, err := netlink.RouteGetWithOptions(dst.AsSlice(), o)
	if err == nil && len(routes) == 0 {
		err = syscall.ENETUNREACH
	}
	if err != nil {
		return Path{}, fmt.Errorf("no route to %v: %w", dst, err)
	}
	r := routes[0]
	if f.counts(r.LinkIndex, r.Table) {
		p := Path{Link: r.LinkIndex, Source: src, Gateway: address(r.Gw)}
		if !src.IsValid() {
			p.Source = address(r.Src)
		}
		return p, nil
	}
	p, err := f.other(dst, src)
	if err != nil {
		return Path{}, fmt.Errorf("no route to %v but over interfaces or from tables that are ignored: %w", dst, err)
	}
	return p, nil
}

// counts reports whether a route of that link and table does.
func (f Filter) counts(link, table int) bool {
	if !f.any() {
		return true
	}
	if slices.Contains(f.Tables, uint32(table)) {
		return false
	}
	l, err := netlink.LinkByIndex(link)
	return err != nil || !f.Ignores(l.Attrs().Name)
}

// other looks the address up in the tables that count, in the order of the rules that consult them.
func (f Filter) other(dst, src netip.Addr) (Path, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return Path{}, err
	}
	usable := map[int]bool{}
	for _, l := range links {
		a := l.Attrs()
		usable[a.Index] = a.Flags&net.FlagUp != 0 && a.RawFlags&unix.IFF_RUNNING != 0 && !f.Ignores(a.Name)
	}
	tables, err := f.tables(dst, src)
	if err != nil {
		return Path{}, err
	}
	for _, table := range tables {
		list, err := dump(dst.Is4(), table)
		if err != nil {
			return Path{}, err
		}
		list = slices.DeleteFunc(list, func(r route) bool { return !usable[r.path.Link] })
		if p, ok := best(list, dst); ok {
			if src.IsValid() {
				p.Source = src
			} else if !p.Source.IsValid() {
				p.Source = sourceOn(p.Link, cmp.Or(p.Gateway, dst))
			}
			return p, nil
		}
	}
	return Path{}, syscall.ENETUNREACH
}

// tables returns those that rules consult for packets to dst from src, which has not to be valid. A rule that asks for more, as for a
// mark, is not about our packets.
func (f Filter) tables(dst, src netip.Addr) ([]int, error) {
	family := netlink.FAMILY_V4
	if dst.Is6() {
		family = netlink.FAMILY_V6
	}
	rules, err := netlink.RuleList(family)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rules, func(a, b netlink.Rule) int { return cmp.Compare(a.Priority, b.Priority) })
	var out []int
	for _, r := range rules {
		plain := r.Mark == 0 && r.IifName == "" && r.OifName == "" && r.Goto <= 0 && !r.Invert && r.IPProto == 0 && r.Tos == 0 &&
			r.SuppressPrefixlen < 0 && r.SuppressIfgroup < 0 && r.Dport == nil && r.Sport == nil && r.UIDRange == nil && (r.Type == 0 || r.Type == unix.FR_ACT_TO_TBL)
		if !plain || !covers(r.Src, src) || !covers(r.Dst, dst) || r.Table == unix.RT_TABLE_LOCAL || slices.Contains(f.Tables, uint32(r.Table)) {
			continue
		}
		if !slices.Contains(out, r.Table) {
			out = append(out, r.Table)
		}
	}
	return out, nil
}

// covers reports whether a rule's network is none, or holds the address.
func covers(n *net.IPNet, a netip.Addr) bool {
	return n == nil || a.IsValid() && n.Contains(a.AsSlice())
}

// dump reads the routes of one table and family; the kernel sends no others (Linux 4.20).
func dump(v4 bool, table int) ([]route, error) {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if err := h.SetStrictCheck(true); err != nil {
		return nil, err
	}
	family, all := netlink.FAMILY_V4, netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	if !v4 {
		family, all = netlink.FAMILY_V6, netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	list, err := h.RouteListFiltered(family, &netlink.Route{Table: table}, netlink.RT_FILTER_TABLE)
	if errors.Is(err, syscall.ENOENT) {
		return nil, nil // no table yet
	}
	var out []route
	for _, r := range list {
		if r.Type != unix.RTN_UNICAST {
			continue
		}
		one := route{dst: all, metric: r.Priority}
		if r.Dst != nil {
			bits, _ := r.Dst.Mask.Size()
			one.dst = netip.PrefixFrom(address(r.Dst.IP), bits)
		}
		hops := r.MultiPath
		if len(hops) == 0 {
			hops = []*netlink.NexthopInfo{{LinkIndex: r.LinkIndex, Gw: r.Gw}}
		}
		for _, hop := range hops {
			one.path = Path{Link: hop.LinkIndex, Source: address(r.Src), Gateway: address(hop.Gw)}
			out = append(out, one)
		}
	}
	return out, err
}

// sourceOn returns the address of a link for packets to a neighbour: one of the same subnet, or else the first.
func sourceOn(link int, to netip.Addr) netip.Addr {
	l, err := netlink.LinkByIndex(link)
	if err != nil {
		return netip.Addr{}
	}
	family := netlink.FAMILY_V4
	if to.Is6() {
		family = netlink.FAMILY_V6
	}
	list, err := netlink.AddrList(l, family)
	if err != nil {
		return netip.Addr{}
	}
	var first netip.Addr
	for _, a := range list {
		addr := address(a.IP)
		const unfit = unix.IFA_F_TENTATIVE | unix.IFA_F_DADFAILED | unix.IFA_F_DEPRECATED
		if a.Flags&unfit != 0 || !addr.IsGlobalUnicast() {
			continue
		}
		if a.IPNet != nil && a.IPNet.Contains(to.AsSlice()) {
			return addr
		}
		if !first.IsValid() {
			first = addr
		}
	}
	return first
}

func address(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a.Unmap()
}
