package ike

import (
	"container/heap"
	"time"
)

// timerKind says what is due. A timer is data: the owner's timeout method
// gives it its meaning.
type timerKind uint8

// The timers of an IKE SA.
const (
	timerRetransmit timerKind = iota // our request is not answered yet
	timerHalfOpen                    // the peer does not get on with setting up
	timerIKERekey
	timerIKEExpire
	timerReauth
	timerDPD
	timerKeepalive
	timerLinger // the peer should have deleted this SA by now
	timerGather // what this SA has may be made on another one with the peer by now
	saTimers
)

// The timers of a CHILD_SA.
const (
	timerChildRekey timerKind = iota
	timerChildExpire
	timerChildLinger // the inbound SA of a replaced CHILD_SA is no longer needed
	timerOutbound    // the peer should have begun to use the new CHILD_SA by now
	timerInactive    // it may have been idle for too long
	childTimers
)

// The others.
const (
	timerRetry  timerKind = iota // of a connection, or of a child on a live IKE SA
	timerGhosts                  // of the engine
)

// timed owns timers.
type timed interface {
	timeout(e *Engine, kind timerKind)
}

// timer is one moment at which its owner wants to be called. The zero timer
// is not set.
type timer struct {
	at    time.Time
	kind  timerKind
	owner timed
	pos   int // in the heap, from 1; 0: not set
	seq   uint64
}

// pending returns when the timer fires, zero if it is not set.
func (t *timer) pending() time.Time {
	if t.pos == 0 {
		return time.Time{}
	}
	return t.at
}

// timers is a heap ordered by time, then by the order of setting, so that a
// run can be repeated exactly.
type timers struct {
	heap []*timer
	seq  uint64
}

// set sets or resets t.
func (ts *timers) set(t *timer, owner timed, kind timerKind, at time.Time) {
	ts.seq++
	t.at, t.owner, t.kind, t.seq = at, owner, kind, ts.seq
	if t.pos == 0 {
		heap.Push(ts, t)
		return
	}
	heap.Fix(ts, t.pos-1)
}

// stop takes t out if it is set.
func (ts *timers) stop(t *timer) {
	if t.pos != 0 {
		heap.Remove(ts, t.pos-1)
	}
}

// next returns the earliest timer, or nil.
func (ts *timers) next() *timer {
	if len(ts.heap) == 0 {
		return nil
	}
	return ts.heap[0]
}

// Len, Less, Swap, Push and Pop are for container/heap.
func (ts *timers) Len() int { return len(ts.heap) }

func (ts *timers) Less(i, j int) bool {
	a, b := ts.heap[i], ts.heap[j]
	if a.at.Equal(b.at) {
		return a.seq < b.seq
	}
	return a.at.Before(b.at)
}

func (ts *timers) Swap(i, j int) {
	ts.heap[i], ts.heap[j] = ts.heap[j], ts.heap[i]
	ts.heap[i].pos, ts.heap[j].pos = i+1, j+1
}

func (ts *timers) Push(x any) {
	t := x.(*timer)
	ts.heap = append(ts.heap, t)
	t.pos = len(ts.heap)
}

func (ts *timers) Pop() any {
	last := len(ts.heap) - 1
	t := ts.heap[last]
	ts.heap[last] = nil
	ts.heap = ts.heap[:last]
	t.pos = 0
	return t
}
