package ike

import (
	"fmt"
	"slices"
)

// handOver returns the pool's leases.
func (p *pool) handOver() handedPool {
	h := handedPool{Name: p.cfg.Name, Fresh: p.fresh}
	for _, l := range p.offline {
		h.Leases = append(h.Leases, handedLease{l.addr, l.id, true})
	}
	for _, l := range p.all() {
		if len(l.used) > 0 {
			h.Leases = append(h.Leases, handedLease{l.addr, l.id, false})
		}
	}
	return h
}

func (v *virtual) handOver() handedVirtual {
	h := handedVirtual{Local: v.local, DNS: v.dns, LeasedTo: v.leasedTo}
	for _, l := range v.leases {
		h.Pools = append(h.Pools, l.pool.cfg.Name)
		h.Leases = append(h.Leases, l.addr)
	}
	return h
}

// takePools takes the leases over. Those in use are so when their IKE SAs are here.
func (e *Engine) takePools(list []handedPool) {
	for _, h := range list {
		p := e.pools.byName[h.Name]
		if p == nil {
			continue
		}
		p.fresh = h.Fresh
		for _, l := range h.Leases {
			if taken := p.add(&lease{pool: p, addr: l.Addr, id: l.ID}); l.Offline {
				p.offline = append(p.offline, taken)
			}
		}
	}
	e.pools.infos = nil
}

// dropUnused puts leases offline whose IKE SAs were left out.
func (e *Engine) dropUnused() {
	for _, p := range e.pools.byName {
		for _, l := range p.all() {
			if len(l.used) == 0 && !slices.Contains(p.offline, l) {
				p.offline = append(p.offline, l)
			}
		}
	}
}

// takeVirtual takes the virtual addresses of an IKE SA over.
func (e *Engine) takeVirtual(sa *ikeSA, h *handedVirtual) error {
	v := virtual{local: h.Local, dns: h.DNS, leasedTo: h.LeasedTo}
	for i, name := range h.Pools {
		p := e.pools.byName[name]
		if p == nil || p.leases[h.Leases[i]] == nil {
			return fmt.Errorf("the pool %s of the peer's address %v is not configured any more", name, h.Leases[i])
		}
		v.leases = append(v.leases, p.leases[h.Leases[i]])
	}
	for _, l := range v.leases {
		e.use(l, v.leasedTo)
	}
	sa.virtual = v
	return nil
}
