package iketest

import (
	"cmp"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// scenario is an exchange, or two that collide, and what must be true afterwards.
type scenario struct {
	name   string
	edit   func(a, b *ike.Config)
	a, b   []ike.Event   // what the hosts are asked to do
	rest   time.Duration // from set-up to A's first; 0: a second
	offset time.Duration // from A's first to B's first
	setUp  bool          // the tunnel is what is set up, not what is there before
	moves  bool          // the hosts have two addresses each, see twoAddresses
	loses  bool          // traffic need not flow: something is deleted
	most   int           // messages that meet faults; 0: all
	want   func(p *Pair) error
}

// offsets are moments of a second exchange, relative to the first one's messages: these arrive every 10 ms.
var offsets = []time.Duration{0, 5 * time.Millisecond, 10 * time.Millisecond, 15 * time.Millisecond, 25 * time.Millisecond, 35 * time.Millisecond}

// start sets the stage, up to where faults begin.
func (s scenario) start(seed uint64) *Pair {
	p := NewPair(seed, s.edit)
	p.Silent = seed%2 == 1
	if s.moves {
		p.A.Do(ike.AddressChanged{Addrs: []netip.Addr{EndA.Addr, secondA}})
		p.B.Do(ike.AddressChanged{Addrs: []netip.Addr{EndB.Addr, secondB}})
	}
	if s.setUp {
		return p
	}
	p.A.Initiate()
	p.RunUntil(p.Up, time.Minute)
	p.RunFor(cmp.Or(s.rest, time.Second))
	if err := p.Agree(); err != nil && p.Err() == nil {
		p.violate("not set up: %v", err)
	}
	return p
}

// play lets the scenario happen with the faults, and returns what was wrong.
func (s scenario) play(p *Pair, faults ...Fault) error {
	if !s.loses && !s.setUp {
		p.GuardTraffic()
	}
	p.Inject(faults...)
	p.A.do(s.a)
	p.RunFor(s.offset)
	p.B.do(s.b)
	p.RunFor(settleTime)
	if err := p.Err(); err != nil {
		return err
	}
	want := s.want
	if want == nil {
		want = (*Pair).Agree
	}
	// Liveness checks may go on.
	p.RunUntil(func() bool { return want(p) == nil }, time.Second)
	if err := want(p); err != nil {
		return fmt.Errorf("seed %d: %w", p.Seed(), err)
	}
	return s.finish(p)
}

// finish deletes everything and checks that nothing stays behind.
func (s scenario) finish(p *Pair) error {
	p.Fate = nil
	p.UnguardTraffic()
	p.A.Do(ike.Shutdown{})
	p.RunFor(time.Minute)
	p.B.Do(ike.Shutdown{})
	p.RunFor(settleTime)
	if err := p.Err(); err != nil {
		return err
	}
	return p.Empty()
}

// Empty says what is left at the hosts.
func (p *Pair) Empty() error {
	for _, h := range p.Hosts() {
		if err := h.Empty(); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) do(events []ike.Event) {
	for _, ev := range events {
		h.Do(ev)
	}
}

// enumerate plays a scenario with each of its messages meeting each kind of fault.
func (s scenario) enumerate(t *testing.T) {
	p := s.start(1)
	if err := s.play(p); err != nil {
		failRun(t, p.Net, "without faults: %v", err)
	}
	messages, seeds := s.count(), uint64(2) // with and without traffic
	if s.most > 0 {
		messages = min(messages, s.most)
	}
	if brief() {
		seeds = 1
	}
	for n := 1; n <= messages; n++ {
		for _, kind := range Kinds() {
			for seed := range seeds {
				f := Fault{kind, n}
				p := s.start(seed)
				if err := s.play(p, f); err != nil {
					failRun(t, p.Net, "%v of %d, B begins after %v: %v", f, messages, s.offset, err)
				}
			}
		}
	}
}

// count returns how many messages the scenario takes without faults.
func (s scenario) count() int {
	p := s.start(1)
	p.Recount()
	p.A.do(s.a)
	p.RunFor(s.offset)
	p.B.do(s.b)
	p.RunFor(settleTime)
	return p.Sent()
}
