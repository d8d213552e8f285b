package iketest

import (
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// restart makes both ends bring the tunnel up again whenever it is lost.
func restart(a, b *ike.Config) {
	for _, cfg := range []*ike.Config{a, b} {
		c := cfg.Connections[0]
		c.KeyingTries = 0
		child := c.Children[0]
		child.StartAction, child.CloseAction, child.DPDAction = ike.ActionTrap, ike.ActionStart, ike.ActionStart
	}
}

func events(evs ...ike.Event) []ike.Event { return evs }

var initiate = ike.Initiate{Connection: ConnectionName, Child: ChildName}

// single are exchanges of one end.
var single = []scenario{
	{name: "set up by A", setUp: true, edit: persist, a: events(initiate)},
	{name: "child rekey by A", a: events(rekeyChild)},
	{name: "child rekey by B", b: events(rekeyChild)},
	{name: "IKE rekey by A", a: events(rekeyIKE)},
	{name: "IKE rekey by B", b: events(rekeyIKE)},
	{name: "child and IKE rekey by A", a: events(rekeyChild, rekeyIKE)},
	{name: "IKE and child rekey by A", a: events(rekeyIKE, rekeyChild)},
	{name: "child delete by A", a: events(deleteChild), loses: true, want: noChildren},
	{name: "child delete by B", b: events(deleteChild), loses: true, want: noChildren},
	{name: "IKE delete by A", a: events(deleteIKE), loses: true, want: (*Pair).Empty},
	{name: "IKE delete by B", b: events(deleteIKE), loses: true, want: (*Pair).Empty},
}

// persist makes set-up go on after failures.
func persist(a, b *ike.Config) {
	a.Connections[0].KeyingTries, b.Connections[0].KeyingTries = 0, 0
}

// noChildren wants one IKE SA without CHILD_SAs.
func noChildren(p *Pair) error { return p.agree(0) }

// TestEverySingleFault meets every message of every exchange with every kind of fault.
func TestEverySingleFault(t *testing.T) {
	for _, s := range single {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.enumerate(t)
		})
	}
}

// TestSetUpByBothWithEverySingleFault lets both ends set up at nearly the same moment.
func TestSetUpByBothWithEverySingleFault(t *testing.T) {
	for _, offset := range offsets {
		t.Run(offset.String(), func(t *testing.T) {
			t.Parallel()
			s := scenario{setUp: true, edit: restart, a: events(initiate), b: events(initiate), offset: offset}
			s.enumerate(t)
		})
	}
}

// TestSecondSetUpLosesNothing lets both ends set up at nearly the same moment. From when the tunnel is up at both, nothing
// is lost while one of the two IKE SAs goes, whichever message is lost, late or doubled: who
// answers the second IKE_AUTH sends on its CHILD_SA only when the peer is seen to have it.
func TestSecondSetUpLosesNothing(t *testing.T) {
	for _, offset := range offsets {
		for n := 1; n <= 12; n++ {
			for _, kind := range Kinds() {
				p := NewPair(uint64(n), restart)
				p.Inject(Fault{kind, n})
				p.A.Initiate()
				p.RunFor(offset)
				p.B.Initiate()
				p.RunUntil(p.Up, time.Minute)
				p.GuardTraffic()
				p.RunFor(settleTime)
				if p.Err() != nil || p.Agree() != nil {
					failRun(t, p.Net, "B begins after %v, %v: %v %v", offset, Fault{kind, n}, p.Err(), p.Agree())
				}
			}
		}
	}
}
