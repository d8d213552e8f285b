package routing

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Sizes of the fixed headers, and attributes that x/sys/unix lacks.
const (
	sizeNhmsg     = 8
	sizeNhGroup   = 8
	sizeRtNexthop = 8
	rtaNHID       = 30 // RTA_NH_ID
	nhaFDB        = 11 // NHA_FDB
)

// flags of the request for each verb. Replace without create fails if there
// is nothing to replace, which is how a wrong idea of the kernel shows.
var flags = [...]netlink.HeaderFlags{
	AddNexthop:     netlink.Create | netlink.Excl,
	ReplaceNexthop: netlink.Replace,
	DeleteNexthop:  0,
	AddRoute:       netlink.Create | netlink.Excl,
	ReplaceRoute:   netlink.Replace,
	DeleteRoute:    0,
}

var messageTypes = [...]netlink.HeaderType{
	AddNexthop:     unix.RTM_NEWNEXTHOP,
	ReplaceNexthop: unix.RTM_NEWNEXTHOP,
	DeleteNexthop:  unix.RTM_DELNEXTHOP,
	AddRoute:       unix.RTM_NEWROUTE,
	ReplaceRoute:   unix.RTM_NEWROUTE,
	DeleteRoute:    unix.RTM_DELROUTE,
}

// encodeOp returns the request for op, without acknowledgement.
func encodeOp(op Op) (netlink.Message, error) {
	if int(op.Verb) >= len(flags) {
		return netlink.Message{}, fmt.Errorf("unknown verb %d", op.Verb)
	}
	m := netlink.Message{Header: netlink.Header{Type: messageTypes[op.Verb], Flags: netlink.Request | flags[op.Verb]}}
	switch op.Verb {
	case AddNexthop, ReplaceNexthop:
		m.Data = appendNexthop(nil, op.Nexthop)
	case DeleteNexthop:
		m.Data = appendU32(make([]byte, sizeNhmsg), unix.NHA_ID, op.Nexthop.ID)
	case AddRoute, ReplaceRoute:
		m.Data = appendRoute(make([]byte, 0, 64), op.Route)
	case DeleteRoute:
		m.Data = appendRouteID(make([]byte, 0, 64), op.Route, unix.RTN_UNSPEC, unix.RT_SCOPE_NOWHERE)
	}
	return m, nil
}

// appendNexthop writes struct nhmsg and its attributes.
func appendNexthop(b []byte, o NexthopObject) []byte {
	family, nhFlags := family(o.Gateway), uint32(0)
	if o.Group != nil {
		family = unix.AF_UNSPEC
	} else {
		nhFlags = unix.RTNH_F_ONLINK
	}
	b = append(b, family, 0, o.Protocol, 0)
	b = binary.NativeEndian.AppendUint32(b, nhFlags)
	b = appendU32(b, unix.NHA_ID, o.ID)
	if o.Group == nil {
		b = appendU32(b, unix.NHA_OIF, uint32(o.Index))
		return appendAttr(b, unix.NHA_GATEWAY, o.Gateway.AsSlice())
	}
	group := make([]byte, 0, sizeNhGroup*len(o.Group))
	for _, e := range o.Group {
		group = binary.NativeEndian.AppendUint32(group, e.ID)
		group = append(group, e.Weight-1, 0, 0, 0)
	}
	return appendAttr(b, unix.NHA_GROUP, group)
}

// appendRoute writes struct rtmsg and the attributes of a route of ours.
func appendRoute(b []byte, r RouteEntry) []byte {
	kind := uint8(unix.RTN_UNICAST)
	switch r.Kind {
	case Blackhole:
		kind = unix.RTN_BLACKHOLE
	case Unreachable:
		kind = unix.RTN_UNREACHABLE
	}
	b = appendRouteID(b, r, kind, unix.RT_SCOPE_UNIVERSE)
	switch {
	case r.Kind != Unicast:
	case r.NexthopID != 0:
		b = appendU32(b, rtaNHID, r.NexthopID)
	default:
		b = appendHops(b, r.Prefix, r.Hops)
	}
	return b
}

// appendRouteID writes what identifies a route, and its owner.
func appendRouteID(b []byte, r RouteEntry, kind, scope uint8) []byte {
	table := uint8(unix.RT_TABLE_UNSPEC)
	if r.Table < 256 {
		table = uint8(r.Table)
	}
	b = append(b, family(r.Prefix.Addr()), uint8(r.Prefix.Bits()), 0, 0, table, r.Protocol, scope, kind, 0, 0, 0, 0)
	b = appendAttr(b, unix.RTA_DST, r.Prefix.Addr().AsSlice())
	b = appendU32(b, unix.RTA_TABLE, r.Table)
	return appendU32(b, unix.RTA_PRIORITY, r.Metric)
}

// appendHops writes RTA_MULTIPATH: a struct rtnexthop for each hop, followed
// by its gateway.
func appendHops(b []byte, prefix netip.Prefix, hops []Hop) []byte {
	var list []byte
	for _, h := range hops {
		gateway := appendGateway(nil, prefix, h.Gateway)
		list = binary.NativeEndian.AppendUint16(list, uint16(sizeRtNexthop+len(gateway)))
		list = append(list, unix.RTNH_F_ONLINK, h.Weight-1)
		list = binary.NativeEndian.AppendUint32(list, uint32(h.Index))
		list = append(list, gateway...)
	}
	return appendAttr(b, unix.RTA_MULTIPATH, list)
}

// appendGateway writes RTA_GATEWAY, or RTA_VIA if an IPv4 route has an IPv6
// gateway (RFC 8950).
func appendGateway(b []byte, prefix netip.Prefix, gw netip.Addr) []byte {
	if prefix.Addr().Is4() && gw.Is6() {
		via := binary.NativeEndian.AppendUint16(nil, unix.AF_INET6)
		return appendAttr(b, unix.RTA_VIA, append(via, gw.AsSlice()...))
	}
	return appendAttr(b, unix.RTA_GATEWAY, gw.AsSlice())
}

func family(a netip.Addr) uint8 {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

func appendU32(b []byte, typ uint16, v uint32) []byte {
	b = binary.NativeEndian.AppendUint16(b, 8)
	b = binary.NativeEndian.AppendUint16(b, typ)
	return binary.NativeEndian.AppendUint32(b, v)
}

// appendAttr writes one attribute, padded to four bytes.
func appendAttr(b []byte, typ uint16, data []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(unix.SizeofRtAttr+len(data)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = append(b, data...)
	for len(b)%unix.RTA_ALIGNTO != 0 {
		b = append(b, 0)
	}
	return b
}
