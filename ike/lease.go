package ike

import (
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// lease is an address of a pool that belongs to an identity.
type lease struct {
	pool *pool
	addr netip.Addr
	id   auth.Identity
	used []netip.AddrPort // the peers that use it, each once for an IKE SA; none: it is offline
}

// pool is a configured pool and its leases.
type pool struct {
	cfg     *Pool
	removed bool   // from the configuration, with leases in use
	fresh   uint32 // number of the first address that was never assigned
	leases  map[netip.Addr]*lease
	byID    map[auth.Identity][]*lease
	offline []*lease // the one that went offline first comes first
}

func newPool(cfg *Pool) *pool {
	return &pool{cfg: cfg, leases: map[netip.Addr]*lease{}, byID: map[auth.Identity][]*lease{}}
}

// existing returns a lease of the identity: the one in use by the same peer, as when it authenticates again on a
// new IKE SA beside the old one, else one that is offline.
func (p *pool) existing(id auth.Identity, asked netip.Addr, peer netip.AddrPort) *lease {
	for _, l := range p.byID[id] {
		if slices.Contains(l.used, peer) && (asked.IsUnspecified() || asked == l.addr) {
			return l
		}
	}
	free := func(l *lease) bool { return len(l.used) == 0 && l.id == id }
	if l := p.leases[asked]; l != nil && free(l) {
		return l
	}
	if i := slices.IndexFunc(p.offline, free); i >= 0 {
		return p.offline[i]
	}
	return nil
}

// assign makes a lease of an address that was never assigned, and that taken does not tell to be in use.
func (p *pool) assign(id auth.Identity, taken func(netip.Addr) bool) *lease {
	for p.fresh < p.cfg.Size {
		a := p.cfg.at(p.fresh)
		p.fresh++
		if p.leases[a] == nil && !taken(a) {
			return p.add(&lease{pool: p, addr: a, id: id})
		}
	}
	return nil
}

// reassign takes the lease that has been offline longest from its identity.
func (p *pool) reassign(id auth.Identity, taken func(netip.Addr) bool) *lease {
	for _, l := range p.offline {
		if !taken(l.addr) {
			p.forget(l)
			return p.add(&lease{pool: p, addr: l.addr, id: id})
		}
	}
	return nil
}

func (p *pool) add(l *lease) *lease {
	p.leases[l.addr] = l
	p.byID[l.id] = append(p.byID[l.id], l)
	return l
}

func (p *pool) forget(l *lease) {
	same := func(o *lease) bool { return o == l }
	delete(p.leases, l.addr)
	p.offline = slices.DeleteFunc(p.offline, same)
	if rest := slices.DeleteFunc(p.byID[l.id], same); len(rest) > 0 {
		p.byID[l.id] = rest
	} else {
		delete(p.byID, l.id)
	}
}

// use puts a peer on a lease.
func (p *pool) use(l *lease, peer netip.AddrPort) {
	p.offline = slices.DeleteFunc(p.offline, func(o *lease) bool { return o == l })
	l.used = append(l.used, peer)
}

// release takes one use back. It reports whether the lease went offline by that.
func (l *lease) release(peer netip.AddrPort) bool {
	p := l.pool
	i := max(slices.Index(l.used, peer), 0) // the peer may have moved
	l.used = slices.Delete(l.used, i, i+1)
	switch {
	case len(l.used) > 0:
		return false
	case !p.cfg.holds(l.addr): // the peer has chosen it, or the pool has others now
		p.forget(l)
	default:
		p.offline = append(p.offline, l)
	}
	return true
}

// online returns how many IKE SAs use an address of the pool.
func (p *pool) online() int {
	n := 0
	for _, l := range p.all() {
		n += len(l.used)
	}
	return n
}

// all returns the leases in the order of their addresses.
func (p *pool) all() []*lease {
	list := make([]*lease, 0, len(p.leases))
	for _, l := range p.leases {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *lease) int { return a.addr.Compare(b.addr) })
	return list
}

// describe lists a lease once for each use, as charon does.
func (p *pool) describe() PoolInfo {
	i := PoolInfo{Config: p.cfg, Offline: len(p.offline)}
	for _, l := range p.all() {
		for range l.used {
			i.Online++
			i.Leases = append(i.Leases, LeaseInfo{Addr: l.addr, ID: l.id, Online: true})
		}
		if len(l.used) == 0 {
			i.Leases = append(i.Leases, LeaseInfo{Addr: l.addr, ID: l.id})
		}
	}
	return i
}
