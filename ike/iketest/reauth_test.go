package iketest

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// reauthenticate is the event that the operator's command makes of it.
var reauthenticate = ike.Rekey{Connection: ConnectionName, Reauth: true}

// twoChildren gives both ends a second child, which A starts.
func twoChildren(a, b *ike.Config) {
	netA, netB := Selectors(netip.MustParsePrefix("10.11.0.0/16")), Selectors(netip.MustParsePrefix("10.12.0.0/16"))
	for _, c := range []*ike.Config{a, b} {
		second := *c.Connections[0].Children[0]
		second.Name, second.LocalTS, second.RemoteTS = "second", netA, netB
		if c == b {
			second.LocalTS, second.RemoteTS = netB, netA
		} else {
			second.StartAction = ike.ActionStart
		}
		c.Connections[0].Children = append(c.Connections[0].Children, &second)
	}
}

// reauthenticated checks that one other IKE SA has taken everything over.
func reauthenticated(t *testing.T, p *Pair, before ike.IKESAInfo) {
	t.Helper()
	agree(t, p)
	if after := only(t, p.A); after.SPIi == before.SPIi {
		failRun(t, p.Net, "the IKE SA is still the old one")
	}
}

// TestMakeBeforeBreak authenticates again with traffic on two children, of which no packet is lost, from each end.
func TestMakeBeforeBreak(t *testing.T) {
	for seed := range uint64(40) {
		p := established(t, seed, func(a, b *ike.Config) {
			persist(a, b)
			if seed%2 == 0 {
				twoChildren(a, b)
			}
		})
		p.A.ComputeTime, p.B.ComputeTime = 50*time.Millisecond, 50*time.Millisecond
		p.A.InstallTime, p.B.InstallTime = 20*time.Millisecond, 20*time.Millisecond
		p.RunFor(time.Minute)
		before := only(t, p.A)
		p.GuardTraffic()
		[]*Host{p.A, p.B}[seed/2%2].Do(reauthenticate)
		p.RunFor(time.Minute)
		reauthenticated(t, p, before)
	}
}

// TestReauthWithEverySingleFault loses, repeats and delays each message of it.
func TestReauthWithEverySingleFault(t *testing.T) {
	for name, edit := range map[string]func(a, b *ike.Config){"one child": func(a, b *ike.Config) {}, "two children": twoChildren} {
		s := scenario{name: "reauthentication, " + name, a: events(reauthenticate), edit: func(a, b *ike.Config) {
			persist(a, b)
			edit(a, b)
		}}
		s.enumerate(t)
	}
}

// TestBreakBeforeMake has the old IKE SA gone before the new one comes.
func TestBreakBeforeMake(t *testing.T) {
	p := established(t, 1, func(a, b *ike.Config) {
		persist(a, b)
		twoChildren(a, b)
		a.BreakBeforeMake = true
	})
	p.RunFor(time.Minute)
	before := only(t, p.A)
	p.A.Do(reauthenticate)
	p.RunFor(time.Minute)
	reauthenticated(t, p, before)
	if !strings.Contains(p.Trace(), "A: site/net up: false") {
		failRun(t, p.Net, "the old one was there all the time")
	}
}

// TestReauthTime does it by the clock, and never stops; a rekey between does not postpone it.
func TestReauthTime(t *testing.T) {
	p := established(t, 1, func(a, b *ike.Config) {
		persist(a, b)
		twoChildren(a, b)
		c := a.Connections[0]
		c.ReauthTime, c.RekeyTime, c.OverTime, c.RandTime = time.Hour, 20*time.Minute, 5*time.Minute, 5*time.Minute
	})
	p.GuardTraffic()
	p.RunFor(50 * time.Minute)
	if n := strings.Count(noted(p.A), "rekeyed between"); n < 2 {
		failRun(t, p.Net, "%d rekeys", n)
	}
	p.RunFor(5*time.Hour + 15*time.Minute)
	agree(t, p)
	if n := strings.Count(noted(p.A), "reauthenticating IKE_SA"); n < 6 || n > 8 {
		failRun(t, p.Net, "authenticated %d times in 6 hours", n)
	}
}

