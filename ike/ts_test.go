package ike

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// sel reads "10.0.0.0/8", "10.0.0.1-10.0.0.9", each with "[proto/from-to]" or "[proto]" behind it.
func sel(t *testing.T, s string) TrafficSelector {
	t.Helper()
	addr, rest, restricted := strings.Cut(strings.TrimSuffix(s, "]"), "[")
	var ts TrafficSelector
	if from, to, ok := strings.Cut(addr, "-"); ok {
		ts = TrafficSelector{Start: netip.MustParseAddr(from), End: netip.MustParseAddr(to), EndPort: 65535}
	} else {
		ts = PrefixSelector(netip.MustParsePrefix(addr))
	}
	if restricted {
		n := map[string]TrafficSelector{
			"6":         {Protocol: 6, EndPort: 65535},
			"17":        {Protocol: 17, EndPort: 65535},
			"6/80":      {Protocol: 6, StartPort: 80, EndPort: 80},
			"6/80-90":   {Protocol: 6, StartPort: 80, EndPort: 90},
			"6/85-99":   {Protocol: 6, StartPort: 85, EndPort: 99},
			"6/85-90":   {Protocol: 6, StartPort: 85, EndPort: 90},
			"6/OPAQUE":  {Protocol: 6, StartPort: 65535},
			"0/80-90":   {StartPort: 80, EndPort: 90},
			"1/0-65535": {Protocol: 1, EndPort: 65535},
		}[rest]
		ts.Protocol, ts.StartPort, ts.EndPort = n.Protocol, n.StartPort, n.EndPort
	}
	return ts
}

func sels(t *testing.T, s string) []TrafficSelector {
	t.Helper()
	var list []TrafficSelector
	for f := range strings.FieldsSeq(s) {
		list = append(list, sel(t, f))
	}
	return list
}

// TestNarrow has the cases of RFC 7296 section 2.9.
func TestNarrow(t *testing.T) {
	for _, c := range []struct{ name, policy, proposed, want string }{
		{"equal", "10.0.0.0/8", "10.0.0.0/8", "10.0.0.0/8"},
		{"we allow less", "10.1.0.0/16", "0.0.0.0/0", "10.1.0.0/16"},
		{"peer wants less", "0.0.0.0/0", "10.1.0.0/16", "10.1.0.0/16"},
		{"overlap", "10.0.0.5-10.0.0.20", "10.0.0.1-10.0.0.9", "10.0.0.5-10.0.0.9"},
		{"nothing in common", "10.0.0.0/8", "192.168.0.0/16", ""},
		{"other family", "10.0.0.0/8", "::/0", ""},
		{"both families", "10.0.0.0/8 2001:db8::/32", "0.0.0.0/0 ::/0", "10.0.0.0/8 2001:db8::/32"},
		{"several, in the order of the proposal", "10.1.0.0/16 10.2.0.0/16", "10.2.3.0/24 10.1.0.0/16", "10.2.3.0/24 10.1.0.0/16"},
		{"the packet's selector is part of the wide one", "10.0.0.0/8", "10.1.1.1/32 10.0.0.0/8", "10.0.0.0/8"},
		{"the packet's selector stays where policy stops short", "10.1.1.0/24", "10.1.1.1/32[6/80] 10.2.0.0/16", "10.1.1.1/32[6/80]"},
		{"protocol", "10.0.0.0/8[6]", "10.0.0.0/8", "10.0.0.0/8[6]"},
		{"other protocol", "10.0.0.0/8[6]", "10.0.0.0/8[17]", ""},
		{"ports", "10.0.0.0/8[6/80-90]", "10.0.0.0/8[6/85-99]", "10.0.0.0/8[6/85-90]"},
		{"opaque ports are inside all ports", "10.0.0.0/8[6]", "10.0.0.0/8[6/OPAQUE]", "10.0.0.0/8[6/OPAQUE]"},
		{"opaque ports are not inside some", "10.0.0.0/8[6/80]", "10.0.0.0/8[6/OPAQUE]", ""},
	} {
		got := narrow(sels(t, c.policy), sels(t, c.proposed))
		if want := sels(t, c.want); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s of %s is %s, want %s", c.name, c.policy, c.proposed, tsString(got), c.want)
		}
	}
}

func TestNarrowedIsCovered(t *testing.T) {
	all := sels(t, "0.0.0.0/0 10.0.0.0/8 10.1.0.0/16[6] 10.1.1.1/32[6/80] 10.0.0.3-10.7.0.1 ::/0 2001:db8::/32[17] 10.0.0.0/8[0/80-90]")
	for _, a := range all {
		for _, b := range all {
			n := narrow([]TrafficSelector{a}, []TrafficSelector{b})
			if !covered([]TrafficSelector{a}, n) || !covered([]TrafficSelector{b}, n) {
				t.Errorf("%v and %v give %s, which is outside one of them", a, b, tsString(n))
			}
			if back := narrow([]TrafficSelector{b}, []TrafficSelector{a}); !reflect.DeepEqual(n, back) {
				t.Errorf("%v and %v give %s, the other way round %s", a, b, tsString(n), tsString(back))
			}
		}
	}
}

func TestResolve(t *testing.T) {
	host := netip.MustParseAddr("192.0.2.7")
	want := "192.0.2.7/32"
	if got := tsString(resolve(nil, host)); got != want {
		t.Errorf("no selectors: %s, want %s", got, want)
	}
	dynamic := []TrafficSelector{{Dynamic: true, Protocol: 47, EndPort: 65535}, sel(t, "10.0.0.0/8")}
	if got := tsString(resolve(dynamic, host)); got != want+"[47] 10.0.0.0/8" {
		t.Errorf("dynamic: %s", got)
	}
}

func TestSelectorString(t *testing.T) {
	for in, want := range map[string]string{
		"0.0.0.0/0":           "0.0.0.0/0",
		"10.0.0.3-10.0.0.9":   "10.0.0.3..10.0.0.9",
		"10.0.0.0-10.0.0.255": "10.0.0.0/24",
		"2001:db8::1/128":     "2001:db8::1/128",
		"10.0.0.0/8[6]":       "10.0.0.0/8[6]",
		"10.0.0.0/8[6/80]":    "10.0.0.0/8[6/80]",
		"10.0.0.0/8[6/80-90]": "10.0.0.0/8[6/80-90]",
	} {
		if got := sel(t, in).String(); got != want {
			t.Errorf("%s prints as %s, want %s", in, got, want)
		}
	}
}

func TestSelectorPayload(t *testing.T) {
	list := sels(t, "10.0.0.3-10.0.0.9[6/80-90] 2001:db8::/32 0.0.0.0/0")
	if got := fromTSPayload(tsPayload(wire.PayloadTSi, list)); !reflect.DeepEqual(got, list) {
		t.Errorf("%s came back as %s", tsString(list), tsString(got))
	}
	unknown := &wire.TrafficSelectors{Selectors: []wire.TrafficSelector{{TSType: 9}}}
	if got := fromTSPayload(unknown); len(got) != 0 {
		t.Errorf("a selector of unknown type became %v", got)
	}
}
