package iketest

import (
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// TestTwoIKESAsBecomeOne: both ends set up at once, one of them two CHILD_SAs, so that neither IKE SA may have all. They are made
// one also where nothing happens on them later: nobody checks whether the peer is alive.
func TestTwoIKESAsBecomeOne(t *testing.T) {
	two := func(a, b *ike.Config) {
		ours, theirs := Selectors(netip.MustParsePrefix("10.1.0.0/16")), Selectors(netip.MustParsePrefix("10.3.0.0/16"))
		for _, cfg := range []*ike.Config{a, b} {
			c := cfg.Connections[0]
			c.DPDDelay = 0
			second := *c.Children[0]
			second.Name, second.LocalTS, second.RemoteTS = "second", ours, theirs
			c.Children = append(c.Children, &second)
			ours, theirs = theirs, ours // for b
		}
	}
	apart := 0
	for seed := range uint64(60) {
		p := NewPair(seed, two)
		p.Faults.Jitter = 30 * time.Millisecond
		p.A.Initiate()
		p.A.Do(ike.Initiate{Connection: ConnectionName, Child: "second"})
		p.B.Initiate()
		p.RunFor(20 * time.Second)
		if len(p.A.Snapshot().IKESAs) == 2 {
			apart++
		}
		p.RunFor(settleTime)
		if p.Err() != nil || p.Agree() != nil {
			failRun(t, p.Net, "seed %d: %v %v", seed, p.Err(), p.Agree())
		}
	}
	if apart == 0 {
		t.Error("in no run were there two IKE SAs that had to become one")
	}
}
