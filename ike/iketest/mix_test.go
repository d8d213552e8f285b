package iketest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// TestAnythingAtRandom throws all that can happen at two hosts that want two children up: operators, timers, kernels that
// refuse, crashes, cuts and a NAT that forgets. When the network is good again and nobody does anything, both are up.
func TestAnythingAtRandom(t *testing.T) {
	eachSeed(t, "TestAnythingAtRandom", runs{45, 30}, anything)
}

func anything(seed uint64) (*Pair, error) {
	r := rand.New(rand.NewPCG(seed, 3))
	p := NewPair(seed, func(a, b *ike.Config) { anyConfig(r, a, b) })
	var nat *NAT
	switch r.IntN(3) {
	case 0:
		nat = p.AddNAT(natAddr, p.A)
	case 1:
		if p.A.config.Connections[0].Children[0].Mode == ike.ModeTransport {
			break // its selectors are the addresses: it cannot move (RFC 4555 is for tunnels)
		}
		p.A.Do(ike.AddressChanged{Addrs: []netip.Addr{EndA.Addr, secondA}})
		p.B.Do(ike.AddressChanged{Addrs: []netip.Addr{EndB.Addr, secondB}})
	}
	for _, h := range p.Hosts() {
		h.ComputeTime = time.Duration(r.IntN(50)) * time.Millisecond
		h.InstallTime = time.Duration(r.IntN(50)) * time.Millisecond
		h.Kernel.Refuse = func(*ike.ChildSA) error {
			if p.Faults.Loss > 0 && r.IntN(20) == 0 {
				return errRefused
			}
			return nil
		}
	}
	good := Faults{Delay: time.Duration(1+r.IntN(40)) * time.Millisecond, Jitter: time.Duration(r.IntN(40)) * time.Millisecond}
	p.Faults = Faults{
		Loss: 0.01 + 0.3*r.Float64(), Duplicate: 0.2 * r.Float64(), Reorder: 0.2 * r.Float64(), Corrupt: 0.1 * r.Float64(),
		Delay: good.Delay, Jitter: good.Jitter,
	}
	for range 10 + r.IntN(30) {
		p.After(p.upTo(10*time.Minute), func() { p.anyEvent(r, nat) })
	}
	p.RunFor(10 * time.Minute)
	p.Faults = good
	p.Mend(p.A, p.B)
	for i, h := range p.Hosts() {
		if !h.running() {
			h.Start()
		}
		if len(h.addrs) == 0 {
			h.Do(ike.AddressChanged{Addrs: []netip.Addr{[]netip.Addr{secondA, secondB}[i]}})
		}
	}
	// The operator undoes what may have been taken down.
	for _, c := range p.A.config.Connections[0].Children {
		p.A.Do(ike.Initiate{Connection: ConnectionName, Child: c.Name})
	}
	p.RunFor(30 * time.Minute)
	// A rekey that has just collided leaves a redundant IKE SA for half a minute.
	p.RunUntil(func() bool { return p.atPeace() == nil }, time.Minute)
	if err := errors.Join(p.Err(), p.atPeace()); err != nil {
		return p, err
	}
	p.Both(ike.Shutdown{})
	p.RunFor(settleTime)
	return p, errors.Join(p.Err(), p.Empty())
}

// anyConfig makes a tunnel with two children and random timers.
func anyConfig(r *rand.Rand, a, b *ike.Config) {
	rekeyIKE, rekeyChild := time.Duration(r.IntN(300))*time.Second, time.Duration(r.IntN(120))*time.Second
	overHosts := r.IntN(4) == 0 // one child in transport mode
	for _, cfg := range []*ike.Config{a, b} {
		restartAlways(cfg)
		c := cfg.Connections[0]
		c.DPDDelay = time.Duration(5+r.IntN(60)) * time.Second
		if rekeyIKE > 100*time.Second {
			c.RekeyTime, c.OverTime, c.RandTime = rekeyIKE, rekeyIKE, 10*time.Second
		}
		first := *c.Children[0]
		if rekeyChild > 40*time.Second {
			first.RekeyTime, first.LifeTime, first.RandTime = rekeyChild, 2*rekeyChild, 5*time.Second
		}
		first.StartAction = ike.ActionStart
		second := first
		second.Name = "other"
		second.LocalTS, second.RemoteTS = second.RemoteTS, second.LocalTS
		if r.IntN(2) == 0 {
			second.Proposals = Proposals(suite.ESP, "aes256gcm16")
			second.StartAction = ike.ActionClear
		}
		if overHosts {
			any := []ike.TrafficSelector{{Dynamic: true, EndPort: 65535}}
			first.Mode, first.LocalTS, first.RemoteTS = ike.ModeTransport, any, any
		}
		c.Children = []*ike.ChildConfig{&first, &second}
		c.Unique = ike.UniquePolicy(r.IntN(4))
	}
	if r.IntN(3) == 0 {
		multipleKE(a, b)
	}
	twoAddresses(a, b)
	b.Connections[0].RemoteAddrs = Addrs(EndA.Addr, natAddr, secondA)
	a.Connections[0].MOBIKE = r.IntN(4) > 0
	b.Connections[0].Children[1].Proposals = a.Connections[0].Children[1].Proposals
	b.Connections[0].Unique = a.Connections[0].Unique
}

