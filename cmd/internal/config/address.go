package config

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/ipsecd/ipsecd/ike"
)

var (
	anyIPv4 = netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	anyIPv6 = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
)

// parseAddr reads one address.
func parseAddr(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return a, errors.New("expected an address such as 192.0.2.1 or 2001:db8::1")
	}
	return a.Unmap(), nil
}

// parseNetwork reads a prefix without host bits.
func parseNetwork(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return p, errors.New("expected a network such as 10.1.0.0/16 or 2001:db8::/32")
	}
	if p != p.Masked() {
		return p, fmt.Errorf("expected a network without host bits: %v, or %v for one address", p.Masked(), netip.PrefixFrom(p.Addr(), p.Addr().BitLen()))
	}
	return p, nil
}

// parseInterfaceAddress reads an address with its prefix length.
func parseInterfaceAddress(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return p, errors.New("expected an address with its prefix length, such as 169.254.21.5/31")
	}
	return p, nil
}

// parseAddrMatches reads local_addrs and remote_addrs: addresses, subnets,
// ranges, %any and, where they are allowed, host names. A list of nothing but %any is no restriction: nil.
func parseAddrMatches(names bool) func(string) ([]ike.AddrMatch, error) {
	return func(s string) ([]ike.AddrMatch, error) {
		var out []ike.AddrMatch
		restricted := false
		for _, item := range split(s) {
			restricted = restricted || item != "%any"
			if names && isHostName(item) {
				out = append(out, ike.AddrMatch{Name: item})
				continue
			}
			if isHostName(item) {
				return nil, unsupportedValue(fmt.Sprintf("the host name %s cannot be used here; write the address", item))
			}
			prefixes, err := addrMatch(item)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", item, err)
			}
			for _, p := range prefixes {
				out = append(out, ike.AddrMatch{Prefix: p, Part: len(prefixes) > 1})
			}
		}
		if !restricted {
			return nil, nil
		}
		return out, nil
	}
}

// isHostName tells a host name from a mistyped address: it has a letter that no hexadecimal number has, or
// ends in a label with a letter.
func isHostName(s string) bool {
	if len(s) > 253 || strings.ContainsAny(s, "%/:") {
		return false
	}
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' || strings.Trim(strings.ToLower(l), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return strings.ContainsAny(labels[len(labels)-1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

func addrMatch(s string) ([]netip.Prefix, error) {
	switch s {
	case "%any":
		return []netip.Prefix{anyIPv4, anyIPv6}, nil
	case "%any4", "0.0.0.0":
		return []netip.Prefix{anyIPv4}, nil
	case "%any6", "::":
		return []netip.Prefix{anyIPv6}, nil
	}
	if a, err := netip.ParseAddr(s); err == nil {
		if a.Zone() != "" {
			return nil, errors.New("an address with a zone cannot be used here")
		}
		a = a.Unmap()
		return []netip.Prefix{netip.PrefixFrom(a, a.BitLen())}, nil
	}
	if strings.Contains(s, "/") {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, errors.New("expected a subnet such as 192.0.2.0/24")
		}
		return []netip.Prefix{p.Masked()}, nil
	}
	if first, last, ok := parseRange(s); ok {
		return rangePrefixes(first, last)
	}
	if strings.ContainsAny(s, "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ") {
		return nil, errors.New("a host name cannot be used here; write the address")
	}
	return nil, errors.New("expected an address, a subnet, a range such as 192.0.2.1-192.0.2.9, or %any")
}

// parseRange reads "first-last"; ok is false if s is no such thing.
func parseRange(s string) (first, last netip.Addr, ok bool) {
	a, b, found := strings.Cut(s, "-")
	if !found {
		return first, last, false
	}
	first, err1 := netip.ParseAddr(strings.TrimSpace(a))
	last, err2 := netip.ParseAddr(strings.TrimSpace(b))
	return first.Unmap(), last.Unmap(), err1 == nil && err2 == nil
}

func checkRange(first, last netip.Addr) error {
	if first.Is4() != last.Is4() || first.Zone() != "" || last.Zone() != "" {
		return errors.New("both ends of a range are of one address family")
	}
	if last.Less(first) {
		return errors.New("the range ends before it begins")
	}
	return nil
}

// rangePrefixes returns the prefixes that together are the range.
func rangePrefixes(first, last netip.Addr) ([]netip.Prefix, error) {
	if err := checkRange(first, last); err != nil {
		return nil, err
	}
	var out []netip.Prefix
	for {
		p := netip.PrefixFrom(first, first.BitLen())
		for p.Bits() > 0 {
			wider := netip.PrefixFrom(first, p.Bits()-1).Masked()
			if wider.Addr() != first || last.Less(lastAddr(wider)) {
				break
			}
			p = wider
		}
		out = append(out, p)
		if lastAddr(p) == last {
			return out, nil
		}
		first = lastAddr(p).Next()
	}
}

// lastAddr returns the highest address of a prefix.
func lastAddr(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
