package main

import (
	"context"
	"fmt"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// leases writes the leases of all pools, of one, or of one address in it.
func leases(ctx context.Context, env environment, args []string) error {
	return withDaemon(env, func(d *viciclient.Client) error {
		keyValues := []string{"leases", "yes", "all", "yes"}
		if len(args) > 0 {
			keyValues = append(keyValues, "name", args[0])
		}
		m, err := d.Do(ctx, viciclient.CallTime, "get-pools", keyValues...)
		if err != nil {
			return err
		}
		address := ""
		if len(args) > 1 {
			address = args[1]
		}
		found := false
		for _, name := range m.Keys() {
			if pool := section(m, name); pool != nil {
				found = true
				writeLeases(env, name, pool, address)
			}
		}
		switch {
		case found:
		case len(args) > 0:
			fmt.Fprintf(env.stdout, "pool '%s' not found\n", args[0])
		default:
			fmt.Fprintln(env.stdout, "no pools found")
		}
		return nil
	})
}

func writeLeases(env environment, name string, pool *vici.Message, address string) {
	var online, offline int
	fmt.Sscan(text(pool, "online"), &online)
	fmt.Sscan(text(pool, "offline"), &offline)
	fmt.Fprintf(env.stdout, "Leases in pool '%s', usage: %d/%s, %d online\n", name, online+offline, text(pool, "size"), online)
	found := false
	list := section(pool, "leases")
	for _, key := range list.Keys() {
		l := section(list, key)
		if address == "" || address == text(l, "address") {
			found = true
			fmt.Fprintf(env.stdout, "  %15s   %s   '%s'\n", text(l, "address"), text(l, "status"), text(l, "identity"))
		}
	}
	if !found {
		fmt.Fprintln(env.stdout, "  no matching leases found")
	}
}

// pools writes how many addresses the pools have, and how many of them are used.
func (s *statusWriter) pools() error {
	m, err := s.d.Do(s.ctx, viciclient.CallTime, "get-pools", "all", "yes")
	if err != nil {
		return err
	}
	first := true
	for _, name := range m.Keys() {
		p := section(m, name)
		if p == nil || s.name != "" && s.name != name {
			continue
		}
		if first {
			s.printf("Virtual IP pools (size/online/offline):\n")
			first = false
		}
		s.printf("  %s: %s/%s/%s\n", name, text(p, "size"), text(p, "online"), text(p, "offline"))
	}
	return nil
}
