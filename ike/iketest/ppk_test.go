package iketest

import (
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// ppkSide is what one end has of PPKs.
type ppkSide struct {
	id, key  string // key: in its secrets, under id
	required bool
}

func (s ppkSide) apply(cfg *ike.Config, name bool) {
	c := cfg.Connections[0]
	c.KeyingTries, c.PPKRequired = 1, s.required
	if name {
		c.PPKID = Identity(s.id)
	}
	if s.key != "" {
		cfg.PPKs = []auth.Secret{{Name: "simulated.conf:40", Owners: []auth.Identity{Identity(s.id)}, Key: suite.NewKey([]byte(s.key))}}
	}
}

// TestPPK goes through table 1 of RFC 8784 and what an initiator may meet.
func TestPPK(t *testing.T) {
	const id, key = "fleet", "32 octets of very good randomness"
	for _, v := range []struct {
		name       string
		a, b       ppkSide
		up, used   bool
		ourA, ourB string // what A and B say when it does not come up
	}{
		{name: "required on both sides", a: ppkSide{id, key, true}, b: ppkSide{id, key, true}, up: true, used: true},
		{name: "optional on both sides", a: ppkSide{id, key, false}, b: ppkSide{id, key, false}, up: true, used: true},
		{name: "none", up: true},
		{name: "B has none, optional for A", a: ppkSide{id, key, false}, up: true},
		{name: "B has none, required by A", a: ppkSide{id, key, true}, ourA: "PPK required, and peer 192.0.2.2 does not use any"},
		{name: "A has none, optional for B", b: ppkSide{id, key, false}, up: true},
		{name: "A has none, required by B", b: ppkSide{id, key, true}, ourA: "AUTHENTICATION_FAILED", ourB: "PPK required, and peer a.example does not use any"},
		{name: "B has another one, optional for both", a: ppkSide{id, key, false}, b: ppkSide{"other", key, false}, up: true},
		{name: "B has another one, required by A", a: ppkSide{id, key, true}, b: ppkSide{"other", key, false},
			ourA: "our PPK 'fleet'", ourB: "no PPK for 'fleet' of peer a.example, which requires one"},
		{name: "B has another one, required by B", a: ppkSide{id, key, false}, b: ppkSide{"other", key, true},
			ourA: "our PPK 'fleet'", ourB: "no PPK for 'fleet' of peer a.example, and ppk_required = yes"},
		{name: "wrong key", a: ppkSide{id, key, false}, b: ppkSide{id, "something else", false}, ourA: "our PPK 'fleet'", ourB: "with the peer's, and the PPK"},
		{name: "A lacks the key that it must use", a: ppkSide{id, "", true}, b: ppkSide{id, key, false}, ourA: "no PPK for ppk_id 'fleet', which is required"},
		{name: "A must use one and names none", a: ppkSide{"", "", true}, b: ppkSide{id, key, false}, ourA: "ppk_required = yes, and no ppk_id says which"},
	} {
		t.Run(v.name, func(t *testing.T) {
			p := NewPair(1, func(a, b *ike.Config) {
				multipleKE(a, b)
				v.a.apply(a, v.a.id != "")
				v.b.apply(b, false)
			})
			p.A.Initiate()
			p.RunFor(settleTime)
			noViolation(t, p.Net)
			for h, want := range map[*Host]string{p.A: v.ourA, p.B: v.ourB} {
				got := h.Failures()
				if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
					t.Errorf("%s says %q, want %q", h.Name, got, want)
				}
			}
			if !v.up {
				if p.Up() {
					t.Error("it came up")
				}
				empty(t, p.Net)
				return
			}
			agree(t, p)
			p.A.Do(rekeyIKE) // which does not mix the PPK in again
			p.RunFor(settleTime)
			agree(t, p)
			for _, h := range p.Hosts() {
				if got := only(t, h).PPK; got != v.used {
					t.Errorf("%s: PPK used: %v, want %v", h.Name, got, v.used)
				}
			}
		})
	}
}

// TestPPKWaitsForABetterAnswer: an answer without USE_PPK may be forged; the one that follows counts (RFC 8784 section 6).
func TestPPKWaitsForABetterAnswer(t *testing.T) {
	side := ppkSide{"fleet", "32 octets of very good randomness", true}
	p := NewPair(1, func(a, b *ike.Config) { side.apply(a, true); side.apply(b, false) })
	weak := *p.B.Config()
	weak.PPKs = nil
	strong := p.B.Config()
	p.B.Do(ike.Reconfigure{Config: &weak})
	p.A.Initiate()
	p.RunFor(500 * time.Millisecond)
	if len(p.A.Failures()) > 0 || len(p.A.Snapshot().IKESAs) != 1 {
		failRun(t, p.Net, "A has given up at once: %q", p.A.Failures())
	}
	p.RunFor(settleTime)
	if got := p.A.Failures(); len(got) != 1 || !strings.Contains(got[0], "PPK required") {
		failRun(t, p.Net, "A says %q", got)
	}
	p.B.Do(ike.Reconfigure{Config: strong})
	p.A.Initiate()
	p.RunFor(settleTime)
	agree(t, p)
}
