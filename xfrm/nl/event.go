package nl

import (
	"fmt"
	"net/netip"

	"github.com/ipsecd/ipsecd/xfrm"
)

// parseEvent reads a message of the XFRM event groups. It returns nil for one we
// have no use for. The index is that of the interface of the policy's or SA's
// selector, whose name the codec does not know.
func parseEvent(typ uint16, b []byte) (ev xfrm.Event, ifindex int, err error) {
	switch typ {
	case msgAcquire:
		return parseAcquire(b)
	case msgExpire:
		return parseExpire(b)
	case msgPolExpire:
		return parsePolicyExpire(b)
	case msgMapping:
		ev, err = parseMapping(b)
		return ev, 0, err
	}
	return nil, 0, nil
}

// parseAcquire reads an xfrm_user_acquire: identity and addresses of the SA that
// is missing, the packet's selector, the policy, and as attributes the policy's
// templates, mark and interface ID.
func parseAcquire(b []byte) (xfrm.Event, int, error) {
	if len(b) < sizeAcquire {
		return nil, 0, short("acquire", b, sizeAcquire)
	}
	var ev xfrm.AcquireEvent
	var packetIf int
	ev.Packet, packetIf = getSelector(b[40:])
	if packetIf != 0 {
		ev.Packet.Interface = fmt.Sprintf("#%d", packetIf)
	}
	p, ifindex, ok := parsePolicyInfo(b[96:])
	if !ok {
		return nil, 0, nil // a socket's policy
	}
	ev.Seq = ne.Uint32(b[276:])
	err := attrs(b[sizeAcquire:], func(typ uint16, d []byte) error {
		if typ == attrSAPCPU {
			ev.CPU = xfrm.CPU{Bound: true, Number: ne.Uint32(d)}
		}
		return parsePolicyAttr(&p, typ, d)
	})
	if err != nil {
		return nil, 0, err
	}
	ev.Policy = p
	ev.Proto = xfrm.Proto(b[20])
	fam := ne.Uint16(b[40+40:])
	for _, t := range p.Templates {
		if t.Proto != ev.Proto {
			continue
		}
		ev.ReqID, ev.Mode = t.ReqID, t.Mode
		if t.Dst.IsValid() {
			fam = family(t.Dst)
		}
		break
	}
	ev.Dst, ev.Src = getAddrOrAny(b, fam), getAddrOrAny(b[24:], fam)
	return ev, ifindex, nil
}

// parseExpire reads an xfrm_user_expire: the SA, then whether the limit was hard.
func parseExpire(b []byte) (xfrm.Event, int, error) {
	if len(b) < sizeExpire {
		return nil, 0, short("expire", b, sizeExpire)
	}
	ev := xfrm.ExpireEvent{Hard: b[sizeUserSAInfo] != 0}
	var ifindex int
	ev.SA, ifindex = parseSAInfo(b)
	err := attrs(b[sizeExpire:], func(typ uint16, d []byte) error { return parseSAAttr(&ev.SA, typ, d) })
	if err != nil {
		return nil, 0, err
	}
	ev.SA.AEAD, ev.SA.Auth, ev.SA.Crypt = nil, nil, nil
	return ev, ifindex, nil
}

// parsePolicyExpire reads an xfrm_user_polexpire.
func parsePolicyExpire(b []byte) (xfrm.Event, int, error) {
	if len(b) < sizePolExpire {
		return nil, 0, short("policy expire", b, sizePolExpire)
	}
	p, ifindex, ok := parsePolicyInfo(b)
	if !ok {
		return nil, 0, nil
	}
	err := attrs(b[sizePolExpire:], func(typ uint16, d []byte) error { return parsePolicyAttr(&p, typ, d) })
	if err != nil {
		return nil, 0, err
	}
	return xfrm.PolicyExpireEvent{Policy: p, Hard: b[sizePolicyInfo] != 0}, ifindex, nil
}

// parseMapping reads an xfrm_user_mapping.
func parseMapping(b []byte) (xfrm.Event, error) {
	if len(b) < sizeMapping {
		return nil, short("mapping", b, sizeMapping)
	}
	fam := ne.Uint16(b[20:])
	return xfrm.MappingEvent{
		ID:    xfrm.SAID{Dst: getAddr(b, fam), SPI: xfrm.SPI(be.Uint32(b[16:])), Proto: xfrm.Proto(b[22])},
		ReqID: ne.Uint32(b[24:]),
		Old:   netip.AddrPortFrom(getAddr(b[28:], fam), be.Uint16(b[60:])),
		New:   netip.AddrPortFrom(getAddr(b[44:], fam), be.Uint16(b[62:])),
	}, nil
}
