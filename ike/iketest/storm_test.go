package iketest

import (
	"testing"
	"time"
)

// TestThousandRekeys lets all SAs of a gateway with a thousand tunnels expire at the same moment, its own timers and
// those of its peers, with a worker pool that needs its time. Every rekey is completed, nothing that is sent is
// lost, and no retransmission is needed as long as the pool is through within the first timeout; with a slower one
// they stay few.
func TestThousandRekeys(t *testing.T) {
	spokes := 1000
	if brief() {
		spokes = 50
	}
	for _, c := range []struct {
		name string
		each time.Duration // for one key exchange
		most int           // retransmissions of one tunnel
	}{
		{"quick", time.Millisecond, 0},
		{"slow", 10 * time.Millisecond, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, center, others := hub(1, spokes)
			n.Silent = true
			n.RunFor(settleTime)
			noViolation(t, n)
			before := retransmits(n)
			center.ComputeTime, center.Workers = c.each, 2
			n.GuardTraffic()
			n.Recount()
			center.Do(rekeyChild)
			for _, h := range others {
				h.Do(rekeyChild)
			}
			n.RunFor(settleTime)
			noViolation(t, n)
			for _, h := range others {
				s := h.Snapshot()
				if len(s.IKESAs) != 1 || len(s.IKESAs[0].Children) != 1 || s.IKESAs[0].Children[0].SA.ID == 1 {
					failRun(t, n, "%s is not at rest with a new CHILD_SA: %s", h.Name, h.Describe())
				}
			}
			again := retransmits(n) - before
			t.Logf("%d tunnels: %d messages, %d retransmissions", spokes, n.Sent(), again)
			if again > uint64(c.most*spokes) {
				t.Errorf("%d retransmissions for %d tunnels, expected at most %d each", again, spokes, c.most)
			}
			// Two rekeys of each, with a Delete of the old one and of the redundant one, and what is said about them.
			if most := spokes * (12 + 2*c.most); n.Sent() > most {
				t.Errorf("%d messages for %d tunnels, expected at most %d", n.Sent(), spokes, most)
			}
		})
	}
}

// retransmits counts those of all hosts.
func retransmits(n *Net) (all uint64) {
	for _, h := range n.Hosts() {
		all += h.Snapshot().Counters.Retransmits
	}
	return all
}
