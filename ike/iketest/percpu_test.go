package iketest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// perCPUs is how many CPUs each host has.
const perCPUs = 4

// TestPerCPUAtRandom throws all that can happen at two hosts with a CHILD_SA for each CPU (RFC 9611): traffic of any CPU, rekeys
// of one and of all, at both ends at once, refusals, operators and another process that takes over. When that ends and
// each CPU has traffic, each has a CHILD_SA at both ends, beside the one for all.
func TestPerCPUAtRandom(t *testing.T) {
	eachSeed(t, "TestPerCPUAtRandom", runs{20, 20}, perCPURun)
}

func perCPURun(seed uint64) (*Pair, error) {
	r := rand.New(rand.NewPCG(seed, 5))
	action := []ike.ChildAction{ike.ActionClear, ike.ActionTrap, ike.ActionStart}[r.IntN(3)]
	p := NewPair(seed, func(a, b *ike.Config) {
		patient(a, b)
		for _, cfg := range []*ike.Config{a, b} {
			cfg.CPUs = perCPUs
			c := cfg.Connections[0]
			c.Children[0].PerCPU, c.Children[0].StartAction, c.Children[0].CloseAction = true, action, action
			c.DPDDelay = time.Duration(r.IntN(3)*20) * time.Second
			if r.IntN(3) == 0 {
				c.Children[0].RekeyTime, c.Children[0].RandTime = time.Duration(60+r.IntN(120))*time.Second, 5*time.Second
			}
		}
		if r.IntN(3) == 0 {
			b.Limits.PerCPUSAs = 1 + r.IntN(3)
		}
	})
	good := Faults{Delay: time.Duration(1+r.IntN(40)) * time.Millisecond, Jitter: time.Duration(r.IntN(40)) * time.Millisecond}
	for _, h := range p.Hosts() {
		h.ComputeTime = time.Duration(r.IntN(30)) * time.Millisecond
		h.InstallTime = time.Duration(r.IntN(30)) * time.Millisecond
		h.Kernel.Refuse = func(*ike.ChildSA) error {
			if p.Faults.Loss > 0 && r.IntN(30) == 0 {
				return errRefused
			}
			return nil
		}
	}
	p.A.Initiate()
	p.RunFor(time.Second)
	bad := badNetwork(r)
	bad.Loss = 0.02 + 0.2*r.Float64()
	p.Faults = bad
	for range 10 + r.IntN(40) {
		p.After(p.upTo(5*time.Minute), func() { p.perCPUEvent(r) })
	}
	p.RunFor(5 * time.Minute)
	p.Faults = good
	p.RunFor(settleTime)
	p.A.Initiate()
	p.RunFor(settleTime)
	for range 2 { // the first may come while the peer is not to be asked again
		for cpu := range uint32(perCPUs) {
			for _, h := range p.Hosts() {
				h.trafficOn(cpu)
				p.RunFor(time.Second)
			}
		}
		p.RunFor(settleTime)
	}
	p.RunUntil(func() bool { return p.eachCPU() == nil }, time.Minute)
	if err := errors.Join(p.Err(), p.eachCPU()); err != nil {
		return p, err
	}
	p.Both(ike.Shutdown{})
	p.RunFor(settleTime)
	return p, errors.Join(p.Err(), p.Empty())
}

// trafficOn asks for a CPU's CHILD_SA as a kernel does, whose policy names one that there is, unless the CPU has it.
func (h *Host) trafficOn(cpu uint32) {
	reqid := uint32(0)
	for _, id := range h.Kernel.ids() {
		switch c := h.Kernel.children[id].sa; {
		case !c.PerCPU:
		case c.CPU == (ike.CPU{Bound: true, Number: cpu}) && h.Kernel.children[id].outbound != 0:
			return
		default:
			reqid = c.ReqID
		}
	}
	if reqid != 0 {
		h.Do(ike.Acquire{ReqID: reqid, CPU: ike.CPU{Bound: true, Number: cpu}})
	}
}

func (p *Pair) perCPUEvent(r *rand.Rand) {
	h := p.Hosts()[r.IntN(2)]
	var one uint32
	if ids := h.Kernel.ids(); len(ids) > 0 {
		one = ids[r.IntN(len(ids))]
	}
	switch r.IntN(16) {
	case 0:
		h.Do(rekeyChild)
	case 1:
		p.Both(rekeyChild)
	case 2, 3:
		if one != 0 {
			h.Do(ike.Rekey{ChildID: one})
		}
	case 4:
		if one != 0 {
			h.Do(ike.Terminate{ChildID: one, Force: r.IntN(4) == 0})
		}
	case 5:
		h.Do(rekeyIKE)
	case 6:
		if r.IntN(3) == 0 {
			h.Do(ike.Rekey{Connection: ConnectionName, Reauth: true})
		}
	case 7:
		h.HandOver(handoverPatience, nil)
	case 8:
		cfg := *h.config
		h.Do(ike.Reconfigure{Config: &cfg})
	case 9:
		if one != 0 {
			c := h.Kernel.children[one].sa
			h.Do(ike.Expire{SPI: c.SPIIn, Dst: c.Local, Hard: r.IntN(3) == 0})
		}
	case 10:
		if r.IntN(4) == 0 {
			h.Do([]ike.Event{deleteChild, deleteIKE}[r.IntN(2)])
		}
		h.Initiate()
	default:
		h.trafficOn(uint32(r.IntN(perCPUs)))
	}
}

// eachCPU says what is wrong with the CHILD_SAs when each CPU has had traffic.
func (p *Pair) eachCPU() error {
	limit := p.B.config.Limits.PerCPUSAs
	for _, h := range p.Hosts() {
		if s := h.Snapshot(); len(s.IKESAs) != 1 {
			return fmt.Errorf("%s has %d IKE SAs: %s", h.Name, len(s.IKESAs), h.Describe())
		}
		has, all, reqid, each := map[uint32]int{}, 0, uint32(0), 0
		for _, id := range h.Kernel.ids() {
			c := h.Kernel.children[id]
			if c.outbound == 0 {
				continue // was replaced
			}
			if _, _, err := p.path(h, c); err != nil {
				return fmt.Errorf("what %s sends on %s is lost: %w", h.Name, childText{c.sa}, err)
			}
			if reqid != 0 && reqid != c.sa.ReqID {
				return fmt.Errorf("%s has reqids %d and %d: %s", h.Name, reqid, c.sa.ReqID, h.Describe())
			}
			reqid = c.sa.ReqID
			if c.sa.CPU.Bound {
				has[c.sa.CPU.Number]++
				each++
				continue
			}
			all++
		}
		// Each end chooses for itself which is for all, so that after faults they can differ, and one end have one too many.
		if all == 0 || all > 2 {
			return fmt.Errorf("%s has %d CHILD_SAs for all CPUs, and %v: %s", h.Name, all, has, h.Describe())
		}
		for cpu := range uint32(perCPUs) {
			if limit >= perCPUs && has[cpu] == 0 || has[cpu] > 2 {
				return fmt.Errorf("%s has %d CHILD_SAs for CPU %d: %s", h.Name, has[cpu], cpu, h.Describe())
			}
		}
		if limit < perCPUs && each == 0 {
			return fmt.Errorf("%s has no CHILD_SA for a CPU: %s", h.Name, h.Describe())
		}
	}
	return nil
}
