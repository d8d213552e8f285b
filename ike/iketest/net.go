package iketest

import (
	"math/rand/v2"
	"net/netip"
	"time"
)

// start is when every run begins.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Net is a network of hosts with a clock of its own. It is not safe for
// concurrent use; the fields may be changed between calls.
type Net struct {
	Faults Faults              // of every link
	Fate   func(*Message) Fate // decides about single messages; nil: nothing special
	Silent bool                // GuardTraffic sends no packets of its own

	seed     uint64
	rng      *rand.Rand
	now      time.Time
	queue    queue
	hosts    []*Host
	byAddr   map[netip.Addr]*Host
	nats     map[netip.Addr]*NAT // by their outside address
	sent     int                 // IKE messages, since the last Recount
	lastSent time.Time
	held     []*held
	blocked  map[[2]*Host]bool
	guard    map[flow]bool
	guarded  []flow // the same, in a fixed order
	pinging  bool
	wire     wireCheck
	trace    trace

	recording bool
	recorded  []*Message

	failed error
}

// NewNet returns a network without hosts. Everything random in it follows
// from the seed.
func NewNet(seed uint64) *Net {
	n := &Net{
		Faults:  Faults{Delay: 10 * time.Millisecond},
		seed:    seed,
		rng:     rand.New(rand.NewPCG(seed, 0x69706563)),
		now:     start,
		byAddr:  map[netip.Addr]*Host{},
		nats:    map[netip.Addr]*NAT{},
		blocked: map[[2]*Host]bool{},
		guard:   map[flow]bool{},
	}
	n.wire.init()
	return n
}

// Seed returns the seed that NewNet got.
func (n *Net) Seed() uint64 { return n.seed }

// Now returns the virtual time.
func (n *Net) Now() time.Time { return n.now }

// Elapsed returns how long the run lasts, in virtual time.
func (n *Net) Elapsed() time.Duration { return n.now.Sub(start) }

// Hosts returns all hosts.
func (n *Net) Hosts() []*Host { return n.hosts }

// After plans f for a moment of virtual time, d from now.
func (n *Net) After(d time.Duration, f func()) {
	n.queue.add(&event{at: n.now.Add(d), run: f})
}

func (n *Net) background(d time.Duration, f func()) {
	n.queue.add(&event{at: n.now.Add(d), run: f, background: true})
}

// Step lets the next thing happen, unless it is later than until or a violation has
// stopped the run. It reports whether something happened.
func (n *Net) Step(until time.Time) bool {
	if n.failed != nil {
		return false
	}
	ev := n.queue.next()
	h, at := n.nextTimer()
	switch {
	case ev != nil && (h == nil || !ev.at.After(at)):
		if ev.at.After(until) {
			return false
		}
		n.advance(ev.at)
		n.queue.take().run()
	case h != nil:
		if at.After(until) {
			return false
		}
		n.advance(at)
		h.timeout()
	default:
		return false
	}
	return true
}

func (n *Net) advance(at time.Time) {
	if at.After(n.now) {
		n.now = at
	}
}

// nextTimer returns the host whose engine has the earliest timer.
func (n *Net) nextTimer() (*Host, time.Time) {
	var first *Host
	var at time.Time
	for _, h := range n.hosts {
		if !h.running() {
			continue
		}
		if t, ok := h.engine.NextTimeout(); ok && (first == nil || t.Before(at)) {
			first, at = h, t
		}
	}
	return first, at
}

// RunFor lets d of virtual time pass.
func (n *Net) RunFor(d time.Duration) {
	until := n.now.Add(d)
	for n.Step(until) {
	}
	if n.failed == nil {
		n.advance(until)
	}
}

// RunUntil runs until cond holds, at most for d of virtual time. It reports
// whether cond holds.
func (n *Net) RunUntil(cond func() bool, d time.Duration) bool {
	until := n.now.Add(d)
	for !cond() {
		if !n.Step(until) {
			if n.failed == nil {
				n.advance(until)
			}
			return false
		}
	}
	return true
}
