package iketest

import (
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// Proposals with additional key exchanges (RFC 9370).
const (
	manyIKE   = "aes128gcm16-prfsha256-x25519-ke1_mlkem768-ke2_mlkem512"
	manyChild = "aes128gcm16-x25519-ke1_mlkem512-ke3_ecp256"
)

// multipleKE makes both ends do more than one key exchange for everything.
func multipleKE(a, b *ike.Config) {
	persist(a, b)
	for _, cfg := range []*ike.Config{a, b} {
		cfg.Connections[0].Proposals = Proposals(suite.IKE, manyIKE)
		cfg.Connections[0].Children[0].Proposals = Proposals(suite.ESP, manyChild)
	}
}

// withMultipleKE returns those scenarios that keep the usual proposals, with more key exchanges.
func withMultipleKE(list []scenario) []scenario {
	var out []scenario
	for _, s := range list {
		edit := s.edit
		s.name += ", several key exchanges"
		s.edit = func(a, b *ike.Config) {
			usual := a.Connections[0].Proposals[0].String()
			if edit != nil {
				edit(a, b)
			}
			if got := a.Connections[0].Proposals; len(got) == 1 && got[0].String() == usual {
				multipleKE(a, b)
			}
		}
		out = append(out, s)
	}
	return out
}

// optionalKE lets A offer more key exchanges where B has only one.
func optionalKE(a, b *ike.Config) {
	multipleKE(a, b)
	a.Connections[0].Proposals = Proposals(suite.IKE, "aes128gcm16-prfsha256-x25519-ke1_mlkem768-ke1_none-ke2_mlkem512-ke2_none")
	a.Connections[0].Children[0].Proposals = Proposals(suite.ESP, "aes128gcm16-x25519-ke1_mlkem512", "aes128gcm16-x25519")
	b.Connections[0].Proposals = Proposals(suite.IKE, "aes128gcm16-prfsha256-x25519")
	b.Connections[0].Children[0].Proposals = Proposals(suite.ESP, "aes128gcm16-x25519")
}

func TestMultipleKEAreAgreedOnAndUsed(t *testing.T) {
	for _, v := range []struct {
		name       string
		edit       func(a, b *ike.Config)
		ike, child string
		intermed   uint64
		followups  uint64 // of one child rekey and one IKE rekey
	}{
		{"many", multipleKE, manyIKE, manyChild, 2, 4},
		{"optional", optionalKE, "aes128gcm16-prfsha256-x25519", "aes128gcm16-x25519", 0, 0},
		{"ML-KEM alone", func(a, b *ike.Config) {
			for _, cfg := range []*ike.Config{a, b} {
				cfg.Connections[0].Proposals = Proposals(suite.IKE, "aes128gcm16-prfsha256-mlkem1024")
				cfg.Connections[0].Children[0].Proposals = Proposals(suite.ESP, "aes128gcm16-mlkem512")
			}
		}, "aes128gcm16-prfsha256-mlkem1024", "aes128gcm16-mlkem512", 0, 0},
		{"seven", func(a, b *ike.Config) {
			for _, cfg := range []*ike.Config{a, b} {
				cfg.Connections[0].Proposals = Proposals(suite.IKE,
					"aes128gcm16-prfsha256-x25519-ke1_mlkem768-ke2_mlkem512-ke3_mlkem1024-ke4_ecp256-ke5_ecp384-ke6_ecp521-ke7_x448")
			}
		}, "aes128gcm16-prfsha256-x25519-ke1_mlkem768-ke2_mlkem512-ke3_mlkem1024-ke4_ecp256-ke5_ecp384-ke6_ecp521-ke7_x448",
			"aes128gcm16-x25519", 7, 7},
	} {
		t.Run(v.name, func(t *testing.T) {
			p := established(t, 1, v.edit)
			p.GuardTraffic()
			counted := func(exchange string) uint64 {
				return p.A.Snapshot().Counters.Messages[ike.MessageKey{Exchange: exchange, Request: true}]
			}
			if got := counted("IKE_INTERMEDIATE"); got != v.intermed {
				t.Errorf("%d IKE_INTERMEDIATE requests, want %d", got, v.intermed)
			}
			p.A.Do(rekeyChild)
			p.RunFor(settleTime)
			p.A.Do(rekeyIKE)
			p.RunFor(settleTime)
			agree(t, p)
			if got := counted("IKE_FOLLOWUP_KE"); got != v.followups {
				t.Errorf("%d IKE_FOLLOWUP_KE requests, want %d", got, v.followups)
			}
			for _, h := range p.Hosts() {
				sa := only(t, h)
				if got := chosen(sa.Proposal); got != v.ike {
					t.Errorf("%s: IKE SA with %s, want %s", h.Name, got, v.ike)
				}
				if got := chosen(sa.Children[0].Proposal); got != v.child {
					t.Errorf("%s: CHILD_SA with %s, want %s", h.Name, got, v.child)
				}
			}
		})
	}
}

// chosen returns a choice without what it leaves out.
func chosen(p suite.Proposal) string {
	p.Transforms = slices.DeleteFunc(slices.Clone(p.Transforms), suite.Transform.IsNone)
	return p.String()
}

// TestMultipleKEWithEverySingleFault meets every message of IKE_INTERMEDIATE, IKE_FOLLOWUP_KE and what is around them with every fault.
func TestMultipleKEWithEverySingleFault(t *testing.T) {
	for _, s := range single {
		if s.loses {
			continue
		}
		s.edit = multipleKE
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.enumerate(t)
		})
	}
}

// TestMultipleKECollisionStopsEarly: of two rekeys at once the one with the lowest nonce is not gone on with, since there is nothing
// to delete yet (RFC 9370 section 2.2.4).
func TestMultipleKECollisionStopsEarly(t *testing.T) {
	for seed := range uint64(10) {
		for name, ev := range map[string]ike.Event{"child": rekeyChild, "IKE": rekeyIKE} {
			p := established(t, seed, multipleKE)
			p.GuardTraffic()
			p.Both(ev)
			p.RunFor(settleTime)
			agree(t, p)
			var sent uint64
			for _, h := range p.Hosts() {
				sent += h.Snapshot().Counters.Messages[ike.MessageKey{Exchange: "IKE_FOLLOWUP_KE", Request: true}]
			}
			if sent != 2 {
				failRun(t, p.Net, "%s rekeys, seed %d: %d IKE_FOLLOWUP_KE requests, want the 2 of the winner", name, seed, sent)
			}
		}
	}
}

// TestMultipleKECollides lets rekeys with additional key exchanges collide, each message meeting a fault.
func TestMultipleKECollides(t *testing.T) {
	for _, s := range collisions() {
		if brief() && s.offset%(10*time.Millisecond) == 0 {
			continue
		}
		s.edit, s.most = multipleKE, 12
		t.Run(s.name+" "+s.offset.String(), func(t *testing.T) {
			t.Parallel()
			s.enumerate(t)
		})
	}
}
