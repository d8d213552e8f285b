package iketest

import (
	"fmt"
	"time"
)

// Faults are the random faults of a link. Probabilities are from 0 to 1.
type Faults struct {
	Loss, Duplicate, Corrupt float64
	Reorder                  float64       // to be held back by up to ReorderBy
	ReorderBy                time.Duration // 0: ten times Delay
	Delay, Jitter            time.Duration // one way; up to Jitter is added
}

// Fate is what happens to one message. The zero Fate is an ordinary delivery.
type Fate struct {
	Lose     bool
	Corrupt  bool            // one bit is flipped
	Delay    time.Duration   // longer than the link's own
	Overtake bool            // held until the next message in the same direction is delivered
	Copies   []time.Duration // further deliveries, so much later than the first
}

// FaultKind is what happens to a message that a Fault meets.
type FaultKind int

// The kinds of faults.
const (
	Lose      FaultKind = iota
	Duplicate           // a copy comes right behind
	Overtake            // the next message in the same direction is delivered first
	Slow                // it comes when several others have been exchanged
	Replay              // a copy comes much later
	Corrupt             // a bit is flipped, which is like a loss
)

// Kinds returns all kinds of faults.
func Kinds() []FaultKind { return []FaultKind{Lose, Duplicate, Overtake, Slow, Replay, Corrupt} }

// String returns a verb.
func (k FaultKind) String() string {
	return [...]string{"lose", "duplicate", "overtake", "slow down", "replay", "corrupt"}[k]
}

// Fault meets the message with number N, counted since Recount.
type Fault struct {
	Kind FaultKind
	N    int
}

// String says what happens to which message.
func (f Fault) String() string { return fmt.Sprintf("%v message %d", f.Kind, f.N) }

// How late the messages of a Slow and a Replay fault are.
const (
	slowBy   = 1500 * time.Millisecond // less than the first retransmission
	replayBy = 11 * time.Second        // when the inbound SA of a rekeyed CHILD_SA is gone
)

func (f Fault) fate() Fate {
	switch f.Kind {
	case Lose:
		return Fate{Lose: true}
	case Duplicate:
		return Fate{Copies: []time.Duration{time.Millisecond}}
	case Overtake:
		return Fate{Overtake: true}
	case Slow:
		return Fate{Delay: slowBy}
	case Replay:
		return Fate{Copies: []time.Duration{replayBy}}
	}
	return Fate{Corrupt: true}
}

// Recount makes the next message number 1.
func (n *Net) Recount() { n.sent = 0 }

// Sent returns how many IKE messages were sent since Recount, lost ones included.
func (n *Net) Sent() int { return n.sent }

// Inject lets faults meet the messages to come; the next one has number 1.
func (n *Net) Inject(faults ...Fault) {
	n.Recount()
	n.Fate = func(m *Message) Fate {
		for _, f := range faults {
			if f.N == m.N {
				return f.fate()
			}
		}
		return Fate{}
	}
}
