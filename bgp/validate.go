package bgp

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Validate returns every mistake in cfg, joined, or nil.
func (c *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("bgp: "+format, args...)) }

	if c.AS == 0 {
		bad("as is missing: expected our AS number, 1 to 4294967295")
	}
	if !c.RouterID.Is4() || c.RouterID.IsUnspecified() {
		bad("router_id %v: expected an IPv4 address such as 10.0.0.1", c.RouterID)
	}
	for _, p := range c.Networks {
		if !p.IsValid() || p != p.Masked() {
			bad("networks: %v: expected a network address without host bits", p)
		}
	}
	if c.MaxPaths < 0 {
		bad("max_paths %d: expected 0 or more", c.MaxPaths)
	}

	names := make(map[string]bool)
	addrs := make(map[netip.Addr]string)
	for i := range c.Neighbors {
		n := &c.Neighbors[i]
		if n.Name == "" {
			bad("a neighbour has no name")
		} else if names[n.Name] {
			bad("neighbour %s appears twice", n.Name)
		}
		names[n.Name] = true
		if n.Address.IsValid() {
			// Paths carry the neighbour's address without its zone.
			a := n.Address.WithZone("").Unmap()
			if other, ok := addrs[a]; ok {
				bad("neighbours %s and %s have the same address %v: sessions are told apart by it, give each tunnel's far end an address of its own",
					other, n.Name, n.Address)
			}
			addrs[a] = n.Name
		}
		for _, err := range n.validate(c.AS) {
			bad("neighbour %s: %w", n.Name, err)
		}
	}
	return errors.Join(errs...)
}

func (n *Neighbor) validate(ourAS uint32) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	switch {
	case !n.Address.IsValid() || n.Address.IsUnspecified() || n.Address.IsMulticast():
		bad("address %v: expected the neighbour's address", n.Address)
	case n.LocalAddress.IsValid() && n.LocalAddress.Is4() != n.Address.Is4():
		bad("local address %v and address %v are of different families", n.LocalAddress, n.Address)
	case n.LocalAddress == n.Address:
		bad("address %v is our own", n.Address)
	}
	if n.AS == 0 {
		bad("as is missing: expected the neighbour's AS number")
	}
	if n.HoldTime != 0 && n.HoldTime < MinHoldTime {
		bad("hold_time %v: expected at least %v", n.HoldTime, MinHoldTime)
	}
	for _, t := range []struct {
		name  string
		value time.Duration
		max   time.Duration
	}{
		{"hold_time", n.HoldTime, MaxTimer},
		{"keepalive", n.Keepalive, MaxTimer},
		{"connect_retry", n.ConnectRetry, MaxTimer},
		{"restart_time", n.RestartTime, MaxRestartTime},
	} {
		if t.value < 0 || t.value > t.max || t.value%time.Second != 0 {
			bad("%s %v: expected whole seconds up to %v", t.name, t.value, t.max)
		}
	}
	if n.MultihopTTL != 0 && n.TTLSecurity != 0 {
		bad("multihop and ttl_security exclude each other: RFC 5082 counts hops from 255 down, so set ttl_security to 255 minus the hops")
	}
	if n.MultihopTTL != 0 && n.AS == ourAS {
		bad("multihop is for external neighbours; an internal session (as %d) may always be many hops away", n.AS)
	}
	if len(n.Password) > MaxPassword {
		bad("password of %d bytes: TCP MD5 takes at most %d", len(n.Password), MaxPassword)
	}
	for _, l := range [][]netip.Prefix{n.Import, n.Refuse} {
		for _, p := range l {
			if !p.IsValid() || p != p.Masked() {
				bad("prefix %v: expected a network address without host bits", p)
			}
		}
	}
	return errs
}
