package routing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

var errShort = errors.New("message too short")

// decodeLink reads RTM_NEWLINK and RTM_DELLINK.
func decodeLink(b []byte) (Link, error) {
	if len(b) < unix.SizeofIfInfomsg {
		return Link{}, errShort
	}
	const usable = unix.IFF_UP | unix.IFF_LOWER_UP
	l := Link{
		Index: int(int32(binary.NativeEndian.Uint32(b[4:]))),
		Up:    binary.NativeEndian.Uint32(b[8:])&usable == usable,
	}
	ad, err := netlink.NewAttributeDecoder(b[unix.SizeofIfInfomsg:])
	if err != nil {
		return Link{}, err
	}
	for ad.Next() {
		if ad.Type() == unix.IFLA_IFNAME {
			l.Name = ad.String()
		}
	}
	return l, ad.Err()
}

// decodeNexthop reads RTM_NEWNEXTHOP and RTM_DELNEXTHOP.
func decodeNexthop(b []byte) (NexthopObject, error) {
	if len(b) < sizeNhmsg {
		return NexthopObject{}, errShort
	}
	o := NexthopObject{Protocol: b[2]}
	ad, err := netlink.NewAttributeDecoder(b[sizeNhmsg:])
	if err != nil {
		return NexthopObject{}, err
	}
	for ad.Next() {
		switch ad.Type() {
		case unix.NHA_ID:
			o.ID = ad.Uint32()
		case unix.NHA_OIF:
			o.Index = int(ad.Uint32())
		case unix.NHA_GATEWAY:
			ad.Do(func(b []byte) (err error) {
				o.Gateway, err = decodeAddr(b)
				return err
			})
		case unix.NHA_GROUP:
			ad.Do(func(b []byte) (err error) {
				o.Group, err = decodeGroup(b)
				return err
			})
		case unix.NHA_GROUP_TYPE:
			o.Other = o.Other || ad.Uint16() != 0 // not NEXTHOP_GRP_TYPE_MPATH
		case unix.NHA_BLACKHOLE, unix.NHA_ENCAP, nhaFDB:
			o.Other = true
		}
	}
	if o.Group == nil && !o.Gateway.IsValid() {
		o.Other = true
	}
	return o, ad.Err()
}

func decodeGroup(b []byte) ([]GroupEntry, error) {
	if len(b) == 0 || len(b)%sizeNhGroup != 0 {
		return nil, fmt.Errorf("group of %d bytes: want a multiple of %d", len(b), sizeNhGroup)
	}
	group := make([]GroupEntry, 0, len(b)/sizeNhGroup)
	for ; len(b) > 0; b = b[sizeNhGroup:] {
		group = append(group, GroupEntry{ID: binary.NativeEndian.Uint32(b), Weight: saturate(b[4])})
	}
	return group, nil
}

// saturate turns the kernel's weight minus one into a weight.
func saturate(w uint8) uint8 { return max(w, w+1) }

// decodeRoute reads RTM_NEWROUTE and RTM_DELROUTE. It reports false for what
// cannot be in the place of a route of ours: other address families, cached
// routes, and IPv4 routes for one type of service.
func decodeRoute(b []byte) (RouteEntry, bool, error) {
	if len(b) < unix.SizeofRtMsg {
		return RouteEntry{}, false, errShort
	}
	addr, err := zeroAddr(b[0])
	if err != nil || b[3] != 0 || binary.NativeEndian.Uint32(b[8:])&unix.RTM_F_CLONED != 0 {
		return RouteEntry{}, false, nil
	}
	r := RouteEntry{Protocol: b[5], Kind: kindOf(b[7])}
	r.Table = uint32(b[4])
	ad, err := netlink.NewAttributeDecoder(b[unix.SizeofRtMsg:])
	if err != nil {
		return RouteEntry{}, false, err
	}
	single := Hop{Weight: 1}
	for ad.Next() {
		switch ad.Type() {
		case unix.RTA_DST:
			ad.Do(func(b []byte) (err error) {
				addr, err = decodeAddr(b)
				return err
			})
		case unix.RTA_TABLE:
			r.Table = ad.Uint32()
		case unix.RTA_PRIORITY:
			r.Metric = ad.Uint32()
		case rtaNHID:
			r.NexthopID = ad.Uint32()
		case unix.RTA_OIF:
			single.Index = int(ad.Uint32())
		case unix.RTA_GATEWAY, unix.RTA_VIA:
			ad.Do(func(b []byte) (err error) {
				single.Gateway, err = decodeGateway(ad.Type(), b)
				return err
			})
		case unix.RTA_MULTIPATH:
			ad.Do(func(b []byte) (err error) {
				r.Hops, err = decodeHops(b)
				return err
			})
		}
	}
	if err := ad.Err(); err != nil {
		return RouteEntry{}, false, err
	}
	r.Prefix = netip.PrefixFrom(addr, int(b[1]))
	if !r.Prefix.IsValid() {
		return RouteEntry{}, false, fmt.Errorf("prefix length %d", b[1])
	}
	r.Prefix = r.Prefix.Masked()
	switch {
	case r.NexthopID != 0:
		r.Hops = nil // repeated for the benefit of old programs
	case r.Hops == nil && single.Index != 0:
		r.Hops = []Hop{single}
	}
	return r, true, nil
}

// decodeHops reads the struct rtnexthop list of RTA_MULTIPATH.
func decodeHops(b []byte) ([]Hop, error) {
	var hops []Hop
	for len(b) > 0 {
		if len(b) < sizeRtNexthop {
			return nil, errShort
		}
		n := int(binary.NativeEndian.Uint16(b))
		if n < sizeRtNexthop || n > len(b) {
			return nil, fmt.Errorf("hop of %d bytes in %d", n, len(b))
		}
		h := Hop{Index: int(int32(binary.NativeEndian.Uint32(b[4:]))), Weight: saturate(b[3])}
		ad, err := netlink.NewAttributeDecoder(b[sizeRtNexthop:n])
		if err != nil {
			return nil, err
		}
		for ad.Next() {
			if t := ad.Type(); t == unix.RTA_GATEWAY || t == unix.RTA_VIA {
				ad.Do(func(b []byte) (err error) {
					h.Gateway, err = decodeGateway(t, b)
					return err
				})
			}
		}
		if err := ad.Err(); err != nil {
			return nil, err
		}
		hops = append(hops, h)
		b = b[min(len(b), (n+3)&^3):]
	}
	return hops, nil
}

func decodeGateway(typ uint16, b []byte) (netip.Addr, error) {
	if typ == unix.RTA_VIA {
		if len(b) < 2 {
			return netip.Addr{}, errShort
		}
		b = b[2:] // address family
	}
	return decodeAddr(b)
}

func decodeAddr(b []byte) (netip.Addr, error) {
	a, ok := netip.AddrFromSlice(b)
	if !ok {
		return netip.Addr{}, fmt.Errorf("address of %d bytes", len(b))
	}
	return a, nil
}

func zeroAddr(family uint8) (netip.Addr, error) {
	switch family {
	case unix.AF_INET:
		return netip.IPv4Unspecified(), nil
	case unix.AF_INET6:
		return netip.IPv6Unspecified(), nil
	}
	return netip.Addr{}, errors.New("not IP")
}

func kindOf(rtnType uint8) RouteKind {
	switch rtnType {
	case unix.RTN_UNICAST:
		return Unicast
	case unix.RTN_BLACKHOLE:
		return Blackhole
	case unix.RTN_UNREACHABLE:
		return Unreachable
	}
	return OtherKind
}
