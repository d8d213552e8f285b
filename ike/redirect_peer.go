package ike

import (
	"net/netip"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// redirectTask sends the peer, which has initiated the IKE SA, to another gateway (RFC 5685 section 5).
type redirectTask struct{ to gateway }

func (*redirectTask) name() string { return "IKE_REDIRECT" }

func (t *redirectTask) begin(e *Engine, sa *ikeSA) bool {
	if !sa.up() {
		return false
	}
	e.note(sa, LevelInfo, "IKE", "redirecting peer %v to %v", sa.remote.Addr(), t.to)
	e.request(sa, wire.ExchangeInformational, notification(wire.NotifyRedirect, t.to.data()))
	return true
}

func (*redirectTask) answer(e *Engine, sa *ikeSA, _ *message) { e.finishTask(sa) }

func (*redirectTask) abandon(*Engine, *ikeSA) {}

// redirectEvent is the operator's "redirect".
func (e *Engine) redirectEvent(ev Redirect) {
	to := gateway{name: ev.Gateway}
	if a, err := netip.ParseAddr(ev.Gateway); err == nil {
		to = gateway{addr: a.Unmap()}
	} else if !hostName(ev.Gateway) {
		e.note(nil, LevelError, "CFG", "cannot redirect to '%s': expected an address or a host name", ev.Gateway)
		return
	}
	for _, sa := range e.sorted() {
		if !sa.up() || !sa.matches(ev.Connection, ev.IKEID) {
			continue
		}
		if !sa.peerRedirects {
			e.note(sa, LevelWarn, "IKE", "peer %v does not follow redirects", sa.remote.Addr())
			continue
		}
		e.enqueue(sa, &redirectTask{to})
	}
}
