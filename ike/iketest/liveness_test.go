package iketest

import (
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// lively lets both ends check for life every 10 s, and bring the tunnel up again when it is lost.
func lively(a, b *ike.Config) {
	restart(a, b)
	for _, cfg := range []*ike.Config{a, b} {
		cfg.Connections[0].DPDDelay = 10 * time.Second
	}
}

// TestLivenessChecks: an idle peer is asked, one that sends ESP is not (RFC 7296 section 2.4).
func TestLivenessChecks(t *testing.T) {
	for _, silent := range []bool{true, false} {
		p := established(t, 1, lively)
		p.Silent = silent
		p.GuardTraffic()
		p.Recount()
		p.RunFor(10 * time.Minute)
		agree(t, p)
		if n := p.Sent(); silent && n < 60 || !silent && n > 2 {
			failRun(t, p.Net, "silent %v: %d messages in ten minutes", silent, n)
		}
	}
}

// TestPeerDeath cuts the link for good. Both ends find out by themselves and take the tunnel down;
// when the link is mended it comes back.
func TestPeerDeath(t *testing.T) {
	p := established(t, 1, lively)
	p.Cut(p.A, p.B)
	p.RunFor(10 * time.Minute)
	noViolation(t, p.Net)
	for _, h := range p.Hosts() {
		if h.Up(ConnectionName, ChildName) || h.Kernel.Children() > 0 {
			failRun(t, p.Net, "%s believes that the tunnel is up", h.Name)
		}
		if h.Snapshot().Counters.DPDTimeouts != 1 {
			failRun(t, p.Net, "%s counts %d dead peers, expected 1", h.Name, h.Snapshot().Counters.DPDTimeouts)
		}
	}
	p.Mend(p.A, p.B)
	if !p.RunUntil(p.Up, 3*time.Minute) {
		failRun(t, p.Net, "the tunnel has not come back 3 minutes after the link")
	}
	p.RunFor(settleTime)
	agree(t, p)
}

// TestShortOutage: an outage that is shorter than the retransmissions of a liveness check
// leaves everything as it was.
func TestShortOutage(t *testing.T) {
	p := established(t, 1, lively)
	oldIKE, oldChild := spis(t, p.A)
	p.Cut(p.A, p.B)
	p.RunFor(90 * time.Second)
	p.Mend(p.A, p.B)
	p.RunFor(settleTime)
	agree(t, p)
	if newIKE, newChild := spis(t, p.A); newIKE != oldIKE || newChild != oldChild {
		failRun(t, p.Net, "the SAs were replaced")
	}
}

// TestPeerRestarts: B forgets everything and is back at once. Whoever begins, the tunnel is up again within
// 10 s of a peer that begins by itself, since INITIAL_CONTACT tells A (RFC 7296 section 2.4).
func TestPeerRestarts(t *testing.T) {
	t.Run("and begins", func(t *testing.T) {
		p := established(t, 1, lively)
		p.B.Crash()
		p.RunFor(time.Second)
		p.B.Start()
		p.B.Initiate()
		if !p.RunUntil(func() bool { return p.Agree() == nil }, 10*time.Second) {
			failRun(t, p.Net, "10 s after B's restart: %v", p.Agree())
		}
		p.RunFor(settleTime)
		agree(t, p)
	})
	t.Run("and waits", func(t *testing.T) {
		p := established(t, 1, lively)
		p.B.Crash()
		p.RunFor(time.Second)
		p.B.Start()
		// A liveness check of A and its retransmissions have to fail.
		p.RunFor(10*time.Second + 166*time.Second + 10*time.Second)
		agree(t, p)
	})
	t.Run("in the middle of anything", func(t *testing.T) {
		for at := time.Duration(0); at <= 60*time.Millisecond; at += 5 * time.Millisecond {
			for _, ev := range []ike.Event{initiate, rekeyChild, rekeyIKE} {
				p := NewPair(1, lively)
				if ev != initiate {
					establish(t, p)
				}
				p.A.Do(ev)
				p.RunFor(at)
				p.B.Crash()
				p.RunFor(time.Second)
				p.B.Start()
				p.B.Initiate()
				p.RunFor(settleTime)
				if err := p.Agree(); p.Err() != nil || err != nil {
					failRun(t, p.Net, "%T, crash after %v: %v %v", ev, at, p.Err(), err)
				}
			}
		}
	})
}

// TestBothRestart: neither has anything, both begin.
func TestBothRestart(t *testing.T) {
	p := established(t, 1, lively)
	p.A.Crash()
	p.B.Crash()
	p.RunFor(time.Second)
	p.A.Start()
	p.RunFor(7 * time.Millisecond)
	p.B.Start()
	p.A.Initiate()
	p.B.Initiate()
	p.RunFor(settleTime)
	agree(t, p)
}

// TestHardLifetime: a peer that answers no rekey cannot make a CHILD_SA outlive its lifetime, and
// traffic gets a new one when the peer is back.
func TestHardLifetime(t *testing.T) {
	p := established(t, 1, func(a, b *ike.Config) {
		restart(a, b)
		child := a.Connections[0].Children[0]
		child.LifeTime = 30 * time.Second // and no rekey
	})
	_, old := spis(t, p.A)
	p.RunFor(25 * time.Second)
	if _, now := spis(t, p.A); now != old {
		failRun(t, p.Net, "the CHILD_SA went before its lifetime was over")
	}
	p.RunFor(20 * time.Second)
	noViolation(t, p.Net)
	agree(t, p)
	if _, now := spis(t, p.A); now == old {
		failRun(t, p.Net, "the CHILD_SA outlived its hard lifetime")
	}
}
