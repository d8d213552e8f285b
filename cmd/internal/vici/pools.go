package vici

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
)

// loadPool adds or replaces the pool that the one section of the request describes. Leases of addresses that the
// pool still has stay.
func (c *call) loadPool() error {
	s, err := c.only("pool")
	if err != nil {
		return err
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithPool(s), nil })
}

// unloadPool takes a pool away that no peer has an address of.
func (c *call) unloadPool() error {
	name := c.req.Keys["name"]
	if name == "" {
		return errors.New("missing pool name to unload")
	}
	pools := c.ctl.Status().Engine.Pools
	i := slices.IndexFunc(pools, func(p ike.PoolInfo) bool { return p.Config.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("%s not found", cut(name))
	case pools[i].Online > 0:
		return fmt.Errorf("%s has online leases, unable to unload", cut(name))
	case !config.SwanctlPool(pools[i].Config):
		return fmt.Errorf("%s is in %s: take it away there, and reload", cut(name), pools[i].Config.Source)
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithoutPool(name), nil })
}

// getPools answers the pools that swanctl's files or clients have brought, as charon does: swanctl unloads those that
// its file has no more. A pool that is asked for by name, or any with all=yes, is answered wherever it is from.
func (c *call) getPools() error {
	name := c.req.Keys["name"]
	for _, p := range c.ctl.Status().Engine.Pools {
		if name != "" && name != p.Config.Name || name == "" && !c.flag("all") && !config.SwanctlPool(p.Config) {
			continue
		}
		c.reply.Section(p.Config.Name, func() { writePool(c.reply, p, c.flag("leases")) })
	}
	return nil
}

func writePool(b *Builder, p ike.PoolInfo, leases bool) {
	b.Key("base", host(p.Config.Base))
	b.Keyf("size", "%d", p.Config.Size)
	b.Keyf("online", "%d", p.Online)
	b.Keyf("offline", "%d", p.Offline)
	if !leases {
		return
	}
	b.Section("leases", func() {
		for i, l := range p.Leases {
			b.Section(strconv.Itoa(i), func() {
				b.Key("address", l.Addr.String())
				b.Key("identity", l.ID.String())
				status := "offline"
				if l.Online {
					status = "online"
				}
				b.Key("status", status)
			})
		}
	})
}

// writeVIPs writes the virtual addresses of the two ends.
func writeVIPs(b *Builder, sa *ike.IKESAInfo) {
	for _, end := range []struct {
		key   string
		addrs []netip.Addr
	}{{"local-vips", sa.LocalVIPs}, {"remote-vips", sa.RemoteVIPs}} {
		if len(end.addrs) == 0 {
			continue
		}
		list := make([]string, len(end.addrs))
		for i, a := range end.addrs {
			list[i] = a.String()
		}
		b.List(end.key, list)
	}
}
