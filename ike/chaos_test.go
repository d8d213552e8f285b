package ike

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestChaos rekeys, deletes and initiates from both sides at random while the wire loses,
// doubles and reorders packets, then lets the wire be good and expects one
// working tunnel.
func TestChaos(t *testing.T) {
	seeds := 200
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { chaos(t, uint64(seed)) })
	}
}

func chaos(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	ca, cb := testConfigs(t)
	for _, c := range []*Config{ca, cb} {
		c.Connections[0].DPDDelay = 30 * time.Second
		c.Connections[0].RekeyTime, c.Connections[0].RandTime, c.Connections[0].OverTime = 6*time.Hour, time.Minute, time.Hour
		ch := c.Connections[0].Children[0]
		ch.StartAction = ActionStart
		ch.RekeyTime, ch.LifeTime = 5*time.Hour, 6*time.Hour
		if seed%2 == 0 {
			ch.Proposals = ch.Proposals[:1]
			ch.Proposals[0] = ch.Proposals[0].WithoutKE()
		}
	}
	if seed%3 == 0 {
		cb.Connections[0].Children[0].StartAction = ActionClear
	}
	p := newPair(t, ca, cb)
	for _, h := range []*host{p.a, p.b} {
		h.e.rand = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), h.name[0]})
	}
	loss := r.Float64() * 0.4
	p.lose = func(*host, Packet) bool { return r.Float64() < loss }
	p.delays = func() []time.Duration {
		d := []time.Duration{time.Duration(r.IntN(3000)) * time.Millisecond}
		if r.IntN(5) == 0 {
			d = append(d, time.Duration(r.IntN(9000))*time.Millisecond)
		}
		return d
	}
	p.run(30 * time.Second)
	for range 60 {
		h := p.a
		if r.IntN(2) == 0 {
			h = p.b
		}
		switch r.IntN(10) {
		case 0, 1, 2, 3:
			h.event(Rekey{Child: "net"})
		case 4, 5, 6:
			h.event(Rekey{Connection: "gw"})
		case 7:
			h.event(Terminate{Child: "net"})
			h.event(Initiate{"gw", "net"})
		case 8:
			h.event(Initiate{"gw", "net"})
		case 9:
			for id := range h.kernel {
				h.event(Traffic{ChildID: id, InPackets: uint64(p.now.Unix())})
				break
			}
		}
		p.run(time.Duration(r.IntN(6000)) * time.Millisecond)
	}
	p.lose = nil
	p.delays = func() []time.Duration { return []time.Duration{10 * time.Millisecond} }
	p.a.event(Initiate{"gw", "net"})
	p.run(25 * time.Minute)
	p.wantUp(t)
	for _, h := range []*host{p.a, p.b} {
		if n := len(h.e.jobs); n != 0 {
			t.Errorf("%s: %d computations are never finished", h.name, n)
		}
		for spi, c := range h.e.childSPI {
			if c == nil {
				t.Errorf("%s: SPI %08x is reserved for nothing", h.name, spi)
			}
		}
	}
}
