package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"

	"github.com/ipsecd/ipsecd/ike"
)

// protocols are the names of IP protocols that selectors use.
var protocols = map[string]uint8{
	"any": 0, "icmp": protoICMP, "igmp": 2, "ipencap": 4, "tcp": 6, "udp": 17, "ipv6": 41, "gre": 47,
	"esp": 50, "ah": 51, "ipv6-icmp": protoICMPv6, "icmpv6": protoICMPv6, "ospf": 89, "vrrp": 112, "l2tp": 115, "sctp": 132,
}

const (
	protoICMP   = 1
	protoICMPv6 = 58
)

// parseSelector reads one item of local_ts and remote_ts: "dynamic", a subnet,
// an address or a range, and optionally a protocol with ports in brackets.
func parseSelector(s string) (ike.TrafficSelector, error) {
	ts := ike.TrafficSelector{EndPort: math.MaxUint16}
	addrs, rest, bracket := strings.Cut(s, "[")
	addrs = strings.TrimSpace(addrs)
	if bracket {
		inner, ok := strings.CutSuffix(strings.TrimSpace(rest), "]")
		if !ok {
			return ts, errors.New("the '[' has no closing ']'")
		}
		if err := selectorPorts(&ts, inner); err != nil {
			return ts, err
		}
	}
	if addrs == "dynamic" {
		ts.Dynamic = true
		return ts, nil
	}
	return ts, selectorAddrs(&ts, addrs)
}

func selectorAddrs(ts *ike.TrafficSelector, s string) error {
	if p, err := netip.ParsePrefix(s); err == nil {
		p = p.Masked()
		ts.Start, ts.End = p.Addr(), lastAddr(p)
		return nil
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		ts.Start, ts.End = a.Unmap(), a.Unmap()
		return nil
	}
	if first, last, ok := parseRange(s); ok {
		ts.Start, ts.End = first, last
		return checkRange(first, last)
	}
	return errors.New("expected a subnet such as 10.1.0.0/16, a range, or dynamic; then optionally [protocol/port]")
}

// selectorPorts reads what stands in the brackets.
func selectorPorts(ts *ike.TrafficSelector, s string) error {
	name, ports, hasPorts := strings.Cut(strings.TrimSpace(s), "/")
	name = strings.ToLower(strings.TrimSpace(name))
	if p, ok := protocols[name]; ok {
		ts.Protocol = p
	} else if n, err := parseUint(name); err == nil && n <= math.MaxUint8 {
		ts.Protocol = uint8(n)
	} else {
		return fmt.Errorf("protocol %q: expected a number, or a name such as tcp, udp, icmp or gre", name)
	}
	if !hasPorts {
		return nil
	}
	switch ports = strings.TrimSpace(ports); ports {
	case "any":
		return nil
	case "opaque": // RFC 7296 section 3.13.1
		ts.StartPort, ts.EndPort = math.MaxUint16, 0
		return nil
	}
	first, last, isRange := strings.Cut(ports, "-")
	if !isRange {
		last = first
	}
	start, err1 := parseUint(strings.TrimSpace(first))
	end, err2 := parseUint(strings.TrimSpace(last))
	if err1 != nil || err2 != nil || start > math.MaxUint16 || end > math.MaxUint16 || start > end {
		return fmt.Errorf("port %q: expected a number up to 65535, a range, any or opaque", ports)
	}
	if ts.Protocol == protoICMP || ts.Protocol == protoICMPv6 {
		start, end = icmpPorts(start, end)
	}
	ts.StartPort, ts.EndPort = uint16(start), uint16(end)
	return nil
}

// icmpPorts turns numbers below 256, which are types, into the type and code
// octets of RFC 7296 section 3.13.1.
func icmpPorts(start, end uint64) (uint64, uint64) {
	if start <= math.MaxUint8 {
		start <<= 8
	}
	if end <= math.MaxUint8 {
		end = end<<8 | math.MaxUint8
	}
	return start, end
}

// anySelector is what a child without selectors has: the addresses of the IKE SA.
func anySelector() []ike.TrafficSelector {
	return []ike.TrafficSelector{{Dynamic: true, EndPort: math.MaxUint16}}
}
