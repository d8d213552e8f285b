package show

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/ipsecd/ipsecd/ike"
)

// Selectors writes traffic selectors as charon does: 10.1.0.0/16[tcp/443].
func Selectors(list []ike.TrafficSelector) []string {
	out := make([]string, len(list))
	for i, ts := range list {
		out[i] = selectorString(ts)
	}
	return out
}

func selectorString(ts ike.TrafficSelector) string {
	s := "dynamic"
	if !ts.Dynamic {
		s = rangeString(ts.Start, ts.End)
	}
	anyPort := ts.StartPort == 0 && ts.EndPort == 0xffff
	if ts.Protocol == 0 && anyPort {
		return s
	}
	s += "[" + protocolString(ts.Protocol)
	if !anyPort {
		s += "/" + portString(ts.StartPort, ts.EndPort)
	}
	return s + "]"
}

// rangeString writes a range as a prefix where it is one.
func rangeString(start, end netip.Addr) string {
	for bits := 0; bits <= start.BitLen(); bits++ {
		p := netip.PrefixFrom(start, bits)
		if p.Masked().Addr() == start && p.Contains(end) && !p.Contains(end.Next()) {
			return p.String()
		}
	}
	return start.String() + ".." + end.String()
}

var protocolNames = map[uint8]string{1: "icmp", 6: "tcp", 17: "udp", 47: "gre", 58: "ipv6-icmp", 132: "sctp"}

func protocolString(p uint8) string {
	if n, ok := protocolNames[p]; ok {
		return n
	}
	return strconv.Itoa(int(p))
}

func portString(start, end uint16) string {
	switch {
	case start > end:
		return "OPAQUE"
	case start == end:
		return strconv.Itoa(int(start))
	}
	return fmt.Sprintf("%d-%d", start, end)
}
