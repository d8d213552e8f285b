package config

import (
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// bad marks inputs that must be refused.
const bad = -1

func TestDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "30": 30 * time.Second, "30s": 30 * time.Second, "10m": 10 * time.Minute, "4h": 4 * time.Hour, "1d": 24 * time.Hour, "5 m": 5 * time.Minute,
		"": bad, "s": bad, "-1s": bad, "1.5h": bad, "4x": bad, "1h30m": bad, "99999999999999999999": bad, "400000d": bad,
	} {
		got, err := parseDuration(in)
		if (err != nil) != (want == bad) || err == nil && got != want {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
	if d, err := parseSeconds("0.25"); err != nil || d != 250*time.Millisecond {
		t.Errorf("0.25: %v, %v", d, err)
	}
	for _, in := range []string{"NaN", "-0.5", "1e300", "Inf"} {
		if d, err := parseSeconds(in); err == nil {
			t.Errorf("%q: %v", in, d)
		}
	}
}

func TestBytes(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "1000": 1000, "1k": 1024, "2M": 2 << 20, "3g": 3 << 30,
		"": bad, "k": bad, "1t": bad, "-1": bad, "17179869184g": bad, "99999999999999999999": bad,
	} {
		got, err := parseBytes(in)
		if (err != nil) != (want == bad) || err == nil && got != uint64(want) {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
}

func TestMark(t *testing.T) {
	for in, want := range map[string]ike.Mark{
		"42": {Value: 42, Mask: 0xffffffff}, "0x2a": {Value: 42, Mask: 0xffffffff}, "0x2a/0xff": {Value: 42, Mask: 0xff},
		"0": {}, "0/0xff": {Mask: 0xff},
	} {
		if got, err := parseMark(in); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "x", "1/", "0x100/0xff", "%unique", "0x1ffffffff"} {
		if got, err := parseMark(in); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestAction(t *testing.T) {
	for in, want := range map[string]ike.ChildAction{
		"none": ike.ActionClear, "clear": ike.ActionClear, "trap": ike.ActionTrap, "route": ike.ActionTrap,
		"start": ike.ActionStart, "restart": ike.ActionStart, "trap|start": ike.ActionTrapStart, "start | trap": ike.ActionTrapStart,
	} {
		if got, err := parseAction(in); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
	if _, err := parseAction("hold"); err == nil {
		t.Error("hold was accepted")
	}
}

func selector(first, last string, protocol uint8, start, end uint16) ike.TrafficSelector {
	ts := ike.TrafficSelector{Protocol: protocol, StartPort: start, EndPort: end}
	if first == "dynamic" {
		ts.Dynamic = true
		return ts
	}
	ts.Start, ts.End = netip.MustParseAddr(first), netip.MustParseAddr(last)
	return ts
}

// The numbers are those of RFC 7296 section 3.13.1: all ports are 0-65535,
// OPAQUE is 65535-0, ICMP has the type in the high octet and the code in the low.
func TestSelector(t *testing.T) {
	for in, want := range map[string]ike.TrafficSelector{
		"10.1.0.0/16":                selector("10.1.0.0", "10.1.255.255", 0, 0, 65535),
		"10.1.2.3/16":                selector("10.1.0.0", "10.1.255.255", 0, 0, 65535),
		"0.0.0.0/0":                  selector("0.0.0.0", "255.255.255.255", 0, 0, 65535),
		"2001:db8::/33":              selector("2001:db8::", "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff", 0, 0, 65535),
		"192.0.2.9":                  selector("192.0.2.9", "192.0.2.9", 0, 0, 65535),
		"10.0.0.1-10.0.0.9":          selector("10.0.0.1", "10.0.0.9", 0, 0, 65535),
		"10.1.0.0/16[tcp/443]":       selector("10.1.0.0", "10.1.255.255", 6, 443, 443),
		"10.1.0.0/16[tcp]":           selector("10.1.0.0", "10.1.255.255", 6, 0, 65535),
		"dynamic[udp]":               selector("dynamic", "", 17, 0, 65535),
		"dynamic":                    selector("dynamic", "", 0, 0, 65535),
		"dynamic[gre/any]":           selector("dynamic", "", 47, 0, 65535),
		"192.0.2.9[17/1024-65535]":   selector("192.0.2.9", "192.0.2.9", 17, 1024, 65535),
		"192.0.2.9[tcp/opaque]":      selector("192.0.2.9", "192.0.2.9", 6, 65535, 0),
		"192.0.2.9[icmp/8]":          selector("192.0.2.9", "192.0.2.9", 1, 8<<8, 8<<8|255),
		"2001:db8::1[ipv6-icmp/256]": selector("2001:db8::1", "2001:db8::1", 58, 256, 256),
	} {
		if got, err := parseSelector(in); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "10.1.0.0/33", "10.0.0.9-10.0.0.1", "10.0.0.1-2001:db8::1", "net", "10.1.0.0/16[", "10.1.0.0/16[tcp/443",
		"10.1.0.0/16[tcp/70000]", "10.1.0.0/16[tcp/9-1]", "10.1.0.0/16[nosuch]", "10.1.0.0/16[256]", "fe80::1%eth0",
	} {
		if got, err := parseSelector(in); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestAddrMatches(t *testing.T) {
	for in, want := range map[string]string{
		"%any": "[]", "192.0.2.1": "[{192.0.2.1/32}]", "192.0.2.1, 2001:db8::1": "[{192.0.2.1/32} {2001:db8::1/128}]",
		"192.0.2.7/24": "[{192.0.2.0/24}]", "192.0.2.1-192.0.2.4": "[{192.0.2.1/32} {192.0.2.2/31} {192.0.2.4/32}]",
		"192.0.2.1, %any": "[{192.0.2.1/32} {0.0.0.0/0} {::/0}]", "%any6": "[{::/0}]", "192.0.2.1, vpn.example.org, gw": "[{192.0.2.1/32} vpn.example.org gw]", "::ffff:192.0.2.1": "[{192.0.2.1/32}]",
	} {
		got, err := parseAddrMatches(true)(in)
		if s := printMatches(got); err != nil || s != want {
			t.Errorf("%q: %s, %v; want %s", in, s, err, want)
		}
	}
	for in, want := range map[string]string{
		"192.0.2":      `"192.0.2": expected an address, a subnet, a range such as 192.0.2.1-192.0.2.9, or %any`,
		"fe80::1%eth0": `"fe80::1%eth0": an address with a zone cannot be used here`,
		"192.0.2.0/33": `"192.0.2.0/33": expected a subnet such as 192.0.2.0/24`,
	} {
		if _, err := parseAddrMatches(true)(in); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", in, err, want)
		}
	}
}

func printMatches(list []ike.AddrMatch) string {
	s := "["
	for i, m := range list {
		if i > 0 {
			s += " "
		}
		if m.Name != "" {
			s += m.Name
			continue
		}
		s += "{" + m.Prefix.String() + "}"
	}
	return s + "]"
}

// Every range within a /24 is covered by its prefixes, once, without a gap.
func TestRangePrefixesCoverTheRange(t *testing.T) {
	at := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}) }
	for first := range 256 {
		for last := first; last < 256; last++ {
			prefixes, err := rangePrefixes(at(first), at(last))
			if err != nil {
				t.Fatal(err)
			}
			next := at(first)
			for _, p := range prefixes {
				if p.Addr() != next {
					t.Fatalf("%d-%d: %v begins at %v, not at %v", first, last, prefixes, p, next)
				}
				next = lastAddr(p).Next()
			}
			if next != at(last).Next() {
				t.Fatalf("%d-%d: %v ends before %v", first, last, prefixes, next)
			}
		}
	}
	whole, err := rangePrefixes(netip.MustParseAddr("::"), netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"))
	if err != nil || len(whole) != 1 || whole[0].Bits() != 0 {
		t.Errorf("all of IPv6: %v, %v", whole, err)
	}
}

func TestAS(t *testing.T) {
	for in, want := range map[string]int64{
		"65515": 65515, "4200000000": 4200000000, "1.10": 1<<16 | 10,
		"0": bad, "65535": bad, "4294967295": bad, "23456": bad, "4294967296": bad, "70000.1": bad, "1.70000": bad, "as1": bad, "": bad,
	} {
		got, err := parseAS(in)
		if (err != nil) != (want == bad) || err == nil && got != uint32(want) {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
}
