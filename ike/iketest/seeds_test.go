package iketest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// gcPercent trades memory for time.
const gcPercent = 800

// IKETEST_SEEDS sets how many seeds TestSeeds plays, and by it the share of the others; IKETEST_SEED repeats one.
const (
	seedsEnv = "IKETEST_SEEDS"
	seedEnv  = "IKETEST_SEED"
)

// runs is how many seeds are played: as a rule, and under the race detector.
type runs struct{ usual, slowed uint64 }

// allSeeds is the usual number of seeds of TestSeeds. Slower tests have a share of it.
const allSeeds = 300

// TestSeeds sets up, lets both ends create, rekey, delete and check for life at random, and deletes, on
// a network that loses 30 % and duplicates, reorders and corrupts.
func TestSeeds(t *testing.T) { eachSeed(t, "TestSeeds", runs{allSeeds, 300}, randomRun) }

// eachSeed plays a kind of run with every seed, on all processors.
func eachSeed(t *testing.T, test string, most runs, run func(seed uint64) (*Pair, error)) {
	first, count := seeds(t, most)
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent)) // runs are short, and leave nothing behind
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := next.Add(1) - 1; n < count; n = next.Add(1) - 1 {
				if p, err := run(first + n); err != nil {
					t.Errorf("%s\nseed %d: %v\nagain: %s=%d go test -run '^%s$' ./ike/iketest", tail(p.Net), p.Seed(), err, seedEnv, p.Seed(), test)
					return
				}
			}
		})
	}
	wg.Wait()
}

// seeds returns which seeds to play.
func seeds(t *testing.T, most runs) (first, count uint64) {
	switch one, many := os.Getenv(seedEnv), os.Getenv(seedsEnv); {
	case one != "":
		return number(t, seedEnv, one), 1
	case many != "":
		return 0, max(1, number(t, seedsEnv, many)*most.usual/allSeeds)
	case testing.Short():
		return 0, most.slowed / 10
	case slowed:
		return 0, most.slowed
	}
	return 0, most.usual
}

func number(t *testing.T, name, s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is not a number", name, s)
	}
	return n
}

// randomRun plays one seed and returns what was wrong.
func randomRun(seed uint64) (*Pair, error) {
	r := rand.New(rand.NewPCG(seed, 1))
	p := NewPair(seed, func(a, b *ike.Config) {
		if r.IntN(3) == 0 {
			multipleKE(a, b)
		}
		patient(a, b)
		a.Connections[0].DPDDelay = time.Duration(r.IntN(3)*20) * time.Second
		b.Connections[0].DPDDelay = time.Duration(r.IntN(3)*20) * time.Second
	})
	p.Silent = r.IntN(3) == 0
	for _, h := range p.Hosts() {
		h.ComputeTime = time.Duration(r.IntN(30)) * time.Millisecond
		h.InstallTime = time.Duration(r.IntN(30)) * time.Millisecond
	}
	bad := badNetwork(r)
	bad.Loss = 0.3
	good := Faults{Delay: bad.Delay, Jitter: bad.Jitter}

	phase := func(what string, faults Faults, want func() error) error {
		p.Faults = faults
		p.Tracef("--- %s", what)
		p.RunFor(2 * time.Minute)
		p.Faults = good
		p.RunFor(settleTime)
		if err := p.Err(); err != nil {
			return err
		}
		p.RunUntil(func() bool { return want() == nil }, time.Second) // liveness checks go on
		if err := want(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	p.atRandom(r, initiate, 200*time.Millisecond)
	if err := phase("set up", bad, p.Agree); err != nil {
		return p, err
	}
	p.GuardTraffic()
	for round := range 2 {
		for range 1 + r.IntN(3) {
			p.atRandom(r, rekeyChild, time.Second)
		}
		for range r.IntN(2) {
			p.atRandom(r, rekeyIKE, time.Second)
		}
		if err := phase(fmt.Sprintf("rekey round %d", round+1), bad, p.Agree); err != nil {
			return p, err
		}
	}
	p.UnguardTraffic()
	for range 2 + r.IntN(4) {
		p.atRandom(r, []ike.Event{initiate, rekeyChild, rekeyIKE, deleteChild, deleteChild, deleteIKE}[r.IntN(6)], 2*time.Second)
	}
	if err := phase("anything", bad, func() error { return nil }); err != nil {
		return p, err
	}
	p.atRandom(r, initiate, time.Second)
	if err := phase("set up again", bad, p.Agree); err != nil {
		return p, err
	}
	p.atRandom(r, rekeyChild, time.Second)
	p.After(p.upTo(time.Second), func() { p.Both(ike.Shutdown{}) })
	return p, phase("delete", bad, p.Empty)
}

// atRandom plans an event for one host or for both, within a time.
func (p *Pair) atRandom(r *rand.Rand, ev ike.Event, within time.Duration) {
	who := r.IntN(3)
	if who != 1 {
		p.After(p.upTo(within), func() { p.A.Do(ev) })
	}
	if who != 0 {
		p.After(p.upTo(within), func() { p.B.Do(ev) })
	}
}

func restartAlways(cfg *ike.Config) {
	c := cfg.Connections[0]
	c.KeyingTries = 0
	c.Children[0].CloseAction, c.Children[0].DPDAction = ike.ActionStart, ike.ActionStart
}
