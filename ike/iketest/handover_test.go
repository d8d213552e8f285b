package iketest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// handoverPatience is how long an engine waits for its IKE SAs to come to rest.
const handoverPatience = 5 * time.Second

// TestHandover: the peers notice nothing of an engine that takes over from another, in either role, again and again;
// no packet is lost, no message ID and no IV comes twice, and rekeys and deletion go on as before.
func TestHandover(t *testing.T) {
	for _, host := range []string{"initiator", "responder", "both"} {
		t.Run(host, func(t *testing.T) {
			p := established(t, 1, nil)
			before := only(t, p.A)
			p.GuardTraffic()
			handOver := func() {
				t.Helper()
				for _, h := range []*Host{p.A, p.B} {
					if host == "initiator" && h == p.B || host == "responder" && h == p.A {
						continue
					}
					h.HandOver(handoverPatience, func(left int) {
						if left > 0 {
							p.violate("%d IKE SAs were left out", left)
						}
					})
				}
				p.RunFor(10 * time.Second)
				agree(t, p)
			}
			handOver()
			if after := only(t, p.A); after.SPIi != before.SPIi || after.Children[0].SA.SPIIn != before.Children[0].SA.SPIIn {
				failRun(t, p.Net, "the SAs are others: %s", p.A.Describe())
			}
			for _, ev := range []ike.Event{rekeyChild, rekeyIKE} {
				for _, h := range []*Host{p.A, p.B} {
					h.Do(ev)
					p.RunFor(10 * time.Second)
					agree(t, p)
					handOver()
				}
			}
			p.RunFor(6 * time.Hour) // every timer has fired since, of IKE SAs and of CHILD_SAs
			agree(t, p)
			if now := only(t, p.A); now.SPIi == before.SPIi || now.Children[0].SA.SPIIn == before.Children[0].SA.SPIIn {
				failRun(t, p.Net, "the timers were not handed over: %s", p.A.Describe())
			}
			p.UnguardTraffic()
			p.A.Do(ike.Shutdown{})
			p.RunFor(settleTime)
			noViolation(t, p.Net)
			if n := len(p.B.Snapshot().IKESAs); n > 0 {
				failRun(t, p.Net, "the peer did not understand the Delete")
			}
		})
	}
}

// TestHandoverKeepsState: what the operator asked for and what the peer can still ask for survive.
func TestHandoverKeepsState(t *testing.T) {
	t.Run("taken down", func(t *testing.T) {
		p := established(t, 1, func(a, _ *ike.Config) { a.Connections[0].Children[0].StartAction = ike.ActionStart })
		p.A.Do(deleteIKE)
		p.RunFor(time.Minute)
		p.A.HandOver(0, nil)
		p.RunFor(10 * time.Minute)
		noViolation(t, p.Net)
		if p.Up() {
			failRun(t, p.Net, "what the operator took down came up again")
		}
	})
	t.Run("trap", func(t *testing.T) {
		p := established(t, 1, func(a, _ *ike.Config) { a.Connections[0].Children[0].CloseAction = ike.ActionTrap })
		p.B.Do(deleteChild)
		p.RunFor(time.Minute)
		p.A.HandOver(0, nil)
		noViolation(t, p.Net)
		if !p.A.Trapped(ConnectionName, ChildName) {
			failRun(t, p.Net, "the trap is gone: traffic would leave in the clear")
		}
		acquireFrom(p, "10.2.0.5")
		p.RunFor(time.Second)
		agree(t, p)
	})
	t.Run("response", func(t *testing.T) {
		// B's answer is lost, and another engine is there when A asks again.
		p := established(t, 1, func(a, _ *ike.Config) { a.Connections[0].DPDDelay = 10 * time.Second })
		p.Recount()
		p.Inject(Fault{Kind: Lose, N: 2})
		p.RunUntil(func() bool { return p.Sent() == 2 }, time.Minute)
		p.B.HandOver(0, nil)
		p.RunFor(settleTime)
		agree(t, p)
	})
	t.Run("refused", func(t *testing.T) {
		p := established(t, 1, nil)
		if _, err := p.A.Engine().TakeOver(time.Unix(0, 0), []byte("not a handover")); err == nil {
			t.Error("rubbish is taken over")
		}
		p.A.HandOver(0, nil)
		noViolation(t, p.Net)
	})
}

