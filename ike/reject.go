package ike

import "github.com/ipsecd/ipsecd/ike/wire"

// rejectTask tells a responder that it did not prove who it is.
type rejectTask struct{}

func (rejectTask) name() string { return "IKE_AUTH_FAILED" }

func (rejectTask) begin(e *Engine, sa *ikeSA) bool {
	e.request(sa, wire.ExchangeInformational, notification(wire.NotifyAuthenticationFailed, nil))
	return true
}

func (rejectTask) answer(e *Engine, sa *ikeSA, _ *message) {
	e.destroySA(sa, "the peer is not authenticated")
}

func (rejectTask) abandon(*Engine, *ikeSA) {}

// rejectResponder ends an attempt in which the responder did not prove who it is. It is told
// until it answers, since it believes that all is well (RFC 7296 section 2.21.2); nothing else is
// done with that IKE SA any more.
func (e *Engine) rejectResponder(sa *ikeSA, text string) {
	if e.nextAnswer(sa, true) {
		return
	}
	c, closing := sa.conn, sa.closing()
	e.setPair(sa, idPair{})
	e.dropOffer(sa.setup.offer)
	sa.setup.wipe()
	sa.setup, sa.state = nil, stateRejected
	e.dropTasks(sa)
	e.enqueue(sa, rejectTask{})
	if closing {
		e.ensure(c)
		return
	}
	e.attemptFailed(c, sa, text)
}
