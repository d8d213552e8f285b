package ike

import (
	"net/netip"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// Pool is one entry of the pools section of swanctl.conf: the virtual addresses that peers get
// (RFC 7296 section 2.19), and what they are told beside.
type Pool struct {
	Name   string
	Source string // file:line of the section, for messages

	// Base is the first address, and Size how many there are. An invalid Base makes no assignment of its own: a peer
	// gets the address that it asks for.
	Base netip.Addr
	Size uint32

	Attributes []PoolAttribute
}

// PoolAttribute is a configuration attribute for peers with an address of the pool, as it is sent (RFC 7296 section 3.15.1).
type PoolAttribute struct {
	Type  uint16
	Value string // octets
}

// at returns the address number n of the pool, from 0.
func (p *Pool) at(n uint32) netip.Addr {
	b := p.Base.AsSlice()
	sum := uint64(n)
	for i := len(b) - 1; i >= 0 && sum > 0; i-- {
		sum += uint64(b[i])
		b[i] = byte(sum)
		sum >>= 8
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// Overlaps reports whether two pools have an address in common.
func (p *Pool) Overlaps(o *Pool) bool {
	return o.Size > 0 && p.holds(o.Base) || p.Size > 0 && o.holds(p.Base)
}

// holds reports whether an address is one of the pool's.
func (p *Pool) holds(a netip.Addr) bool {
	return p.Size > 0 && p.Base.Is4() == a.Is4() && a.Compare(p.Base) >= 0 && a.Compare(p.at(p.Size-1)) <= 0
}

// PoolInfo is the state of a pool.
type PoolInfo struct {
	Config  *Pool
	Online  int // addresses in use, once for each IKE SA that uses one
	Offline int // addresses kept for an identity
	Leases  []LeaseInfo
}

// LeaseInfo is an address that was assigned to an identity. It stays that identity's until the pool has no other left.
type LeaseInfo struct {
	Addr   netip.Addr
	ID     auth.Identity
	Online bool
}
