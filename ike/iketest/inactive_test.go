package iketest

import (
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// TestInactivity: a CHILD_SA without traffic is closed, also when it was rekeyed meanwhile, and not
// brought up again by start_action; one with traffic stays.
func TestInactivity(t *testing.T) {
	const limit = time.Minute
	idle := func(a, _ *ike.Config) {
		c := a.Connections[0].Children[0]
		c.Inactivity, c.StartAction = limit, ike.ActionStart
	}
	t.Run("idle", func(t *testing.T) {
		p := established(t, 1, idle)
		p.A.Do(rekeyChild)
		p.RunFor(limit + 5*time.Second)
		noViolation(t, p.Net)
		for _, h := range p.Hosts() {
			if sa := only(t, h); len(sa.Children) != 0 || h.Kernel.Children() != 0 {
				failRun(t, p.Net, "%s still has the CHILD_SA: %s", h.Name, h.Describe())
			}
		}
		p.RunFor(settleTime)
		noViolation(t, p.Net)
		if len(only(t, p.A).Children) != 0 {
			failRun(t, p.Net, "it was brought up again")
		}
		p.B.Initiate()
		p.RunFor(time.Second)
		agree(t, p)
	})
	t.Run("in use", func(t *testing.T) {
		p := established(t, 1, idle)
		p.GuardTraffic()
		p.RunFor(10 * limit)
		agree(t, p)
		p.UnguardTraffic()
		p.RunFor(limit + 10*time.Second)
		noViolation(t, p.Net)
		if n := len(only(t, p.A).Children); n != 0 {
			failRun(t, p.Net, "%d CHILD_SAs after the traffic has ended", n)
		}
	})
}
