package vici

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

// loadPool adds the pool that the one section of the request describes, or replaces that of its name. While peers have
// addresses of it, only its attributes can be replaced, as with charon.
func (c *call) loadPool() error {
	s, err := c.only("pool")
	if err != nil {
		return err
	}
	if p, ok := findPool(c.ctl.Status(), s.Name); ok && p.Online > 0 && !config.SameAddresses(p.Config, s) {
		return fmt.Errorf("vici pool %s has online leases, unable to replace; swanctl --list-pools --leases names the peers: terminate their SAs first", cut(s.Name))
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithPool(s), nil })
}

// unloadPool takes a pool away that no peer has an address of.
func (c *call) unloadPool() error {
	name := c.req.Keys["name"]
	if name == "" {
		return errors.New("missing pool name to unload")
	}
	p, ok := findPool(c.ctl.Status(), name)
	switch {
	case !ok:
		return fmt.Errorf("%s not found", cut(name))
	case p.Online > 0:
		return fmt.Errorf("%s has online leases, unable to unload", cut(name))
	case !config.SwanctlPool(p.Config):
		return fmt.Errorf("%s is in %s: take it away there, and reload", cut(name), p.Config.Source)
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithoutPool(name), nil })
}

func findPool(st *status.Status, name string) (ike.PoolInfo, bool) {
	for _, p := range st.Engine.Pools {
		if p.Config.Name == name {
			return p, true
		}
	}
	return ike.PoolInfo{}, false
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
