package iketest

import (
	"fmt"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// exchange is one that can collide with another.
type exchange struct {
	name  string
	ev    ike.Event
	child bool // deletes the CHILD_SA
	ike   bool // deletes the IKE SA
	check bool // is begun by the timer for liveness checks
}

var exchanges = []exchange{
	{name: "child rekey", ev: rekeyChild},
	{name: "IKE rekey", ev: rekeyIKE},
	{name: "child delete", ev: deleteChild, child: true},
	{name: "IKE delete", ev: deleteIKE, ike: true},
	{name: "child create", ev: initiate},
	{name: "liveness check", check: true},
}

// When liveness checks come that are to collide. A hears last from B, in the set-up, one way after B hears last from A.
const (
	checkAfter = 30 * time.Second
	oneWay     = 10 * time.Millisecond
)

// checks lets the hosts check for life at the moment at which a scenario would have them begin.
func (s *scenario) checks(a, b bool) {
	edit, offset := s.edit, s.offset
	s.edit = func(ca, cb *ike.Config) {
		if edit != nil {
			edit(ca, cb)
		}
		if a {
			ca.Connections[0].DPDDelay = checkAfter + time.Millisecond
		}
		if b {
			cb.Connections[0].DPDDelay = checkAfter + oneWay + time.Millisecond + offset
		}
	}
	s.rest, s.most = checkAfter, 12 // checks go on for ever
}

// collisions are all pairs of exchanges, one of each end, at all offsets.
func collisions() []scenario {
	var all []scenario
	for _, x := range exchanges {
		for _, y := range exchanges {
			for _, offset := range offsets {
				s := scenario{name: fmt.Sprintf("%s by A, after %v %s by B", x.name, offset, y.name), offset: offset}
				if !x.check {
					s.a = events(x.ev)
				}
				if !y.check {
					s.b = events(y.ev)
				}
				switch {
				case (x.child || x.ike || y.child || y.ike) && (x.ev == initiate || y.ev == initiate):
					s.loses, s.want, s.edit = true, consistent, persist // whoever came later got what it wants
				case x.ike || y.ike:
					s.loses, s.want = true, (*Pair).Empty
				case x.child || y.child:
					s.loses, s.want = true, noChildren
				}
				if x.check || y.check {
					s.checks(x.check, y.check)
				}
				all = append(all, s)
			}
		}
	}
	return all
}

// consistent wants both hosts to be of one mind, whichever.
func consistent(p *Pair) error {
	empty, bare, whole := p.Empty(), p.agree(0), p.agree(1)
	if empty == nil || bare == nil || whole == nil {
		return nil
	}
	return whole
}

// TestEveryCollision lets every two exchanges collide, each of their messages meeting every kind
// of fault.
func TestEveryCollision(t *testing.T) {
	for _, s := range collisions() {
		if brief() && s.offset%(10*time.Millisecond) == 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.enumerate(t)
		})
	}
}
