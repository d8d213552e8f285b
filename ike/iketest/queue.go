package iketest

import (
	"container/heap"
	"time"
)

// event is something that happens at a moment of virtual time.
type event struct {
	at         time.Time
	seq        uint64 // events of the same moment happen in the order in which they were planned
	background bool   // traffic and its counters: does not count as activity
	run        func()
}

// queue is a heap of events.
type queue struct {
	events []*event
	seq    uint64
	active int // events that are not in the background
}

func (q *queue) add(ev *event) {
	q.seq++
	ev.seq = q.seq
	if !ev.background {
		q.active++
	}
	heap.Push(q, ev)
}

func (q *queue) next() *event {
	if len(q.events) == 0 {
		return nil
	}
	return q.events[0]
}

func (q *queue) take() *event {
	ev := heap.Pop(q).(*event)
	if !ev.background {
		q.active--
	}
	return ev
}

// Len, Less, Swap, Push and Pop are for container/heap.
func (q *queue) Len() int { return len(q.events) }

func (q *queue) Less(i, j int) bool {
	a, b := q.events[i], q.events[j]
	if a.at.Equal(b.at) {
		return a.seq < b.seq
	}
	return a.at.Before(b.at)
}

func (q *queue) Swap(i, j int) { q.events[i], q.events[j] = q.events[j], q.events[i] }

func (q *queue) Push(x any) { q.events = append(q.events, x.(*event)) }

func (q *queue) Pop() any {
	last := len(q.events) - 1
	ev := q.events[last]
	q.events[last] = nil
	q.events = q.events[:last]
	return ev
}
