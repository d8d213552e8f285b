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

// TestChildFailureIsNoAuthenticationFailure: RFC 7296 section 2.21.2. The IKE SA stays, and the child
// comes up on it when the fault is gone.
func TestChildFailureIsNoAuthenticationFailure(t *testing.T) {
	p := NewPair(1, func(a, b *ike.Config) {
		persist(a, b)
		b.Connections[0].Children[0].Proposals = Proposals(suite.ESP, "aes256gcm16-x25519")
	})
	p.A.Initiate()
	p.RunFor(10 * time.Second)
	noViolation(t, p.Net)
	a, b := only(t, p.A), only(t, p.B)
	if a.State != ike.IKEEstablished || b.State != ike.IKEEstablished || len(a.Children)+len(b.Children) > 0 {
		failRun(t, p.Net, "the IKE SA is %v and %v", a.State, b.State)
	}
	good := Connect(EndB, EndA)
	persist(good, good)
	p.B.Do(ike.Reconfigure{Config: good})
	p.RunFor(2 * time.Minute)
	agree(t, p)
	if after := only(t, p.A); after.ID != a.ID {
		failRun(t, p.Net, "it took another IKE SA")
	}
}

// twoPeers makes B the gateway of two peers at any address, each with a network and a key of its own.
func twoPeers(b *ike.Config) {
	first := b.Connections[0]
	first.RemoteAddrs = nil
	second, child := *first, *first.Children[0]
	second.Name, second.Remote.ID = "other", Identity("c.example")
	child.RemoteTS = Selectors(netip.MustParsePrefix("10.3.0.0/16"))
	second.Children = []*ike.ChildConfig{&child}
	b.Connections = append(b.Connections, &second)
	b.Secrets = []auth.Secret{
		{Name: "a", Owners: []auth.Identity{Identity(EndA.ID)}, Key: suite.NewKey([]byte(psk))},
		{Name: "c", Owners: []auth.Identity{Identity("c.example")}, Key: suite.NewKey([]byte("the key of c.example alone"))},
	}
}

// TestSelectorsBelongToTheIdentity: RFC 7296 section 3.5 and RFC 4301 section 4.4.3. What a peer may
// send is a matter of who it has proved to be, and a key proves one identity.
func TestSelectorsBelongToTheIdentity(t *testing.T) {
	p := NewPair(1, func(a, b *ike.Config) {
		twoPeers(b)
		a.Connections[0].Children[0].LocalTS = Selectors(netip.MustParsePrefix("10.3.0.0/16"))
	})
	p.A.Initiate()
	p.RunFor(30 * time.Second)
	noViolation(t, p.Net)
	if p.B.Kernel.Children() > 0 || !strings.Contains(strings.Join(p.B.Failures(), "\n"), "proposes the traffic selectors 10.2.0.0/16 === 10.3.0.0/16, and no child fits") {
		failRun(t, p.Net, "another peer's network: B says %q", p.B.Failures())
	}
	p = NewPair(2, func(a, b *ike.Config) {
		twoPeers(b)
		a.Connections[0].Local.ID = Identity("c.example")
	})
	p.A.Initiate()
	p.RunFor(settleTime)
	empty(t, p.Net)
	if got := strings.Join(p.B.Failures(), "\n"); !strings.Contains(got, "c.example") {
		failRun(t, p.Net, "another peer's name: B says %q", got)
	}
}
