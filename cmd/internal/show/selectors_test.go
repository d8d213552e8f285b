package show

import (
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/ike"
)

// The strings are what swanctl.conf takes for the same selectors.
func TestSelectors(t *testing.T) {
	ts := func(start, end string, protocol uint8, from, to uint16) ike.TrafficSelector {
		return ike.TrafficSelector{Start: netip.MustParseAddr(start), End: netip.MustParseAddr(end), Protocol: protocol, StartPort: from, EndPort: to}
	}
	for _, tt := range []struct {
		ts   ike.TrafficSelector
		want string
	}{
		{ts("0.0.0.0", "255.255.255.255", 0, 0, 65535), "0.0.0.0/0"},
		{ts("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 0, 0, 65535), "::/0"},
		{ts("10.1.0.0", "10.1.255.255", 6, 443, 443), "10.1.0.0/16[tcp/443]"},
		{ts("10.1.0.1", "10.1.0.1", 17, 0, 65535), "10.1.0.1/32[udp]"},
		{ts("10.1.0.1", "10.1.0.9", 0, 1024, 2047), "10.1.0.1..10.1.0.9[0/1024-2047]"},
		{ts("10.1.0.0", "10.1.0.255", 47, 65535, 0), "10.1.0.0/24[gre/OPAQUE]"},
		{ts("255.255.255.0", "255.255.255.255", 200, 0, 65535), "255.255.255.0/24[200]"},
		{ike.TrafficSelector{Dynamic: true, EndPort: 65535}, "dynamic"},
	} {
		if got := Selectors([]ike.TrafficSelector{tt.ts})[0]; got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.ts, got, tt.want)
		}
	}
}
