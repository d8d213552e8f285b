package nl

import (
	"errors"
	"net"
	"net/netip"
	"slices"

	vnl "github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// AddInterface creates an XFRM interface and leaves it down.
func (k *Kernel) AddInterface(i xfrm.Interface) error {
	if err := k.features.Require(xfrm.XFRMInterfaces); err != nil {
		return err
	}
	attrs := vnl.NewLinkAttrs()
	attrs.Name = i.Name
	attrs.MTU = i.MTU
	if i.Parent != "" {
		p, err := k.route.LinkByName(i.Parent)
		if err != nil {
			return kernelError("add interface", i.Name+" on "+i.Parent, err)
		}
		attrs.ParentIndex = p.Attrs().Index
	}
	link := &vnl.Xfrmi{LinkAttrs: attrs, Ifid: i.IfID}
	if err := k.route.LinkAdd(link); err != nil {
		return kernelError("add interface", i.Name, err)
	}
	err := k.setAlias(i)
	if err == nil {
		err = k.UpdateInterface(i)
	}
	if err != nil {
		return errors.Join(err, kernelError("delete interface", i.Name, k.route.LinkDel(link)))
	}
	return nil
}

func (k *Kernel) setAlias(i xfrm.Interface) error {
	if i.Alias == "" {
		return nil
	}
	l, err := k.route.LinkByName(i.Name)
	if err == nil {
		err = k.route.LinkSetAlias(l, i.Alias)
	}
	return kernelError("set alias of interface", i.Name, err)
}

// UpdateInterface makes MTU and addresses what they should be.
func (k *Kernel) UpdateInterface(i xfrm.Interface) error {
	l, err := k.route.LinkByName(i.Name)
	if err != nil {
		return kernelError("update interface", i.Name, err)
	}
	if i.MTU != 0 && l.Attrs().MTU != i.MTU {
		if err := k.route.LinkSetMTU(l, i.MTU); err != nil {
			return kernelError("set MTU of interface", i.Name, err)
		}
	}
	have, err := k.addresses(l)
	if err != nil {
		return err
	}
	add, del := xfrm.DiffAddresses(i.Addresses, have)
	if i.Alias == "" {
		del = nil // not our interface
	}
	for _, a := range add {
		err := k.route.AddrAdd(l, toAddr(a))
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return kernelError("add address", a.Prefix.String()+" to interface "+i.Name, err)
		}
	}
	for _, a := range del {
		err := k.route.AddrDel(l, toAddr(a))
		if err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
			return kernelError("delete address", a.Prefix.String()+" from interface "+i.Name, err)
		}
	}
	return nil
}

// SetInterfaceUp raises or lowers an interface.
func (k *Kernel) SetInterfaceUp(name string, up bool) error {
	op, set := "lower interface", k.route.LinkSetDown
	if up {
		op, set = "raise interface", k.route.LinkSetUp
	}
	l, err := k.route.LinkByName(name)
	if err == nil {
		err = set(l)
	}
	return kernelError(op, name, err)
}

// DelInterface removes an interface.
func (k *Kernel) DelInterface(name string) error {
	l, err := k.route.LinkByName(name)
	if err == nil {
		err = k.route.LinkDel(l)
	}
	return kernelError("delete interface", name, err)
}

// Interfaces dumps all XFRM interfaces.
func (k *Kernel) Interfaces() ([]xfrm.InterfaceInfo, error) {
	links, err := retryDump(k.route.LinkList)
	if err != nil {
		return nil, kernelError("dump", "interfaces", err)
	}
	var out []xfrm.InterfaceInfo
	for _, l := range links {
		x, ok := l.(*vnl.Xfrmi)
		if !ok {
			continue
		}
		i := xfrm.InterfaceInfo{Index: x.Index, Interface: xfrm.Interface{
			Name: x.Name, IfID: x.Ifid, MTU: x.MTU, Alias: x.Alias, Up: x.Flags&net.FlagUp != 0,
		}}
		if n := slices.IndexFunc(links, func(p vnl.Link) bool { return p.Attrs().Index == x.ParentIndex }); n >= 0 {
			i.Parent = links[n].Attrs().Name
		}
		if i.Addresses, err = k.addresses(l); err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}

func (k *Kernel) addresses(l vnl.Link) ([]xfrm.Address, error) {
	list, err := retryDump(func() ([]vnl.Addr, error) { return k.route.AddrList(l, vnl.FAMILY_ALL) })
	if err != nil {
		return nil, kernelError("dump", "addresses of interface "+l.Attrs().Name, err)
	}
	var out []xfrm.Address
	for i := range list {
		if a, ok := fromAddr(&list[i]); ok {
			out = append(out, a)
		}
	}
	return out, nil
}

// retryDump repeats a dump that changes interrupted.
func retryDump[T any](dump func() ([]T, error)) (list []T, err error) {
	for range maxDumpTries {
		if list, err = dump(); !errors.Is(err, vnl.ErrDumpInterrupted) {
			break
		}
	}
	return list, err
}

func toAddr(a xfrm.Address) *vnl.Addr {
	out := &vnl.Addr{IPNet: ipNet(a.Prefix.Addr(), a.Prefix.Bits())}
	if a.Peer.IsValid() {
		out.Peer = ipNet(a.Peer, a.Prefix.Bits())
		out.IPNet = ipNet(a.Prefix.Addr(), a.Prefix.Addr().BitLen())
	}
	return out
}

func ipNet(a netip.Addr, bits int) *net.IPNet {
	return &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(bits, a.BitLen())}
}

// fromAddr is the reverse of toAddr.
func fromAddr(a *vnl.Addr) (xfrm.Address, bool) {
	if a.IPNet == nil {
		return xfrm.Address{}, false
	}
	ip, ok := netip.AddrFromSlice(a.IP)
	if !ok {
		return xfrm.Address{}, false
	}
	ip = ip.Unmap()
	bits, _ := a.Mask.Size()
	out := xfrm.Address{}
	if a.Peer != nil {
		if peer, ok := netip.AddrFromSlice(a.Peer.IP); ok && peer.Unmap() != ip {
			out.Peer = peer.Unmap()
			bits, _ = a.Peer.Mask.Size()
		}
	}
	out.Prefix = netip.PrefixFrom(ip, bits)
	return out, true
}
