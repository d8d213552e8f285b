package config

import (
	"strings"
	"testing"
)

// TestFault_F5_974_WeakAlgorithms (and free5GC issues 972 and 973): what is broken cannot be configured, whoever offers it. The
// error names the line.
func TestFault_F5_974_WeakAlgorithms(t *testing.T) {
	for _, c := range []struct{ conn, child, want string }{
		{"proposals = des-sha256-x25519", "", "6: "},
		{"proposals = aes128-md5-x25519", "", "6: "},
		{"proposals = aes128-sha256-prfmd5-x25519", "", "6: "},
		{"proposals = aes128-sha256-modp768", "", "6: "},
		{"proposals = aes128-sha256-modp1024s160", "", "6: "},
		{"proposals = null-sha256-x25519", "", "6: "},
		{"", "esp_proposals = null", "8: "},
		{"", "esp_proposals = aes128", "8: "},
		{"", "esp_proposals = des-sha256", "8: "},
		{"", "esp_proposals = aes128-md5", "8: "},
		{"", "esp_proposals = null-none", "8: "},
	} {
		got := faults(t, etc(at(c.conn, c.child)))
		if len(got) != 1 || !strings.HasPrefix(got[0], c.want) || !strings.Contains(got[0], "proposal") {
			t.Errorf("%s%s: %q, want one error in line %s", c.conn, c.child, got, c.want)
		}
	}
}

// TestFault_F5_992_ReplayWindow: a child that says nothing about it is protected from replay.
func TestFault_F5_992_ReplayWindow(t *testing.T) {
	if _, child := loadMinimal(t, "", ""); child.ReplayWindow < 32 {
		t.Errorf("a window of %d packets by default", child.ReplayWindow)
	}
}
