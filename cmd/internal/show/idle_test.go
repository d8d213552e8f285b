package show

import (
	"testing"
	"time"
)

// A tunnel that nobody is setting up says what would.
func TestIdleTunnel(t *testing.T) {
	for _, tt := range []struct {
		tunnel Tunnel
		want   string
	}{
		{Tunnel{Connection: "oci3", State: StateDown, Remote: "192.168.1.3"}, "no attempt is planned; 'ipsecctl sa up oci3' starts it"},
		{Tunnel{Connection: "roadwarriors", State: StateDown, Remote: "%any"}, "waiting for the peer"},
		{Tunnel{Connection: "hq", State: StateDown, Remote: "192.0.2.1", Reason: "unreachable"}, "unreachable"},
		{Tunnel{Connection: "hq", State: StateConnecting, Remote: "192.0.2.1"}, ""},
		{Tunnel{Connection: "hq", State: StateUp, Remote: "192.0.2.1"}, ""},
	} {
		if got := whyDown(time.Now(), &tt.tunnel); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.tunnel.Connection, tt.tunnel.State, got, tt.want)
		}
	}
}
