package iketest

import (
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// TestUnique: a second device comes with the identity of the first, from another address. What becomes of the first is
// what unique says; whoever is refused does not disturb the other.
func TestUnique(t *testing.T) {
	second := End{ID: EndA.ID, Addr: netip.MustParseAddr("192.0.2.9"), Net: EndA.Net}
	for _, c := range []struct {
		name          string
		policy        ike.UniquePolicy
		first, second bool // which B has afterwards
	}{
		{"no", ike.UniqueNo, false, true}, // INITIAL_CONTACT says that the first is gone (RFC 7296 section 2.4)
		{"never", ike.UniqueNever, true, true},
		{"keep", ike.UniqueKeep, true, false},
		{"replace", ike.UniqueReplace, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPair(1, func(_, b *ike.Config) {
				b.Connections[0].RemoteAddrs, b.Connections[0].Unique = nil, c.policy
			})
			establish(t, p)
			other := p.AddHost("other", Connect(second, EndB), second.Addr)
			other.Initiate()
			p.RunFor(30 * time.Second)
			noViolation(t, p.Net)
			has := map[netip.Addr]bool{}
			for _, sa := range p.B.Snapshot().IKESAs {
				has[sa.Remote.Addr()] = true
			}
			if has[EndA.Addr] != c.first || has[second.Addr] != c.second {
				failRun(t, p.Net, "B has an IKE SA with the first: %v, with the second: %v; expected %v and %v", has[EndA.Addr], has[second.Addr], c.first, c.second)
			}
			if n := len(other.Failures()); n > 0 == c.second {
				failRun(t, p.Net, "the second reports %d failures", n)
			}
		})
	}
}

// TestInitialContactIsForOnePair: it ends what is between the same two identities, and nothing else (RFC 7296 section 2.4).
func TestInitialContactIsForOnePair(t *testing.T) {
	p := NewPair(1, func(_, b *ike.Config) {
		b.Connections[0].RemoteAddrs, b.Connections[0].Remote.ID = nil, Identity("%any")
	})
	establish(t, p)
	end := End{ID: "c.example", Addr: netip.MustParseAddr("192.0.2.9"), Net: netip.MustParsePrefix("10.1.0.0/16")}
	other := p.AddHost("other", Connect(end, EndB), end.Addr)
	other.Initiate()
	p.RunFor(time.Minute)
	noViolation(t, p.Net)
	if n := len(p.B.Snapshot().IKESAs); n != 2 || !p.Up() {
		failRun(t, p.Net, "B has %d IKE SAs, expected 2", n)
	}
}

// TestReauthWithUnique authenticates anew, make before break, with a peer that keeps or replaces IKE SAs: it leaves the old one the time that it
// takes, so that no packet is lost.
func TestReauthWithUnique(t *testing.T) {
	for name, policy := range map[string]ike.UniquePolicy{"keep": ike.UniqueKeep, "replace": ike.UniqueReplace} {
		for seed := range uint64(10) {
			p := established(t, seed, func(a, b *ike.Config) {
				persist(a, b)
				twoChildren(a, b)
				b.Connections[0].Unique = policy
			})
			p.A.ComputeTime, p.B.ComputeTime = 50*time.Millisecond, 50*time.Millisecond
			p.A.InstallTime, p.B.InstallTime = 20*time.Millisecond, 20*time.Millisecond
			p.RunFor(time.Minute)
			before := only(t, p.A)
			p.GuardTraffic()
			p.A.Do(reauthenticate)
			p.RunFor(time.Minute)
			reauthenticated(t, p, before)
			if n := len(p.A.Failures()); n != 0 {
				failRun(t, p.Net, "unique = %s: %d failures", name, n)
			}
		}
	}
}
