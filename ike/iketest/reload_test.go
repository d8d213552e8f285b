package iketest

import (
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// TestReloadUnchanged: an equal configuration touches nothing and sends nothing.
func TestReloadUnchanged(t *testing.T) {
	p := established(t, 1, lively)
	oldIKE, oldChild := spis(t, p.A)
	p.GuardTraffic()
	p.Recount()
	a, b := Connect(EndA, EndB), Connect(EndB, EndA)
	lively(a, b)
	p.A.Do(ike.Reconfigure{Config: a})
	p.RunFor(5 * time.Second)
	if p.Sent() > 0 {
		failRun(t, p.Net, "%d messages after a reload that changed nothing", p.Sent())
	}
	p.RunFor(settleTime)
	agree(t, p)
	if newIKE, newChild := spis(t, p.A); newIKE != oldIKE || newChild != oldChild {
		failRun(t, p.Net, "the SAs were replaced")
	}
}

// TestReloadRemoved: a connection that is gone from the configuration is closed at both ends.
func TestReloadRemoved(t *testing.T) {
	p := established(t, 1, nil)
	cfg := Connect(EndA, EndB)
	cfg.Connections = nil
	p.A.Do(ike.Reconfigure{Config: cfg})
	p.RunFor(settleTime)
	empty(t, p.Net)
}

// TestReloadChanged: a changed connection that start_action starts is set up anew as it is now; one
// beside it is not touched.
func TestReloadChanged(t *testing.T) {
	edit := func(a, b *ike.Config) {
		for _, cfg := range []*ike.Config{a, b} {
			cfg.Connections[0].Proposals = Proposals(suite.IKE, "aes128gcm16-prfsha256-x25519", "aes256gcm16-prfsha384-x25519")
		}
		a.Connections[0].Children[0].StartAction = ike.ActionStart
	}
	p := NewPair(1, edit)
	p.RunFor(settleTime)
	agree(t, p)
	a, b := Connect(EndA, EndB), Connect(EndB, EndA)
	edit(a, b)
	a.Connections[0].Proposals = Proposals(suite.IKE, "aes256gcm16-prfsha384-x25519")
	p.A.Do(ike.Reconfigure{Config: a})
	p.RunFor(settleTime)
	agree(t, p)
	if got := only(t, p.B).Proposal.String(); got != "aes256gcm16-prfsha384-x25519" {
		failRun(t, p.Net, "the IKE SA uses %s after the reload", got)
	}
}

// TestReloadUnderWay reloads an unchanged configuration at every moment of a set-up and of rekeys.
func TestReloadUnderWay(t *testing.T) {
	for _, ev := range []ike.Event{initiate, rekeyChild, rekeyIKE} {
		for at := time.Duration(0); at <= 50*time.Millisecond; at += 5 * time.Millisecond {
			p := NewPair(1, nil)
			if ev != initiate {
				establish(t, p)
				p.GuardTraffic()
			}
			p.A.Do(ev)
			p.RunFor(at)
			p.A.Do(ike.Reconfigure{Config: Connect(EndA, EndB)})
			p.B.Do(ike.Reconfigure{Config: Connect(EndB, EndA)})
			p.RunFor(settleTime)
			agree(t, p)
		}
	}
}
