package iketest

import (
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// childless gives each end its policy, and the CHILD_SA a key exchange, which it has not got in IKE_AUTH.
func childless(initiator, responder ike.Childless) func(a, b *ike.Config) {
	return func(a, b *ike.Config) {
		persist(a, b)
		for _, c := range []*ike.Config{a, b} {
			c.Connections[0].Children[0].Proposals = Proposals(suite.ESP, "aes128gcm16-x25519")
		}
		a.Connections[0].Childless, b.Connections[0].Childless = initiator, responder
	}
}

// TestChildless: the first CHILD_SA is made in IKE_AUTH or, with a key exchange of its own, by CREATE_CHILD_SA, as both ends want it
// (RFC 6023); of ends that cannot agree the one that asks is told so.
func TestChildless(t *testing.T) {
	const allow, prefer, force, never = ike.ChildlessAllow, ike.ChildlessPrefer, ike.ChildlessForce, ike.ChildlessNever
	for _, c := range []struct {
		name                 string
		initiator, responder ike.Childless
		exchange             bool   // the CHILD_SA has one of its own
		failure              string // why there is no IKE SA
	}{
		{"allow", allow, allow, false, ""},
		{"prefer", prefer, allow, true, ""},
		{"prefer, never", prefer, never, false, ""},
		{"force", force, force, true, ""},
		{"force by one", force, allow, true, ""},
		{"force by the other", allow, force, true, ""}, // at the second try
		{"force, never", force, never, false, "childless = force"},
		{"never", never, allow, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPair(1, childless(c.initiator, c.responder))
			p.A.Initiate()
			p.RunFor(time.Minute)
			noViolation(t, p.Net)
			if c.failure != "" {
				if f := p.A.Failures(); len(f) == 0 || !strings.Contains(f[0], c.failure) || len(p.B.Snapshot().IKESAs) != 0 {
					failRun(t, p.Net, "failures %q, want one about %q", f, c.failure)
				}
				return
			}
			agree(t, p)
			if c.exchange && c.initiator != allow { // the next IKE SA's CHILD_SA comes in the same way
				p.A.Do(reauthenticate)
				p.RunFor(time.Minute)
				agree(t, p)
			}
			if got := chosen(only(t, p.A).Children[0].Proposal); strings.Contains(got, "x25519") != c.exchange {
				failRun(t, p.Net, "the CHILD_SA has %s", got)
			}
		})
	}
}

// TestChildlessAlone: an IKE SA alone can be asked for where its peer accepts that, and where no end may do so it has a CHILD_SA.
func TestChildlessAlone(t *testing.T) {
	for policy, children := range map[ike.Childless]int{ike.ChildlessAllow: 0, ike.ChildlessNever: 1} {
		p := NewPair(1, childless(policy, ike.ChildlessAllow))
		p.A.Do(ike.Initiate{Connection: ConnectionName})
		p.RunFor(time.Minute)
		noViolation(t, p.Net)
		if got := len(only(t, p.A).Children); got != children {
			failRun(t, p.Net, "policy %d: %d CHILD_SAs, want %d", policy, got, children)
		}
	}
}
