package iketest

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// HandOver has another engine, that of a new process, take the host over: when all is at rest, but after patience
// at the latest. done, which may be nil, is called then, with how many IKE SAs were left out.
func (h *Host) HandOver(patience time.Duration, done func(left int)) {
	h.engine.Quiet()
	h.net.tracef("%s is quiet", h.Name)
	old, deadline := h.engine, h.net.now.Add(patience)
	var try func()
	try = func() {
		switch {
		case h.engine != old || h.net.failed != nil:
		case !old.AtRest() && h.net.now.Before(deadline):
			h.net.After(10*time.Millisecond, try)
		default:
			left := h.replace()
			if done != nil {
				done(left)
			}
		}
	}
	try()
}

// replace is the handover itself. The kernel of the host keeps what it has, but for what nobody answers for any more.
func (h *Host) replace() (left int) {
	now := h.net.now
	data, left, err := h.engine.HandOver(now)
	if err != nil {
		h.net.violate("%s: %v", h.Name, err)
		return left
	}
	h.starts++
	h.net.tracef("%s: another engine takes over, without %d IKE SAs", h.Name, left)
	var seed [32]byte
	binary.BigEndian.PutUint64(seed[:], h.net.seed)
	binary.BigEndian.PutUint64(seed[8:], uint64(slices.Index(h.net.hosts, h)))
	binary.BigEndian.PutUint64(seed[16:], h.starts)
	h.traps, h.virtual = map[childName]bool{}, map[uint32]ike.VirtualAddrs{}
	h.engine = ike.New(h.config, rand.NewChaCha8(seed), 0)
	if h.moved() {
		h.Do(ike.AddressChanged{Addrs: h.addrs})
	}
	h.step(func(time.Time) {
		var children []*ike.ChildSA
		if children, err = h.engine.TakeOver(now, data); err != nil {
			h.net.violate("%s: %v", h.Name, err)
		}
		h.keep(children)
	})
	return left
}

// keep takes everything else out of the kernel.
func (h *Host) keep(children []*ike.ChildSA) {
	kept := map[uint32]bool{}
	h.up = map[childName]bool{}
	for _, c := range children {
		kept[c.ID] = true
		h.up[childName{c.Connection, c.Config.Name}] = true
		if k := h.Kernel.children[c.ID]; k == nil || k.outbound == 0 {
			h.net.violate("%s hands over %s, which the kernel does not have, or not the outbound SA of", h.Name, childText{c})
		}
	}
	for _, id := range h.Kernel.ids() {
		if !kept[id] {
			h.Kernel.remove(id)
		}
	}
}
