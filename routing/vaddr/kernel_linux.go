package vaddr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// ifaProto is IFA_PROTO, the attribute of an address that says who has added it.
const ifaProto = 11

// Linux is the kernel of this machine, in the present network namespace.
func Linux() Kernel { return linux{} }

type linux struct{}

func (linux) LinkNamed(name string) (int, error) {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return 0, fmt.Errorf("link %s: %w", name, err)
	}
	return l.Attrs().Index, nil
}

func (linux) LinkOf(local netip.Addr) (int, error) {
	list, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return 0, fmt.Errorf("reading addresses: %w", err)
	}
	for _, a := range list {
		if addr, _ := netip.AddrFromSlice(a.IP); addr.Unmap() == local {
			return a.LinkIndex, nil
		}
	}
	return 0, fmt.Errorf("no link has the address %v", local)
}

func (linux) Ours() ([]Address, error) {
	req := nl.NewNetlinkRequest(unix.RTM_GETADDR, unix.NLM_F_DUMP)
	req.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
	messages, err := req.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWADDR)
	if err != nil {
		return nil, fmt.Errorf("reading addresses: %w", err)
	}
	var out []Address
	for _, m := range messages {
		msg := nl.DeserializeIfAddrmsg(m)
		attrs, err := nl.ParseRouteAttr(m[msg.Len():])
		if err != nil {
			return nil, fmt.Errorf("reading addresses: %w", err)
		}
		var addr netip.Addr
		ours := false
		for _, a := range attrs {
			switch {
			case a.Attr.Type == ifaProto:
				ours = len(a.Value) == 1 && a.Value[0] == Protocol
			case a.Attr.Type == unix.IFA_LOCAL, a.Attr.Type == unix.IFA_ADDRESS && !addr.IsValid():
				addr, _ = netip.AddrFromSlice(a.Value)
			}
		}
		if ours {
			out = append(out, Address{addr, int(msg.Index)})
		}
	}
	return out, nil
}

func (linux) Add(a Address) (bool, error) {
	const forever = ^uint32(0)
	req := request(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK, a)
	lifetimes := make([]byte, unix.SizeofIfaCacheinfo) // preferred for 0 s
	binary.NativeEndian.PutUint32(lifetimes[4:], forever)
	req.AddData(nl.NewRtAttr(unix.IFA_CACHEINFO, lifetimes))
	req.AddData(nl.NewRtAttr(unix.IFA_FLAGS, binary.NativeEndian.AppendUint32(nil, unix.IFA_F_NODAD)))
	req.AddData(nl.NewRtAttr(ifaProto, []byte{Protocol}))
	_, err := req.Execute(unix.NETLINK_ROUTE, 0)
	if errors.Is(err, syscall.EEXIST) {
		return false, nil
	}
	return err == nil, err
}

func (linux) Delete(a Address) error {
	_, err := request(unix.RTM_DELADDR, unix.NLM_F_ACK, a).Execute(unix.NETLINK_ROUTE, 0)
	if err == nil || errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return fmt.Errorf("removing the virtual address %v: %w", a.Addr, err)
}

func request(kind, flags int, a Address) *nl.NetlinkRequest {
	family := unix.AF_INET
	if a.Addr.Is6() {
		family = unix.AF_INET6
	}
	req := nl.NewNetlinkRequest(kind, flags)
	msg := nl.NewIfAddrmsg(family)
	msg.Index, msg.Prefixlen = uint32(a.Link), uint8(a.Addr.BitLen())
	req.AddData(msg)
	req.AddData(nl.NewRtAttr(unix.IFA_LOCAL, a.Addr.AsSlice()))
	req.AddData(nl.NewRtAttr(unix.IFA_ADDRESS, a.Addr.AsSlice()))
	return req
}
