package iketest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// TestSeveralFaults plays random collisions with two to five faults at random messages.
func TestSeveralFaults(t *testing.T) {
	all := slices.Concat(collisions(), single, negotiated, moves())
	all = append(all, withMultipleKE(all)...)
	eachSeed(t, "TestSeveralFaults", runs{300, 200}, func(seed uint64) (*Pair, error) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := all[r.IntN(len(all))]
		if s.edit == nil {
			s.edit = persist
		}
		var faults []Fault
		for range 2 + r.IntN(4) {
			faults = append(faults, Fault{Kinds()[r.IntN(len(Kinds()))], 1 + r.IntN(12)})
		}
		p := s.start(seed)
		for _, h := range p.Hosts() {
			h.ComputeTime = time.Duration(r.IntN(2)*r.IntN(20)) * time.Millisecond
			h.InstallTime = time.Duration(r.IntN(2)*r.IntN(20)) * time.Millisecond
		}
		if err := s.play(p, faults...); err != nil {
			return p, fmt.Errorf("%s, %v: %w", s.name, faults, err)
		}
		return p, nil
	})
}

// TestManyChildren lets all CHILD_SAs of a tunnel be rekeyed at both ends at the same moment.
func TestManyChildren(t *testing.T) {
	const children = 50
	p := NewPair(1, func(a, b *ike.Config) { manyChildren(a, b, children) })
	p.Silent = true
	p.RunFor(time.Minute)
	agree(t, p)
	p.GuardTraffic()
	p.Both(ike.Rekey{Connection: ConnectionName, Child: ""})
	for _, c := range p.A.Config().Connections[0].Children {
		p.Both(ike.Rekey{Connection: ConnectionName, Child: c.Name})
	}
	p.RunFor(settleTime)
	agree(t, p)
	if n := p.A.Snapshot().Counters.Retransmits; n > 0 {
		failRun(t, p.Net, "%d retransmissions on a network without loss", n)
	}
}

// manyChildren gives the connection children with networks of their own, all started by A.
func manyChildren(a, b *ike.Config, n int) {
	ca, cb := a.Connections[0], b.Connections[0]
	first, second := *ca.Children[0], *cb.Children[0]
	ca.Children, cb.Children = nil, nil
	for i := range n {
		x, y := first, second
		x.Name, y.Name = fmt.Sprint(ChildName, i), fmt.Sprint(ChildName, i)
		x.LocalTS = Selectors(netip.MustParsePrefix(fmt.Sprintf("10.1.%d.0/24", i)))
		x.RemoteTS = Selectors(netip.MustParsePrefix(fmt.Sprintf("10.2.%d.0/24", i)))
		y.LocalTS, y.RemoteTS = x.RemoteTS, x.LocalTS
		x.StartAction = ike.ActionStart
		ca.Children, cb.Children = append(ca.Children, &x), append(cb.Children, &y)
	}
}
