package ike

import (
	"net/netip"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// gateway is where a redirect leads: an address, or a name to be looked up.
type gateway struct {
	addr netip.Addr
	name string
}

// String names the gateway.
func (g gateway) String() string {
	if g.name != "" {
		return g.name
	}
	return g.addr.String()
}

// The types of gateway identities (RFC 5685 section 7.2).
const (
	gatewayIPv4 = 1
	gatewayIPv6 = 2
	gatewayFQDN = 3
)

// parseGateway reads a gateway's identity, and what is behind it: in IKE_SA_INIT the initiator's nonce (RFC 5685 section 7.2).
func parseGateway(b []byte) (g gateway, rest []byte, ok bool) {
	if len(b) < 2 || len(b) < 2+int(b[1]) {
		return g, nil, false
	}
	kind, id, rest := b[0], b[2:2+int(b[1])], b[2+int(b[1]):]
	switch {
	case kind == gatewayIPv4 && len(id) == 4, kind == gatewayIPv6 && len(id) == 16:
		g.addr, _ = netip.AddrFromSlice(id)
		ok = !g.addr.IsUnspecified() && !g.addr.IsMulticast() && !g.addr.IsLoopback()
	case kind == gatewayFQDN:
		g.name, ok = string(id), hostName(string(id))
	}
	return g, rest, ok
}

// hostName reports whether s can be a host name, so that it does no harm to a resolver or in a log.
func hostName(s string) bool {
	if len(s) == 0 || len(s) > 253 || s[0] == '-' || s[0] == '.' {
		return false
	}
	for _, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_') {
			return false
		}
	}
	return true
}

// data writes the gateway's identity.
func (g gateway) data() []byte {
	kind, id := byte(gatewayFQDN), []byte(g.name)
	if g.name == "" {
		id = g.addr.AsSlice()
		if kind = gatewayIPv4; g.addr.Is6() {
			kind = gatewayIPv6
		}
	}
	return append([]byte{kind, byte(len(id))}, id...)
}

// redirection is what became of redirects of a connection.
type redirection struct {
	to   gateway
	from netip.Addr // who sent us there
	at   []time.Time
}

// active reports whether the next attempt goes where a redirect led.
func (r *redirection) active() bool { return r.from.IsValid() }

// done ends that: what is next goes where the configuration says.
func (r *redirection) done() { r.from = netip.Addr{} }

// redirectPayloads announce in IKE_SA_INIT that we follow redirects, and who redirected us (RFC 5685 sections 3 and 4).
func (e *Engine) redirectPayloads(c *connection) []wire.Payload {
	switch {
	case e.cfg.IgnoreRedirects:
		return nil
	case c.redirect.active():
		return []wire.Payload{notification(wire.NotifyRedirectedFrom, gateway{addr: c.redirect.from}.data())}
	}
	return []wire.Payload{notification(wire.NotifyRedirectSupported, nil)}
}

// redirected begins anew with another gateway. No more than maxRedirected within redirectPeriod are followed (RFC 5685
// section 8); the new gateway must prove the identity that the configuration asks for, like any.
func (e *Engine) redirected(sa *ikeSA, g gateway) bool {
	c := sa.conn
	c.redirect.at = slices.DeleteFunc(c.redirect.at, func(t time.Time) bool { return e.now.Sub(t) >= redirectPeriod })
	if len(c.redirect.at) >= maxRedirected {
		e.note(sa, LevelWarn, "IKE", "redirected to %v, and before that %d times within %v: not followed", g, maxRedirected, redirectPeriod)
		return false
	}
	c.redirect.at = append(c.redirect.at, e.now)
	e.note(sa, LevelInfo, "IKE", "redirected from %v to %v", sa.remote.Addr(), g)
	c.redirect.to, c.redirect.from = g, sa.remote.Addr()
	c.names.fresh = false
	return true
}

// redirectInit takes a REDIRECT in answer to IKE_SA_INIT. It must bring our nonce back: only who has seen our
// request can have sent it (RFC 5685 section 3).
func (e *Engine) redirectInit(sa *ikeSA, n *wire.Notify) {
	g, nonce, ok := parseGateway(n.Data)
	if !ok || string(nonce) != string(sa.setup.ni) || e.cfg.IgnoreRedirects {
		e.drop("redirect")
		return
	}
	if !e.redirected(sa, g) {
		e.failSA(sa, "the peer redirects in a loop")
		return
	}
	e.beginAt(sa, sa.setup.child)
}

// redirectAuth takes a REDIRECT in the answer to IKE_AUTH of a responder that has proved who it is (RFC 5685 section 6).
func (e *Engine) redirectAuth(sa *ikeSA, m *message) bool {
	n := m.notify(wire.NotifyRedirect)
	if n == nil || e.cfg.IgnoreRedirects {
		return false
	}
	g, _, ok := parseGateway(n.Data)
	w := sa.setup.child
	if !ok || !e.redirected(sa, g) {
		e.rejectResponder(sa, "the peer redirects in a loop, or to nowhere")
		return true
	}
	e.tellDelete(sa)
	e.beginAt(sa, w)
	return true
}

// redirectUp takes a REDIRECT on an established IKE SA that we have initiated: the new one is set up, and the old one
// deleted (RFC 5685 section 5).
func (e *Engine) redirectUp(sa *ikeSA, m *message) {
	n := m.notify(wire.NotifyRedirect)
	if n == nil || !sa.up() || !sa.mobike.leads || e.cfg.IgnoreRedirects {
		return
	}
	if g, _, ok := parseGateway(n.Data); ok && e.redirected(sa, g) {
		e.keepUp(sa, func(*want) ChildAction { return ActionStart })
		e.deleteIKE(sa, "redirected to "+g.String())
		e.ensure(sa.conn)
	}
}

// beginAt gives up an attempt and begins one with the gateway that it was redirected to.
func (e *Engine) beginAt(sa *ikeSA, w *want) {
	c := sa.conn
	if w == nil {
		c.asked = true
	} else {
		w.asked = max(w.asked, askedFor)
	}
	e.destroySA(sa, "redirected")
	e.ensure(c)
}

// tellDelete tells a responder that believes in this IKE SA that it is gone.
func (e *Engine) tellDelete(sa *ikeSA) {
	packets, err := e.encrypt(sa, sa.header(wire.ExchangeInformational, sa.out.next, false),
		[]wire.Payload{&wire.Delete{Protocol: wire.ProtocolIKE}})
	if err == nil {
		e.countSent(sa, wire.ExchangeInformational, true)
		e.send(sa, packets)
	}
}
