package vici

import (
	"testing"

	"github.com/ipsecd/ipsecd/ike"
)

// The texts are those that charon 5.9.8 writes for the same selectors.
func TestPortText(t *testing.T) {
	names := parseServices([]byte("# services\nssh 22/tcp\nhttps\t443/tcp  alias # web\nhttps 443/udp\nother 443/tcp\ndomain 53/udp\nbroken\nbad x/tcp\n"))
	for _, tt := range []struct {
		protocol uint8
		from, to uint16
		want     string
	}{
		{6, 443, 443, "https"},
		{17, 53, 53, "domain"},
		{0, 53, 53, "domain"},
		{6, 53, 53, ""},
		{132, 443, 443, ""},
		{6, 22, 443, ""},
		{6, 0, 65535, ""},
		{6, 65535, 0, ""},
		{1, 8 << 8, 8 << 8, "8"},
		{1, 8 << 8, 8<<8 | 255, "8"},
		{1, 3<<8 | 1, 3<<8 | 1, "3(1)"},
		{58, 1 << 8, 3<<8 | 4, "1-3(4)"},
	} {
		if got := portText(ike.TrafficSelector{Protocol: tt.protocol, StartPort: tt.from, EndPort: tt.to}, names); got != tt.want {
			t.Errorf("protocol %d, ports %d-%d: %q, want %q", tt.protocol, tt.from, tt.to, got, tt.want)
		}
	}
	ts := []ike.TrafficSelector{{Dynamic: true, Protocol: 1, StartPort: 8 << 8, EndPort: 8 << 8}, {Dynamic: true, EndPort: 65535}}
	if got := selectors(ts); got[0] != "dynamic[icmp/8]" || got[1] != "dynamic" {
		t.Errorf("%v", got)
	}
}
