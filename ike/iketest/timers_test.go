package iketest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// TestTimersNeverLoseTraffic rekeys everything every few seconds, by timers of both ends that differ a little or not
// at all, on a bad network. No packet may be lost at any time.
func TestTimersNeverLoseTraffic(t *testing.T) {
	eachSeed(t, "TestTimersNeverLoseTraffic", runs{45, 30}, busyTimers)
}

func busyTimers(seed uint64) (*Pair, error) {
	r := rand.New(rand.NewPCG(seed, 4))
	p := NewPair(seed, func(a, b *ike.Config) {
		patient(a, b)
		for _, cfg := range []*ike.Config{a, b} {
			c := cfg.Connections[0]
			c.RekeyTime, c.OverTime = time.Duration(20+r.IntN(60))*time.Second, time.Hour
			c.Children[0].RekeyTime, c.Children[0].LifeTime = time.Duration(10+r.IntN(30))*time.Second, time.Hour
			if r.IntN(2) == 0 {
				c.RandTime, c.Children[0].RandTime = 5*time.Second, 5*time.Second
			}
			c.DPDDelay = time.Duration(r.IntN(20)) * time.Second
		}
		if r.IntN(2) == 0 { // both at the same moments
			b.Connections[0].RekeyTime, b.Connections[0].Children[0].RekeyTime = a.Connections[0].RekeyTime, a.Connections[0].Children[0].RekeyTime
		}
	})
	p.Silent = r.IntN(3) == 0
	for _, h := range p.Hosts() {
		h.ComputeTime = time.Duration(r.IntN(30)) * time.Millisecond
		h.InstallTime = time.Duration(r.IntN(30)) * time.Millisecond
	}
	p.A.Initiate()
	if !p.RunUntil(p.Up, time.Minute) {
		return p, fmt.Errorf("not set up")
	}
	p.RunFor(time.Second)
	p.GuardTraffic()
	p.Faults = badNetwork(r)
	p.RunFor(6 * time.Minute)
	p.Faults = Faults{Delay: p.Faults.Delay}
	p.RunFor(4 * time.Minute)
	// The timers go on: make them stop with the connection.
	p.UnguardTraffic()
	p.Both(ike.Shutdown{})
	p.RunFor(settleTime)
	return p, errors.Join(p.Err(), p.Empty())
}

// patient gives both ends so many tries that 30 % of loss do not make a peer look dead.
func patient(a, b *ike.Config) {
	for _, cfg := range []*ike.Config{a, b} {
		restartAlways(cfg)
		cfg.Timing.RetransmitTries, cfg.Timing.RetransmitLimit = 20, 8*time.Second
	}
}

// badNetwork returns random faults.
func badNetwork(r *rand.Rand) Faults {
	return Faults{
		Loss: 0.3 * r.Float64(), Duplicate: 0.3 * r.Float64(), Reorder: 0.3 * r.Float64(), Corrupt: 0.1 * r.Float64(),
		Delay: time.Duration(1+r.IntN(60)) * time.Millisecond, Jitter: time.Duration(r.IntN(60)) * time.Millisecond,
	}
}