// TestHandoverResume: an engine whose handover came to nothing goes on.
func TestHandoverResume(t *testing.T) {
	p := established(t, 1, nil)
	e := p.A.Engine()
	e.Quiet()
	if _, _, err := e.HandOver(p.Now()); err != nil {
		t.Fatal(err)
	}
	p.B.Do(rekeyChild)
	p.RunFor(2 * time.Second)
	p.A.step(e.Resume)
	p.RunFor(time.Minute)
	agree(t, p)
	p.A.Do(rekeyIKE)
	p.RunFor(time.Minute)
	agree(t, p)
}

// TestHandoverSeeds hands over at random moments between rekeys, liveness checks and deletions by both ends, on a network that loses
// and repeats. What was under way may be set up anew; in the end both ends agree.
func TestHandoverSeeds(t *testing.T) {
	eachSeed(t, "TestHandoverSeeds", runs{allSeeds, 100}, func(seed uint64) (*Pair, error) {
		random := rand.New(rand.NewPCG(seed, 1))
		p := NewPair(seed, func(a, b *ike.Config) {
			for _, c := range []*ike.Config{a, b} {
				c.Connections[0].DPDDelay = 20 * time.Second
			}
			a.Connections[0].Children[0].StartAction = ike.ActionStart
		})
		p.RunUntil(p.Up, time.Minute)
		p.Faults = badNetwork(random)
		events := []ike.Event{rekeyChild, rekeyIKE, rekeyChild, rekeyIKE, ike.Terminate{Connection: ConnectionName, Child: ChildName}}
		for range 12 {
			h := p.Hosts()[random.IntN(2)]
			if random.IntN(2) == 0 {
				h.HandOver(time.Duration(random.IntN(6000))*time.Millisecond, nil)
			} else {
				h.Do(events[random.IntN(len(events))])
			}
			p.RunFor(time.Duration(random.IntN(8000)) * time.Millisecond)
		}
		p.Faults = Faults{}
		p.RunFor(settleTime)
		for _, h := range p.Hosts() {
			h.HandOver(handoverPatience, nil)
		}
		p.RunFor(time.Minute)
		p.A.Initiate()
		p.RunFor(2 * settleTime)
		if err := p.Err(); err != nil {
			return p, err
		}
		if err := p.Agree(); err != nil {
			return p, fmt.Errorf("in the end: %w", err)
		}
		return p, nil
	})
}

// TestHandoverOfVirtualAddresses: leases stay with their peers, and the addresses that we have are told to the kernel again.
func TestHandoverOfVirtualAddresses(t *testing.T) {
	p := established(t, 1, virtual(any4))
	if err := assigned(p, EndA.Addr, first4); err != nil {
		failRun(t, p.Net, "%v", err)
	}
	for _, h := range []*Host{p.A, p.B} {
		h.HandOver(handoverPatience, nil)
		p.RunFor(10 * time.Second)
		noViolation(t, p.Net)
		if err := assigned(p, EndA.Addr, first4); err != nil {
			failRun(t, p.Net, "after the handover of %s: %v", h.Name, err)
		}
	}
	p.A.Do(deleteIKE)
	p.RunFor(time.Minute)
	noViolation(t, p.Net)
	if err := leasesOf(p.B, map[netip.Addr]bool{first4: true}); err != nil {
		failRun(t, p.Net, "%v", err)
	}
	p.B.HandOver(handoverPatience, nil)
	p.RunFor(time.Minute)
	if err := leasesOf(p.B, map[netip.Addr]bool{first4: true}); err != nil {
		failRun(t, p.Net, "after another handover: %v", err)
	}
	if left := p.A.Virtual(EndA.Addr); len(left) > 0 {
		failRun(t, p.Net, "A still has %v", left)
	}
}
