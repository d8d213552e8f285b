package iketest

import (
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// rekeys says which end rekeys, or both at once.
var rekeys = []struct {
	name string
	do   func(p *Pair, ev ike.Event)
}{
	{"by A", func(p *Pair, ev ike.Event) { p.A.Do(ev) }},
	{"by B", func(p *Pair, ev ike.Event) { p.B.Do(ev) }},
	{"by both", func(p *Pair, ev ike.Event) { p.Both(ev) }},
}

// spis returns the SPIs of the only IKE SA of a host and of its first CHILD_SA.
func spis(t *testing.T, h *Host) (ikeSPI uint64, childSPI uint32) {
	t.Helper()
	sa := only(t, h)
	if len(sa.Children) == 0 {
		t.Fatalf("%s has no CHILD_SA", h.Name)
	}
	return sa.SPIi, sa.Children[0].SA.SPIIn
}

func TestRekeyChild(t *testing.T) {
	for _, r := range rekeys {
		for _, silent := range []bool{false, true} {
			p := established(t, 1, nil)
			p.Silent = silent
			oldIKE, oldChild := spis(t, p.A)
			p.GuardTraffic()
			r.do(p, rekeyChild)
			p.RunFor(settleTime)
			agree(t, p)
			newIKE, newChild := spis(t, p.A)
			if newIKE != oldIKE || newChild == oldChild {
				failRun(t, p.Net, "%s: the IKE SA is another: %v, the CHILD_SA is another: %v", r.name, newIKE != oldIKE, newChild != oldChild)
			}
		}
	}
}

func TestRekeyIKE(t *testing.T) {
	for _, r := range rekeys {
		p := established(t, 1, nil)
		oldIKE, oldChild := spis(t, p.A)
		p.GuardTraffic()
		r.do(p, rekeyIKE)
		p.RunFor(settleTime)
		agree(t, p)
		newIKE, newChild := spis(t, p.A)
		if newIKE == oldIKE || newChild != oldChild {
			failRun(t, p.Net, "%s: the IKE SA is another: %v, the CHILD_SA is another: %v", r.name, newIKE != oldIKE, newChild != oldChild)
		}
		// The successor can do all that its predecessor could.
		p.B.Do(rekeyChild)
		p.RunFor(settleTime)
		agree(t, p)
		p.UnguardTraffic()
		p.A.Do(deleteIKE)
		p.RunFor(settleTime)
		empty(t, p.Net)
	}
}

// TestRekeyTimers lets a day pass in which the configured times are all that rekeys.
func TestRekeyTimers(t *testing.T) {
	p := NewPair(3, func(a, b *ike.Config) {
		for _, cfg := range []*ike.Config{a, b} {
			c := cfg.Connections[0]
			c.RekeyTime, c.OverTime, c.RandTime = 4*time.Hour, 24*time.Minute, 24*time.Minute
			child := c.Children[0]
			child.RekeyTime, child.LifeTime, child.RandTime = time.Hour, 66*time.Minute, 6*time.Minute
		}
	})
	p.Silent = true // a day of packets is long
	establish(t, p)
	p.GuardTraffic()
	p.RunFor(24 * time.Hour)
	agree(t, p)
	rekeyed := p.A.Snapshot().Counters.Rekeys
	children := rekeyed[ike.RekeyKey{Child: true, Initiator: true, OK: true}] + rekeyed[ike.RekeyKey{Child: true, OK: true}]
	ikes := rekeyed[ike.RekeyKey{Initiator: true, OK: true}] + rekeyed[ike.RekeyKey{OK: true}]
	if children < 23 || children > 60 || ikes < 5 || ikes > 14 {
		failRun(t, p.Net, "in a day: %d rekeys of the CHILD_SA and %d of the IKE SA", children, ikes)
	}
}
