package nl

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Sysctl reads and writes kernel parameters below Root, "/proc/sys" outside tests.
type Sysctl struct{ Root string }

// Setting is one kernel parameter and why it should have its value. Key is a path
// below /proc/sys, because interface names may contain dots.
type Setting struct {
	Key, Value, Why string
}

// InterfaceSettings returns what an XFRM interface needs: with several tunnels,
// packets come back through another one than they left by, and a strict reverse
// path filter would drop them. Inbound policies check inner sources instead.
func InterfaceSettings(name string) []Setting {
	return []Setting{
		{"net/ipv4/conf/" + name + "/rp_filter", "2", "replies may arrive through another tunnel (loose reverse path filter)"},
		{"net/ipv4/conf/" + name + "/accept_redirects", "0", "a tunnel's peer must not redirect routes"},
		{"net/ipv6/conf/" + name + "/accept_ra", "0", "a tunnel's peer must not configure addresses"},
	}
}

// AcquireExpiry returns the setting for how long the kernel waits for the SA of an
// acquire before it reports the next: the whole time the daemon may retransmit.
func AcquireExpiry(d time.Duration) Setting {
	return Setting{"net/core/xfrm_acq_expires", strconv.FormatUint(seconds(d), 10), "one negotiation per acquire"}
}

// Get returns a parameter's value.
func (s Sysctl) Get(key string) (string, error) {
	p, err := s.path(key)
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(p)
	if err != nil {
		return "", fmt.Errorf("xfrm: cannot read kernel parameter %s: %w", key, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// Set gives a parameter its value. It writes only what differs, so that a daemon
// that may not write parameters works where somebody else has set them.
func (s Sysctl) Set(x Setting) error {
	have, err := s.Get(x.Key)
	if err != nil || have == x.Value {
		return err
	}
	p, err := s.path(x.Key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(p, []byte(x.Value), 0o644); err != nil {
		return fmt.Errorf("xfrm: cannot set kernel parameter %s from %s to %s (%s): %w", x.Key, have, x.Value, x.Why, err)
	}
	return nil
}

func (s Sysctl) path(key string) (string, error) {
	if !filepath.IsLocal(key) {
		return "", fmt.Errorf("xfrm: %q is not a kernel parameter", key)
	}
	return filepath.Join(s.Root, key), nil
}
