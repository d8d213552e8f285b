package nl

import (
	"bytes"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// parseLinkEvent reads a message of the rtnetlink link and address groups. It
// returns nil for one we have no use for.
func parseLinkEvent(typ uint16, b []byte) (xfrm.Event, error) {
	switch typ {
	case unix.RTM_NEWLINK, unix.RTM_DELLINK:
		return parseLink(b, typ == unix.RTM_DELLINK)
	case unix.RTM_NEWADDR, unix.RTM_DELADDR:
		return parseAddress(b, typ == unix.RTM_DELADDR)
	}
	return nil, nil
}

// parseLink reads an ifinfomsg: family, type, index, flags, change mask.
func parseLink(b []byte, deleted bool) (xfrm.Event, error) {
	if len(b) < unix.SizeofIfInfomsg {
		return nil, short("link", b, unix.SizeofIfInfomsg)
	}
	if b[0] != unix.AF_UNSPEC {
		return nil, nil // a bridge port's or an IPv6 setting's
	}
	flags := ne.Uint32(b[8:])
	ev := xfrm.LinkEvent{
		Index:   int(int32(ne.Uint32(b[4:]))),
		Up:      flags&unix.IFF_UP != 0,
		Running: flags&unix.IFF_LOWER_UP != 0,
		Deleted: deleted,
	}
	err := plainAttrs(b[unix.SizeofIfInfomsg:], func(typ uint16, d []byte) {
		if typ == unix.IFLA_IFNAME {
			name, _, _ := bytes.Cut(d, []byte{0})
			ev.Name = string(name)
		}
	})
	if err != nil {
		return nil, err
	}
	return ev, nil
}

// parseAddress reads an ifaddrmsg: family, prefix length, flags, scope, index. With
// a peer, IFA_ADDRESS is the peer's and IFA_LOCAL ours.
func parseAddress(b []byte, deleted bool) (xfrm.Event, error) {
	if len(b) < unix.SizeofIfAddrmsg {
		return nil, short("address", b, unix.SizeofIfAddrmsg)
	}
	var local, address netip.Addr
	err := plainAttrs(b[unix.SizeofIfAddrmsg:], func(typ uint16, d []byte) {
		switch a, _ := netip.AddrFromSlice(d); typ {
		case unix.IFA_LOCAL:
			local = a
		case unix.IFA_ADDRESS:
			address = a
		}
	})
	if err != nil {
		return nil, err
	}
	if !local.IsValid() {
		local = address
	}
	if !local.IsValid() {
		return nil, nil
	}
	return xfrm.AddrEvent{
		Index:   int(ne.Uint32(b[4:])),
		Address: netip.PrefixFrom(local, min(int(b[1]), local.BitLen())),
		Deleted: deleted,
	}, nil
}
