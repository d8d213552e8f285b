package bgp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	good := func() Config {
		c := config(
			Neighbor{Name: "oci1", Address: netip.MustParseAddr("169.254.21.4"), LocalAddress: netip.MustParseAddr("169.254.21.5"), AS: theirAS},
			// The same local address with another length is what the deployment has.
			Neighbor{Name: "oci2", Address: netip.MustParseAddr("169.254.21.6"), LocalAddress: netip.MustParseAddr("169.254.21.5"), AS: theirAS})
		c.Networks = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
		return c
	}
	if c := good(); c.Validate() != nil {
		t.Fatalf("a sound configuration: %v", c.Validate())
	}
	for _, tt := range []struct {
		want   string
		change func(*Config)
	}{
		{"as is missing", func(c *Config) { c.AS = 0 }},
		{"router_id", func(c *Config) { c.RouterID = netip.MustParseAddr("::1") }},
		{"host bits", func(c *Config) { c.Networks[0] = netip.MustParsePrefix("10.1.0.1/16") }},
		{"appears twice", func(c *Config) { c.Neighbors[1].Name = "oci1" }},
		{"oci1 and oci2 have the same address", func(c *Config) { c.Neighbors[1].Address = c.Neighbors[0].Address }},
		{"same address", func(c *Config) {
			c.Neighbors[0] = Neighbor{Name: "a", AS: 1, Address: netip.MustParseAddr("fe80::1%eth0")}
			c.Neighbors[1] = Neighbor{Name: "b", AS: 1, Address: netip.MustParseAddr("fe80::1%eth1")}
		}},
		{"is our own", func(c *Config) { c.Neighbors[0].LocalAddress = c.Neighbors[0].Address }},
		{"different families", func(c *Config) { c.Neighbors[0].LocalAddress = netip.MustParseAddr("fe80::1") }},
		{"expected the neighbour's AS", func(c *Config) { c.Neighbors[0].AS = 0 }},
		{"hold_time", func(c *Config) { c.Neighbors[0].HoldTime = time.Second }},
		{"restart_time", func(c *Config) { c.Neighbors[0].RestartTime = 2 * time.Hour }},
		{"whole seconds", func(c *Config) { c.Neighbors[0].Keepalive = 1500 * time.Millisecond }},
		{"exclude each other", func(c *Config) { c.Neighbors[0].MultihopTTL, c.Neighbors[0].TTLSecurity = 2, 254 }},
		{"internal session", func(c *Config) { c.Neighbors[0].AS, c.Neighbors[0].MultihopTTL = ourAS, 2 }},
		{"TCP MD5", func(c *Config) { c.Neighbors[0].Password = Secret(strings.Repeat("x", 81)) }},
		{"host bits", func(c *Config) { c.Neighbors[0].Import = []netip.Prefix{netip.MustParsePrefix("10.1.0.1/16")} }},
	} {
		c := good()
		tt.change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want an error with %q", err, tt.want)
		}
		if _, err := New(c, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("New accepts what Validate refuses: %s", tt.want)
		}
	}
}

func TestPasswordIsNeverPrinted(t *testing.T) {
	n := Neighbor{Name: "a", Password: "hunter2"}
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "neighbor", n, "password", n.Password)
	js, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "%s %v %+v %#v %s %q", js, n, n, n, n.Password, n.Password)
	if s := out.String(); strings.Contains(s, "hunter2") || !strings.Contains(s, redactedText) {
		t.Errorf("printed: %s", s)
	}
}

// TestRefusedPrefixes holds GoBGP's way of matching a prefix set, the entries of
// the longest prefix only, against the definition of Refuses.
func TestRefusedPrefixes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() netip.Prefix {
		// Few bits, so that prefixes contain each other often.
		a := netip.AddrFrom4([4]byte{byte(r.IntN(4)) << 6, byte(r.IntN(4)) << 6, 0, 0})
		return netip.PrefixFrom(a, r.IntN(12)).Masked()
	}
	for range 20000 {
		list := make([]netip.Prefix, 1+r.IntN(4))
		for i := range list {
			list[i] = random()
		}
		p := random()
		got, longest := false, -1
		for _, e := range refusedPrefixes(list, IPv4) {
			entry := netip.MustParsePrefix(e.IpPrefix)
			if entry.Bits() > p.Bits() || !entry.Contains(p.Addr()) || entry.Bits() < longest {
				continue
			}
			if entry.Bits() > longest {
				longest, got = entry.Bits(), false
			}
			got = got || int(e.MaskLengthMin) <= p.Bits() && p.Bits() <= int(e.MaskLengthMax)
		}
		if want := Refuses(list, p); got != want {
			t.Fatalf("%v in %v: the set says %v, Refuses says %v", p, list, got, want)
		}
	}
}
