package srcroute

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/routing/lookup"
)

// Linux is the kernel of this machine, in the present network namespace. The filter says which ways to peers count.
func Linux(table, priority int, ways lookup.Filter) Kernel { return linux{table, priority, ways} }

type linux struct {
	table, priority int
	ways            lookup.Filter
}

func (linux) Addresses() ([]netip.Addr, error) {
	list, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("reading addresses: %w", err)
	}
	var out []netip.Addr
	for _, a := range list {
		addr, ok := netip.AddrFromSlice(a.IP)
		addr = addr.Unmap()
		if ok && !addr.IsLoopback() && !addr.IsLinkLocalUnicast() && a.Flags&(unix.IFA_F_TENTATIVE|unix.IFA_F_DADFAILED) == 0 {
			out = append(out, addr)
		}
	}
	return out, nil
}

func (k linux) Nexthop(dst netip.Addr) (Nexthop, error) {
	p, err := k.ways.Find(dst, netip.Addr{})
	return Nexthop{Gateway: p.Gateway, Link: p.Link}, err
}

func (k linux) Routes() ([]Route, error) {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("netlink: %w", err)
	}
	defer h.Close()
	// The kernel sends this table only, however many routes there are in others (Linux 4.20).
	if err := h.SetStrictCheck(true); err != nil {
		return nil, fmt.Errorf("netlink: %w", err)
	}
	var out []Route
	for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		list, err := h.RouteListFiltered(family, &netlink.Route{Table: k.table}, netlink.RT_FILTER_TABLE)
		if errors.Is(err, syscall.ENOENT) {
			continue // no table yet
		}
		if err != nil {
			return nil, fmt.Errorf("reading routing table %d: %w", k.table, err)
		}
		for _, r := range list {
			out = append(out, fromKernel(r, family))
		}
	}
	return out, nil
}

func fromKernel(r netlink.Route, family int) Route {
	out := Route{Dst: netip.PrefixFrom(netip.IPv4Unspecified(), 0), Link: r.LinkIndex, Throw: r.Type == unix.RTN_THROW}
	if family == netlink.FAMILY_V6 {
		out.Dst = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	if r.Dst != nil {
		a, _ := netip.AddrFromSlice(r.Dst.IP)
		bits, _ := r.Dst.Mask.Size()
		out.Dst = netip.PrefixFrom(a.Unmap(), bits)
	}
	if out.Throw {
		return Route{Dst: out.Dst, Throw: true} // IPv6 has them on lo
	}
	src, _ := netip.AddrFromSlice(r.Src)
	gw, _ := netip.AddrFromSlice(r.Gw)
	out.Src, out.Gateway = src.Unmap(), gw.Unmap()
	return out
}

func (k linux) toKernel(r Route) *netlink.Route {
	out := &netlink.Route{
		Dst:   &net.IPNet{IP: r.Dst.Addr().AsSlice(), Mask: net.CIDRMask(r.Dst.Bits(), r.Dst.Addr().BitLen())},
		Table: k.table, Protocol: unix.RTPROT_STATIC,
	}
	if r.Throw {
		out.Type = unix.RTN_THROW
		return out
	}
	out.LinkIndex, out.Src = r.Link, r.Src.AsSlice()
	if r.Gateway.IsValid() {
		out.Gw = r.Gateway.AsSlice()
	}
	return out
}

func (k linux) Set(r Route) error {
	if err := netlink.RouteReplace(k.toKernel(r)); err != nil {
		return fmt.Errorf("route to %v in table %d: %w", r.Dst, k.table, err)
	}
	return nil
}

func (k linux) Delete(r Route) error {
	err := netlink.RouteDel(k.toKernel(r))
	if err != nil && !errors.Is(err, syscall.ESRCH) && !errors.Is(err, syscall.ENODEV) {
		return fmt.Errorf("route to %v in table %d: %w", r.Dst, k.table, err)
	}
	return nil
}

func (k linux) SetRules(on bool) error {
	var errs []error
	for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		rule := netlink.NewRule()
		rule.Family, rule.Table, rule.Priority = family, k.table, k.priority
		err := error(nil)
		if on {
			if err = netlink.RuleAdd(rule); errors.Is(err, syscall.EEXIST) || family == netlink.FAMILY_V6 && errors.Is(err, syscall.EAFNOSUPPORT) {
				err = nil // of an earlier run; a host without IPv6
			}
		} else if err = netlink.RuleDel(rule); errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EAFNOSUPPORT) {
			err = nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("rule %d for routing table %d: %w", k.priority, k.table, err))
		}
	}
	return errors.Join(errs...)
}
