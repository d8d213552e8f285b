package iketest

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// TestMismatches sets up what cannot work. Each end that can know says once what is wrong and what to
// compare, and nothing stays behind but an IKE SA where only the CHILD_SA failed.
func TestMismatches(t *testing.T) {
	first := func(cfg *ike.Config) *ike.Connection { return cfg.Connections[0] }
	cases := []struct {
		name   string
		edit   func(a, b *ike.Config)
		sayA   []string // in A's failure
		sayB   []string // in B's
		ikeSAs int
	}{
		{
			name:   "wrong secret",
			edit:   func(a, _ *ike.Config) { a.Secrets = []auth.Secret{{Key: suite.NewKey([]byte("another"))}} },
			sayA:   []string{"AUTHENTICATION_FAILED", "secrets", "simulated.conf:10"},
			sayB:   []string{"MAC mismatched", "secrets", "simulated.conf:10"},
			ikeSAs: 0,
		},
		{
			name: "no secret at the responder",
			edit: func(_, b *ike.Config) { b.Secrets = nil },
			sayA: []string{"AUTHENTICATION_FAILED", "local.id"},
			sayB: []string{"no pre-shared key", "secrets"},
		},
		{
			name: "no secret at the initiator",
			edit: func(a, _ *ike.Config) { a.Secrets = nil },
			sayA: []string{"no pre-shared key", "secrets"},
		},
		{
			name: "another identity than the responder expects",
			edit: func(a, _ *ike.Config) { first(a).Local.ID = Identity("c.example") },
			sayA: []string{"AUTHENTICATION_FAILED", "local.id"},
			sayB: []string{"c.example", "remote.id"},
		},
		{
			name: "another identity than the initiator expects",
			edit: func(a, _ *ike.Config) { first(a).Remote.ID = Identity("c.example") },
			sayA: []string{"AUTHENTICATION_FAILED", "local.id"},
			sayB: []string{"c.example"},
		},
		{
			name: "no common IKE proposal",
			edit: func(a, _ *ike.Config) { first(a).Proposals = Proposals(suite.IKE, "aes256-sha256-modp2048") },
			sayA: []string{"proposal", "simulated.conf:10"},
			sayB: []string{"aes", "proposals", "simulated.conf:10"},
		},
		{
			name:   "no common ESP proposal",
			edit:   func(a, _ *ike.Config) { first(a).Children[0].Proposals = Proposals(suite.ESP, "aes256-sha256") },
			sayA:   []string{"proposal", "simulated.conf:20"},
			sayB:   []string{"esp_proposals", "simulated.conf:20"},
			ikeSAs: 1,
		},
		{
			name: "no common selectors",
			edit: func(a, _ *ike.Config) {
				first(a).Children[0].RemoteTS = Selectors(netip.MustParsePrefix("172.16.0.0/12"))
			},
			sayA:   []string{"remote_ts", "172.16.0.0"},
			sayB:   []string{"selector", "172.16.0.0"},
			ikeSAs: 1,
		},
		{
			name: "no connection for the address",
			edit: func(_, b *ike.Config) {
				first(b).RemoteAddrs = Addrs(netip.MustParseAddr("198.51.100.7"))
			},
			sayA: []string{"proposal"},
			sayB: []string{"no connection", "192.0.2.1", "remote_addrs"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := NewPair(1, c.edit)
			p.A.Initiate()
			p.RunFor(settleTime)
			noViolation(t, p.Net)
			says(t, p.A, c.sayA)
			says(t, p.B, c.sayB)
			for _, h := range p.Hosts() {
				if n := len(h.Snapshot().IKESAs); n != c.ikeSAs {
					failRun(t, p.Net, "%s has %d IKE SAs, expected %d", h.Name, n, c.ikeSAs)
				}
				if h.Kernel.Children() != 0 {
					failRun(t, p.Net, "%s has CHILD_SAs", h.Name)
				}
			}
			p.A.Do(ike.Shutdown{})
			p.RunFor(settleTime)
			empty(t, p.Net)
		})
	}
}

// says fails the test unless a host has reported one failure, with all the words.
func says(t *testing.T, h *Host, words []string) {
	t.Helper()
	failures := h.Failures()
	if len(words) == 0 {
		return
	}
	if len(failures) != 1 {
		failRun(t, h.net, "%s reports %d failures, expected 1: %q", h.Name, len(failures), failures)
	}
	for _, w := range words {
		if !strings.Contains(failures[0], w) {
			failRun(t, h.net, "%s says %q, which does not name %q", h.Name, failures[0], w)
		}
	}
	if strings.Contains(failures[0], psk) {
		t.Errorf("%s prints the secret", h.Name)
	}
}

// TestUnreachable counts the transmissions to a peer that does not answer: strongSwan's times
// (https://docs.strongswan.org/docs/latest/config/retransmission.html).
func TestUnreachable(t *testing.T) {
	p := NewPair(1, nil)
	p.Cut(p.A, p.B)
	p.Record()
	p.A.Initiate()
	p.RunFor(10 * time.Minute)
	noViolation(t, p.Net)
	want := []time.Duration{0, 4 * time.Second, 11200 * time.Millisecond, 24160 * time.Millisecond, 47488 * time.Millisecond, 89478400 * time.Microsecond}
	times(t, p.Net, want)
	says(t, p.A, []string{"192.0.2.2", "unreachable"})
	empty(t, p.Net)
	// The given-up time is that of strongSwan, too: 165 s.
	last := p.A.Snapshot().Connections[0]
	if at := last.ErrorAt.Sub(start).Round(time.Second); at != 165*time.Second {
		t.Errorf("A gave up after %v, expected 165 s", at)
	}
}

// times checks when the recorded messages were sent.
func times(t *testing.T, n *Net, want []time.Duration) {
	t.Helper()
	var got []time.Duration
	for _, m := range n.Recorded() {
		got = append(got, m.Sent.Sub(start))
	}
	if len(got) != len(want) {
		failRun(t, n, "messages were sent at %v, expected %v", got, want)
	}
	for i := range want {
		if d := got[i] - want[i]; d < -time.Millisecond || d > time.Millisecond {
			failRun(t, n, "message %d was sent at %v, expected %v", i+1, got[i], want[i])
		}
	}
}