// TestAuthLifetime has only the responder configured; the initiator obeys (RFC 4478).
func TestAuthLifetime(t *testing.T) {
	for _, c := range []struct {
		name     string
		own      time.Duration // reauth_time of the initiator
		says     string
		at, most time.Duration
	}{
		{"none of its own", 0, "received AUTH_LIFETIME of 3600s, scheduling reauthentication in 3240s", 54 * time.Minute, 54 * time.Minute},
		{"sooner by itself", 20 * time.Minute, "received AUTH_LIFETIME of 3600s, reauthentication already scheduled in", 18 * time.Minute, 20 * time.Minute},
		{"later by itself", 3 * time.Hour, "scheduling reauthentication in 3240s", 54 * time.Minute, 54 * time.Minute},
	} {
		p := established(t, 1, func(a, b *ike.Config) {
			persist(a, b)
			b.Connections[0].ReauthTime, b.Connections[0].OverTime = time.Hour, 6*time.Minute
			a.Connections[0].ReauthTime, a.Connections[0].RandTime = c.own, 2*time.Minute
		})
		if !strings.Contains(noted(p.A), c.says) {
			failRun(t, p.Net, "%s: A does not say %q", c.name, c.says)
		}
		before := only(t, p.A)
		in := before.ReauthAt.Sub(before.Established)
		if in < c.at || in > c.most {
			failRun(t, p.Net, "%s: planned in %v", c.name, in)
		}
		p.GuardTraffic()
		p.RunFor(c.most + time.Minute)
		reauthenticated(t, p, before)
		if strings.Contains(noted(p.B), "reauthenticating") {
			failRun(t, p.Net, "%s: the responder did it", c.name)
		}
	}
}

// TestFailedReauth tries again while the old IKE SA serves, and lets that go at its end.
func TestFailedReauth(t *testing.T) {
	p := established(t, 1, func(a, b *ike.Config) {
		persist(a, b)
		c := a.Connections[0]
		c.ReauthTime, c.OverTime, c.RandTime = time.Hour, 10*time.Minute, 0
	})
	before := only(t, p.A)
	p.RunFor(30 * time.Minute)
	refuses := Connect(EndB, EndA)
	persist(refuses, refuses)
	good := refuses.Secrets
	refuses.Secrets = nil
	p.B.Do(ike.Reconfigure{Config: refuses})
	p.GuardTraffic()
	p.RunFor(35 * time.Minute)
	agree(t, p)
	if after := only(t, p.A); after.SPIi != before.SPIi {
		failRun(t, p.Net, "the old IKE SA is gone before its time")
	}
	if n := strings.Count(noted(p.A), "reauthenticating IKE_SA"); n < 3 {
		failRun(t, p.Net, "tried %d times in 5 minutes", n)
	}
	again := *refuses
	again.Secrets = good
	p.B.Do(ike.Reconfigure{Config: &again})
	p.RunFor(3 * time.Minute)
	reauthenticated(t, p, before)
}

// TestReauthMeetsRekeys has rekeys of both ends under way at the same time.
func TestReauthMeetsRekeys(t *testing.T) {
	others := map[string]ike.Event{"IKE rekey": ike.Rekey{Connection: ConnectionName}, "child rekey": ike.Rekey{Connection: ConnectionName, Child: ChildName}, "reauthentication": reauthenticate}
	for name, ev := range others {
		for seed := range uint64(30) {
			p := established(t, seed, persist)
			p.A.ComputeTime, p.B.ComputeTime = 50*time.Millisecond, 50*time.Millisecond
			p.RunFor(time.Minute)
			before := only(t, p.A)
			p.GuardTraffic()
			p.A.Do(reauthenticate)
			p.RunFor(time.Duration(seed) * 5 * time.Millisecond)
			p.B.Do(ev)
			p.RunFor(5 * time.Minute)
			agree(t, p)
			if after := only(t, p.A); after.SPIi == before.SPIi {
				failRun(t, p.Net, "%s, seed %d: the IKE SA is still the old one", name, seed)
			}
		}
	}
}
