package iketest

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

func TestSetUpAndDelete(t *testing.T) {
	for _, end := range []string{"A", "B"} {
		t.Run("deleted by "+end, func(t *testing.T) {
			p := established(t, 1, nil)
			a, b := only(t, p.A), only(t, p.B)
			if !a.Initiator || b.Initiator {
				t.Errorf("A initiated: initiator is %v at A and %v at B", a.Initiator, b.Initiator)
			}
			if a.RemoteID != Identity(EndB.ID) || b.RemoteID != Identity(EndA.ID) {
				t.Errorf("identities: A sees %v, B sees %v", a.RemoteID, b.RemoteID)
			}
			if end == "A" {
				p.A.Do(deleteIKE)
			} else {
				p.B.Do(deleteIKE)
			}
			p.RunFor(settleTime)
			empty(t, p.Net)
		})
	}
}

// TestSuites sets up with every suite that operators are promised, the CHILD_SA first
// from IKE_AUTH and then, by a rekey, from a key exchange of its own.
func TestSuites(t *testing.T) {
	suites := []struct{ ike, esp string }{
		{"aes128gcm16-prfsha256-ecp256", "aes128gcm16-ecp256"},
		{"aes256gcm16-prfsha384-ecp384", "aes256gcm16-ecp384"},
		{"aes192gcm16-prfsha512-ecp521", "aes192gcm16-ecp521-esn"},
		{"chacha20poly1305-prfsha256-x25519", "chacha20poly1305-x25519"},
		{"aes256-sha256-modp2048", "aes256-sha256-modp2048"},
		{"aes128-sha1-modp1024", "aes128-sha1-modp1024"},
		{"aes192-sha384-modp1536", "aes192-sha384-modp1536"},
		{"aes128ctr-sha512-modp3072", "aes128ctr-sha512-modp3072"},
		{"aes256ctr-sha256-modp4096", "aes256ctr-sha256-modp4096-esn"},
		{"aes256gcm16-prfsha256-x448", "aes256gcm16"},
		{"default", "default"},
	}
	for _, s := range suites {
		t.Run(s.ike+" "+s.esp, func(t *testing.T) {
			t.Parallel()
			p := NewPair(1, func(a, b *ike.Config) {
				for _, cfg := range []*ike.Config{a, b} {
					c := cfg.Connections[0]
					c.Proposals = Proposals(suite.IKE, s.ike)
					c.Children[0].Proposals = Proposals(suite.ESP, s.esp)
				}
			})
			establish(t, p)
			p.GuardTraffic()
			p.B.Do(rekeyChild)
			p.RunFor(time.Minute)
			p.A.Do(rekeyIKE)
			p.RunFor(time.Minute)
			p.A.Do(rekeyChild)
			p.RunFor(settleTime)
			agree(t, p)
		})
	}
}

func TestLargeGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("MODP groups of 6144 and 8192 bits take seconds")
	}
	for _, group := range []string{"modp6144", "modp8192"} {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			p := NewPair(1, func(a, b *ike.Config) {
				for _, cfg := range []*ike.Config{a, b} {
					cfg.Connections[0].Proposals = Proposals(suite.IKE, "aes256-sha512-"+group)
				}
			})
			establish(t, p)
		})
	}
}

// TestInitiateAtOnce lets both ends set up the tunnel, the second one at every moment at which
// something of the first one's attempt can be under way. Once it is up at both ends, the end of the duplicate loses no packet.
func TestInitiateAtOnce(t *testing.T) {
	for offset := time.Duration(0); offset <= 60*time.Millisecond; offset += 5 * time.Millisecond {
		for seed := range uint64(20) {
			p := NewPair(seed, nil)
			p.A.Initiate()
			p.RunFor(offset)
			p.B.Initiate()
			p.RunUntil(p.Up, time.Minute)
			p.GuardTraffic()
			p.RunFor(settleTime)
			agree(t, p)
		}
	}
}

// TestStartAtOnce is TestInitiateAtOnce for what the configuration starts, on a bad network.
func TestStartAtOnce(t *testing.T) { eachSeed(t, "TestStartAtOnce", runs{150, 100}, startAtOnce) }

func startAtOnce(seed uint64) (*Pair, error) {
	r := rand.New(rand.NewPCG(seed, 5))
	p := NewPair(seed, func(a, b *ike.Config) {
		patient(a, b)
		for _, cfg := range []*ike.Config{a, b} {
			cfg.Connections[0].Children[0].StartAction = ike.ActionStart
		}
	})
	p.Faults = badNetwork(r)
	p.Faults.Corrupt = 0 // IKE_SA_INIT is not protected, and so may fail as a whole
	for _, h := range p.Hosts() {
		h.ComputeTime = time.Duration(r.IntN(30)) * time.Millisecond
		h.InstallTime = time.Duration(r.IntN(30)) * time.Millisecond
	}
	p.RunFor(2 * time.Minute)
	p.Faults = Faults{Delay: p.Faults.Delay}
	p.RunFor(settleTime)
	return p, errors.Join(p.Err(), p.Agree())
}
