package ike

import (
	"net/netip"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// addressPools are all pools, and what readers see of them.
type addressPools struct {
	byName map[string]*pool
	infos  []PoolInfo // of the present state; nil: to be made anew
}

// configurePools makes the pools those of the configuration. Leases of addresses that a pool still has stay; those
// in use stay in any case.
func (e *Engine) configurePools(list []*Pool) {
	before := e.pools.byName
	e.pools = addressPools{byName: map[string]*pool{}}
	for _, cfg := range list {
		p := before[cfg.Name]
		delete(before, cfg.Name)
		if p == nil {
			p = newPool(cfg)
		}
		p.reconfigure(cfg)
		e.pools.byName[cfg.Name] = p
	}
	for name, p := range before {
		if p.online() > 0 {
			p.removed = true
			e.pools.byName[name] = p
		}
	}
}

// reconfigure gives the pool another configuration.
func (p *pool) reconfigure(cfg *Pool) {
	old := p.cfg
	p.cfg, p.removed = cfg, false
	if old.Base == cfg.Base && old.Size == cfg.Size {
		return
	}
	p.fresh = 0
	for _, l := range p.all() {
		if len(l.used) == 0 && !cfg.holds(l.addr) {
			p.forget(l)
		}
	}
}

// acquireAddress gives a peer an address of the first of the pools that has one for it: the one that its identity had
// before, else a new one, else one that another identity had.
func (e *Engine) acquireAddress(names []string, id auth.Identity, asked netip.Addr, peer netip.AddrPort) *lease {
	var pools []*pool
	for _, name := range names {
		p := e.pools.byName[name]
		if p == nil || p.removed {
			continue
		}
		if !p.cfg.Base.IsValid() {
			if l := p.echo(id, asked, e.leased); l != nil {
				return e.use(l, peer)
			}
			continue
		}
		if p.cfg.Base.Is4() == asked.Is4() {
			pools = append(pools, p)
		}
	}
	for _, take := range []func(*pool) *lease{
		func(p *pool) *lease { return p.existing(id, asked, peer) },
		func(p *pool) *lease { return p.assign(id, e.leased) },
		func(p *pool) *lease { return p.reassign(id, e.leased) },
	} {
		for _, p := range pools {
			if l := take(p); l != nil {
				return e.use(l, peer)
			}
		}
	}
	return nil
}

// echo makes a lease of the address that the peer has chosen, if nobody else has it.
func (p *pool) echo(id auth.Identity, asked netip.Addr, taken func(netip.Addr) bool) *lease {
	l := p.leases[asked]
	switch {
	case asked.IsUnspecified():
		return nil
	case l != nil && l.id == id:
		return l
	case l != nil || taken(asked):
		return nil
	}
	return p.add(&lease{pool: p, addr: asked, id: id})
}

// leased reports whether a peer uses an address, of whatever pool.
func (e *Engine) leased(a netip.Addr) bool {
	for _, p := range e.pools.byName {
		if l := p.leases[a]; l != nil && len(l.used) > 0 {
			return true
		}
	}
	return false
}

func (e *Engine) use(l *lease, peer netip.AddrPort) *lease {
	l.pool.use(l, peer)
	e.pools.infos = nil
	return l
}

// releaseAddresses gives back what the peer of an IKE SA has from our pools.
func (e *Engine) releaseAddresses(sa *ikeSA) {
	for _, l := range sa.virtual.leases {
		e.pools.infos = nil
		if l.release(sa.virtual.leasedTo) {
			e.note(sa, LevelInfo, "CFG", "lease %v by '%v' went offline", l.addr, l.id)
		}
		if p := l.pool; p.removed && p.online() == 0 {
			delete(e.pools.byName, p.cfg.Name)
		}
	}
	sa.virtual.leases = nil
}

// poolInfos describes the pools, in configured order, for a Snapshot. The result is never changed.
func (e *Engine) poolInfos() []PoolInfo {
	if e.pools.infos == nil {
		e.pools.infos = make([]PoolInfo, 0, len(e.cfg.Pools))
		for _, cfg := range e.cfg.Pools {
			e.pools.infos = append(e.pools.infos, e.pools.byName[cfg.Name].describe())
		}
	}
	return e.pools.infos
}