// anyEvent lets one thing happen.
func (p *Pair) anyEvent(r *rand.Rand, nat *NAT) {
	h := p.Hosts()[r.IntN(2)]
	child := h.config.Connections[0].Children[r.IntN(2)].Name
	switch r.IntN(14) {
	case 0, 1:
		h.Do(ike.Rekey{Connection: ConnectionName, Child: child})
	case 2:
		h.Do(ike.Rekey{Connection: ConnectionName})
	case 3, 4:
		h.Do(ike.Initiate{Connection: ConnectionName, Child: child})
	case 5:
		h.Do(ike.Terminate{Connection: ConnectionName, Child: child, Force: r.IntN(4) == 0})
	case 6:
		h.Do(ike.Terminate{Connection: ConnectionName, Force: r.IntN(4) == 0})
	case 7:
		h.Do(ike.Acquire{ReqID: uint32(1 + r.IntN(2)), Src: netip.MustParseAddrPort("10.1.0.1:1"), Dst: netip.MustParseAddrPort("10.2.0.1:1")})
	case 8:
		cfg := *h.config
		h.Do(ike.Reconfigure{Config: &cfg})
	case 9:
		if h.running() {
			h.Crash()
			p.After(p.upTo(time.Minute), func() {
				if !h.running() {
					h.Start()
				}
			})
		}
	case 10:
		p.Cut(p.A, p.B)
		p.After(p.upTo(4*time.Minute), func() { p.Mend(p.A, p.B) })
	case 11:
		if nat != nil {
			nat.Rebind()
		}
	case 13:
		if h.running() && len(p.nats) == 0 && len(h.addrs)+len(h.lost) > 1 {
			all := [][]netip.Addr{{EndA.Addr, secondA}, {EndB.Addr, secondB}}[slices.Index(p.Hosts(), h)]
			h.Do(ike.AddressChanged{Addrs: [][]netip.Addr{all, all[:1], all[1:], nil}[r.IntN(4)]})
		}
	case 12:
		for _, id := range h.Kernel.ids()[:min(1, h.Kernel.Children())] {
			c := h.Kernel.children[id].sa
			h.Do(ike.Expire{SPI: c.SPIIn, Dst: c.Local, Hard: r.IntN(2) == 0})
		}
	}
}

// atPeace is Agree for hosts whose timers go on: the children are up at both ends, in one CHILD_SA each
// or in two while one replaces the other, and all that would be sent can be decrypted.
func (p *Pair) atPeace() error {
	for _, h := range p.Hosts() {
		s := h.Snapshot()
		established := 0
		for _, sa := range s.IKESAs {
			if sa.State == ike.IKEEstablished || sa.State == ike.IKERekeying {
				established++
			}
		}
		if established != 1 {
			return fmt.Errorf("%s has %d established IKE SAs: %s", h.Name, established, h.Describe())
		}
		reqids := map[string]uint32{}
		for _, id := range h.Kernel.ids() {
			c := h.Kernel.children[id].sa
			reqids[c.Config.Name] = c.ReqID
		}
		for _, c := range h.config.Connections[0].Children {
			out := h.Kernel.newest(reqids[c.Name])
			if out == nil || !h.Up(ConnectionName, c.Name) {
				return fmt.Errorf("%s: %s is not up: %s", h.Name, c.Name, h.Describe())
			}
			if _, _, err := p.path(h, out); err != nil {
				return fmt.Errorf("what %s sends on %s is lost: %w", h.Name, childText{out.sa}, err)
			}
		}
		if h.Kernel.Children() > 4 {
			return fmt.Errorf("%s has %d CHILD_SAs for two children: %s", h.Name, h.Kernel.Children(), h.Describe())
		}
	}
	return nil
}
