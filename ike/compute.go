package ike

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"

	"github.com/ipsecd/ipsecd/ike/suite"
)

// seedLen octets of randomness go into each key pair: more than the largest
// private key that package suite draws. See keySeed.
const seedLen = 2048

// job is public-key work that a worker does for an IKE SA.
type job struct {
	sa   *ikeSA
	init netip.Addr // the stranger whose IKE_SA_INIT request it is for; invalid: it is for none
	done func(result any)
}

// compute hands run to a worker. The SA takes no further step before the
// result is there; done is not called if the SA is gone by then.
func (e *Engine) compute(sa *ikeSA, run func() any, done func(result any)) {
	e.startJob(sa, &job{sa: sa, done: done}, Compute{Class: sa.jobClass(), Run: run})
}

// computeInit is compute for an IKE_SA_INIT request. Those of an address that has many
// of them under way come after everybody else's.
func (e *Engine) computeInit(sa *ikeSA, run func() any, done func(result any)) {
	h, ip := &e.halfOpen, sa.remote.Addr()
	class := JobSetup
	if h.jobs[ip] >= fairInitJobs {
		class = JobBulk
	}
	h.addJob(ip)
	e.startJob(sa, &job{sa: sa, init: ip, done: done}, Compute{Class: class, Run: run})
}

// fetch is compute for what waits for the network, so that no worker waits.
func (e *Engine) fetch(sa *ikeSA, run func(), done func()) {
	e.startJob(sa, &job{sa: sa, done: func(any) { done() }}, Compute{Waits: true, Run: func() any { run(); return nil }})
}

// jobClass is that of an SA's work, other than for IKE_SA_INIT requests.
func (sa *ikeSA) jobClass() JobClass {
	if sa.setting() && sa.setup != nil {
		return JobSetup
	}
	return JobEstablished
}

// startJob hands out an action whose result goes to the job. What panics is an error of that SA's.
func (e *Engine) startJob(sa *ikeSA, j *job, a Compute) {
	e.ids.job++
	a.ID = e.ids.job
	e.jobs[a.ID] = j
	sa.jobs++
	run := a.Run
	a.Run = func() (result any) {
		defer func() {
			if p := recover(); p != nil {
				result = keyResult{err: fmt.Errorf("internal error: %v", p)}
			}
		}()
		return run()
	}
	e.do(a)
}

// computed resumes the SA that waited for the result.
func (e *Engine) computed(ev Computed) {
	j, ok := e.jobs[ev.ID]
	if !ok {
		return
	}
	delete(e.jobs, ev.ID)
	if j.init.IsValid() {
		e.halfOpen.endJob(j.init)
	}
	sa := j.sa
	sa.jobs--
	if sa.gone {
		if r, ok := ev.Result.(keyResult); ok {
			r.shared.Wipe()
		}
		return
	}
	e.serving = sa
	j.done(ev.Result)
	e.unpark(sa)
	e.nextTask(sa)
}

// keyResult is what the computations of key exchanges return.
type keyResult struct {
	ke     suite.KeyExchange
	shared suite.Key
	err    error
}

// newKE makes our half of a key exchange; with the peer's, as responder, it computes the shared
// secret too.
func (e *Engine) newKE(group uint16, peer []byte) func() any {
	seed := e.keySeed()
	return func() any {
		defer clear(seed)
		r := keyResult{}
		if peer == nil {
			r.ke, r.err = suite.NewKE(group, bytes.NewReader(seed))
		} else {
			r.ke, r.shared, r.err = suite.AnswerKE(group, bytes.NewReader(seed), peer)
		}
		return r
	}
}

// sharedSecret completes our part of a key exchange.
func sharedSecret(ke suite.KeyExchange, peer []byte) func() any {
	return func() any {
		shared, err := ke.Shared(peer)
		return keyResult{ke: ke, shared: shared, err: err}
	}
}

// keySeed draws the randomness of a key pair here, since the engine's source
// of randomness must not be used by a worker.
func (e *Engine) keySeed() []byte {
	seed := make([]byte, seedLen)
	e.random(seed)
	return seed
}

// random fills b. A source of randomness that fails leaves nothing that could
// be done safely: the caller's SA fails.
func (e *Engine) random(b []byte) {
	if _, err := io.ReadFull(e.rand, b); err != nil {
		panic("no randomness: " + err.Error())
	}
}
