package ike

import (
	"fmt"

	"slices"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// task is one exchange of ours, or the two that set up an IKE SA. Tasks of an
// IKE SA run one after the other, since the window is 1.
type task interface {
	// name is charon's name for it.
	name() string
	// begin sends the request, or starts a computation that will. It returns
	// false if there is nothing to do any more.
	begin(e *Engine, sa *ikeSA) bool
	// answer takes the response, and calls finishTask when the task is done.
	answer(e *Engine, sa *ikeSA, m *message)
	// abandon gives back what the task holds: it will not go on.
	abandon(e *Engine, sa *ikeSA)
}

// enqueue appends a task and begins it if nothing else is under way.
func (e *Engine) enqueue(sa *ikeSA, t task) {
	if limit := e.cfg.Limits.QueuedExchanges; limit > 0 && len(sa.queue) >= limit {
		e.drop("queue full")
		t.abandon(e, sa)
		return
	}
	sa.queue = append(sa.queue, t)
	e.nextTask(sa)
}

// nextTask begins the next task when the window is free.
func (e *Engine) nextTask(sa *ikeSA) {
	for !sa.gone && sa.jobs == 0 && sa.active == nil && sa.out.request == nil && len(sa.queue) > 0 {
		t := sa.queue[0]
		if busyWithChildren(t) && sa.pendingFor(nil) != nil {
			return // RFC 7296 section 2.25.2: not while the peer rekeys the IKE SA
		}
		sa.queue = sa.queue[1:]
		sa.active = t
		if !t.begin(e, sa) && sa.active == t {
			sa.active = nil
			t.abandon(e, sa)
		}
	}
}

// finishTask ends the active task. What is next begins when the message at
// hand has been dealt with.
func (e *Engine) finishTask(sa *ikeSA) { sa.active = nil }

// taskAnswer gives a response to the task that waits for it.
func (e *Engine) taskAnswer(sa *ikeSA, m *message) {
	if sa.active == nil {
		e.drop("unexpected response")
		return
	}
	if sa.up() && m.notify(wire.NotifyInvalidSyntax) != nil {
		// RFC 7296 section 2.21.3: for both sides the end of the IKE SA, without a Delete.
		e.failSA(sa, fmt.Sprintf("peer %v finds our %v request malformed (INVALID_SYNTAX): see its log", sa.remote.Addr(), m.Exchange))
		return
	}
	sa.active.answer(e, sa, m)
}

// distrust ends an IKE SA whose peer has sent an unusable public value in answer to CREATE_CHILD_SA: it does
// not work correctly, or not for us (RFC 6989 section 2.5).
func (e *Engine) distrust(sa *ikeSA, err error) {
	e.note(sa, LevelInfo, "IKE", "deleting IKE_SA %s: the peer's public value is unusable: %v", sa.label(), err)
	e.deleteIKE(sa, "unusable public value")
	e.ensure(sa.conn)
}

// dropTasks abandons everything.
func (e *Engine) dropTasks(sa *ikeSA) {
	tasks := sa.queue
	if sa.active != nil {
		tasks = append([]task{sa.active}, tasks...)
	}
	sa.active, sa.queue = nil, nil
	for _, t := range tasks {
		t.abandon(e, sa)
	}
}

// hasTask reports whether a task that fits is under way or waits.
func (sa *ikeSA) hasTask(fits func(task) bool) bool {
	return sa.active != nil && fits(sa.active) || slices.ContainsFunc(sa.queue, fits)
}

// livenessTask asks whether the peer is alive (RFC 7296 section 2.4).
type livenessTask struct{}

func (livenessTask) name() string { return "IKE_DPD" }

func (livenessTask) begin(e *Engine, sa *ikeSA) bool {
	if !sa.up() {
		return false
	}
	e.note(sa, LevelDebug, "IKE", "sending DPD request")
	e.request(sa, wire.ExchangeInformational, e.mappingQuestion(sa)...)
	return true
}

func (livenessTask) answer(e *Engine, sa *ikeSA, m *message) {
	e.finishTask(sa)
	e.mappingAnswer(sa, m)
	e.activateSecond(sa.children)
	e.resolveSimultaneous(sa)
}

func (livenessTask) abandon(*Engine, *ikeSA) {}

// checkLiveness begins a liveness check if neither IKE nor ESP was heard from
// the peer for as long as the connection says.
func (e *Engine) checkLiveness(sa *ikeSA) {
	delay := sa.conn.cfg.DPDDelay
	if delay <= 0 || !sa.up() {
		return
	}
	last := sa.lastInbound
	if sa.lastESP.After(last) {
		last = sa.lastESP
	}
	if due := last.Add(delay); due.After(e.now) {
		e.setSATimer(sa, timerDPD, due)
		return
	}
	e.setSATimer(sa, timerDPD, e.now.Add(delay))
	if sa.active == nil { // any other request of ours checks just as well
		e.enqueue(sa, livenessTask{})
	}
}
