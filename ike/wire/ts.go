package wire

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"golang.org/x/crypto/cryptobyte"
)

// TSType is the type of a traffic selector (RFC 7296 section 3.13.1).
type TSType uint8

// Traffic selector types.
const (
	TSIPv4AddrRange TSType = 7
	TSIPv6AddrRange TSType = 8
)

// String returns the name that the RFCs use, such as "TS_IPV4_ADDR_RANGE".
func (t TSType) String() string {
	switch t {
	case TSIPv4AddrRange:
		return "TS_IPV4_ADDR_RANGE"
	case TSIPv6AddrRange:
		return "TS_IPV6_ADDR_RANGE"
	}
	return numbered("TS", int(t))
}

// TrafficSelectors is a TSi or TSr payload (RFC 7296 section 3.13).
type TrafficSelectors struct {
	PayloadType PayloadType // PayloadTSi or PayloadTSr
	Selectors   []TrafficSelector
}

// TrafficSelector is one selector (RFC 7296 section 3.13.1). For the two address
// range types, First and Last are of the family of TSType and First <= Last.
// StartPort is 65535 and EndPort 0 for OPAQUE; for ICMP the ports are
// type and code. Selectors of other types are kept in Unknown only.
type TrafficSelector struct {
	TSType    TSType
	Protocol  uint8 // IP protocol, 0 for any
	StartPort uint16
	EndPort   uint16
	First     netip.Addr
	Last      netip.Addr
	Unknown   []byte // what follows the length field of a selector of another type
}

// Type returns p.PayloadType.
func (p *TrafficSelectors) Type() PayloadType { return p.PayloadType }

func (p *TrafficSelectors) appendBody(dst []byte) ([]byte, error) {
	if p.PayloadType != PayloadTSi && p.PayloadType != PayloadTSr {
		return dst, errType
	}
	if n := len(p.Selectors); n < 1 || n > 0xff {
		return dst, fmt.Errorf("%d traffic selectors, want 1 to 255", n)
	}
	out := append(dst, byte(len(p.Selectors)), 0, 0, 0)
	for i := range p.Selectors {
		var err error
		if out, err = p.Selectors[i].append(out); err != nil {
			return dst, fmt.Errorf("traffic selector %d: %w", i+1, err)
		}
	}
	return out, nil
}

// tsHeaderLen covers TS type, IP protocol and selector length.
const tsHeaderLen = 4

// append appends the selector (RFC 7296 section 3.13.1).
func (t *TrafficSelector) append(dst []byte) ([]byte, error) {
	start := len(dst)
	out := append(dst, byte(t.TSType), t.Protocol, 0, 0)
	switch t.TSType {
	case TSIPv4AddrRange, TSIPv6AddrRange:
		if err := t.checkRange(); err != nil {
			return dst, err
		}
		out = binary.BigEndian.AppendUint16(out, t.StartPort)
		out = binary.BigEndian.AppendUint16(out, t.EndPort)
		out = append(out, t.First.AsSlice()...)
		out = append(out, t.Last.AsSlice()...)
	default:
		out = append(out, t.Unknown...)
	}
	n := len(out) - start
	if n > 0xffff {
		return dst, ErrTooLong
	}
	binary.BigEndian.PutUint16(out[start+2:], uint16(n))
	return out, nil
}

// checkRange verifies that the addresses are of the type's family and in order.
func (t *TrafficSelector) checkRange() error {
	bits := 8 * t.TSType.addrLen()
	if t.First.BitLen() != bits || t.Last.BitLen() != bits {
		return fmt.Errorf("addresses do not fit %v", t.TSType)
	}
	if t.Last.Less(t.First) {
		return fmt.Errorf("address range ends before it starts")
	}
	return nil
}

// addrLen is the length of an address in octets, 0 for types without addresses.
func (t TSType) addrLen() int {
	switch t {
	case TSIPv4AddrRange:
		return 4
	case TSIPv6AddrRange:
		return 16
	}
	return 0
}

func parseTrafficSelectors(typ PayloadType, s cryptobyte.String, limits *Limits) (*TrafficSelectors, error) {
	var count uint8
	if !s.ReadUint8(&count) || !s.Skip(3) {
		return nil, malformed("no room for the number of traffic selectors")
	}
	if count == 0 {
		return nil, malformed("no traffic selector")
	}
	if int(count) > limits.MaxSelectors {
		return nil, &LimitError{What: "traffic selectors", Limit: limits.MaxSelectors}
	}
	if len(s) < int(count)*tsHeaderLen {
		return nil, malformed("%d traffic selectors in %d octets", count, len(s))
	}
	p := &TrafficSelectors{PayloadType: typ, Selectors: make([]TrafficSelector, count)}
	for i := range p.Selectors {
		if err := p.Selectors[i].parse(&s); err != nil {
			return nil, malformed("traffic selector %d: %v", i+1, err)
		}
	}
	if !s.Empty() {
		return nil, malformed("%d octets follow the %d traffic selectors", len(s), count)
	}
	return p, nil
}

// parse takes one selector from s.
func (t *TrafficSelector) parse(s *cryptobyte.String) error {
	var (
		length uint16
		body   []byte
	)
	if !s.ReadUint8((*uint8)(&t.TSType)) || !s.ReadUint8(&t.Protocol) || !s.ReadUint16(&length) ||
		length < tsHeaderLen || !s.ReadBytes(&body, int(length)-tsHeaderLen) {
		return fmt.Errorf("length does not fit")
	}
	n := t.TSType.addrLen()
	if n == 0 {
		t.Unknown = body
		return nil
	}
	if want := 4 + 2*n; len(body) != want {
		return fmt.Errorf("length field says %d octets, want %d for %v", length, tsHeaderLen+want, t.TSType)
	}
	t.StartPort = binary.BigEndian.Uint16(body)
	t.EndPort = binary.BigEndian.Uint16(body[2:])
	t.First, _ = netip.AddrFromSlice(body[4 : 4+n])
	t.Last, _ = netip.AddrFromSlice(body[4+n:])
	return t.checkRange()
}
