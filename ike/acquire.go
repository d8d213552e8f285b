package ike

import "slices"

// packet is the traffic that asked for a CHILD_SA, as selectors.
type packet struct{ local, remote TrafficSelector }

// selectors returns what an Acquire tells of its packet; nil, if it tells nothing.
func (ev Acquire) selectors() *packet {
	src, dst := ev.Src.Addr().Unmap(), ev.Dst.Addr().Unmap()
	if !src.IsValid() || !dst.IsValid() || src.Is4() != dst.Is4() {
		return nil
	}
	p := &packet{
		local:  TrafficSelector{Start: src, End: src, Protocol: ev.Protocol, EndPort: anyPort},
		remote: TrafficSelector{Start: dst, End: dst, Protocol: ev.Protocol, EndPort: anyPort},
	}
	switch ev.Protocol {
	case protoICMP, protoICMPv6:
		// RFC 7296 section 3.13.1: the type is the upper octet of the port, the code the lower.
		port := ev.Src.Port()<<8 | ev.Dst.Port()&0xff
		p.local.StartPort, p.local.EndPort = port, port
		p.remote.StartPort, p.remote.EndPort = port, port
	case protoTCP, protoUDP, protoSCTP:
		p.local.StartPort, p.local.EndPort = ev.Src.Port(), ev.Src.Port()
		p.remote.StartPort, p.remote.EndPort = ev.Dst.Port(), ev.Dst.Port()
	}
	return p
}

// IP protocol numbers that have ports, or types and codes in their place.
const (
	protoICMP   = 1
	protoTCP    = 6
	protoUDP    = 17
	protoICMPv6 = 58
	protoSCTP   = 132

	anyPort = 65535
)

// first puts the packet's selectors before the others, so that a peer that narrows keeps them
// (RFC 7296 section 2.9). What the child is not for stays out.
func (p *packet) first(o *offer) {
	if p == nil || !covered(o.localTS, []TrafficSelector{p.local}) || !covered(o.remoteTS, []TrafficSelector{p.remote}) {
		return
	}
	o.localTS = prepend(p.local, o.localTS)
	o.remoteTS = prepend(p.remote, o.remoteTS)
}

func prepend(t TrafficSelector, list []TrafficSelector) []TrafficSelector {
	if slices.Contains(list, t) {
		return list
	}
	return append([]TrafficSelector{t}, list...)
}

// acquire brings up the child whose policy met traffic; one negotiation at a time. A child that is up is
// asked for once more where the peer has narrowed it to selectors that leave this packet out.
func (e *Engine) acquire(ev Acquire) {
	if ev.CPU.Bound && e.acquireCPU(ev) {
		return
	}
	w := e.acquired(ev)
	if w == nil || w.cfg.Mode.Shunt() || e.closing {
		return
	}
	p, reqid := ev.selectors(), w.reqid
	if p != nil && !w.isFor(p) {
		p = nil // a policy of somebody else's making: the child is all that is known
	}
	if w.conn.cfg.anyPeer() {
		if w = e.acquiredPeer(w, p); w == nil {
			return
		}
	}
	c := w.conn
	if w.carries(p) {
		return
	}
	w.acquire = ev.Seq
	if w.retry.pos != 0 || c.retry.pos != 0 { // traffic must not make that faster
		w.asked = max(w.asked, askedFor)
		return
	}
	e.note(nil, LevelInfo, "KNL", "creating acquire job for policy with reqid {%d}", reqid)
	if w.live() {
		if sa := c.usable(); sa != nil && sa.up() && !sa.hasTask(func(t task) bool { ct, ok := t.(*childTask); return ok && ct.want == w }) {
			e.enqueue(sa, &childTask{want: w, packet: p})
		}
		return
	}
	w.asked, w.packet = max(w.asked, askedFor), p
	e.ensure(c)
}

// acquired finds the child by the reqid of its trap, or by the interface.
func (e *Engine) acquired(ev Acquire) *want {
	for _, c := range e.connections {
		for _, w := range c.wants {
			if ev.ReqID != 0 && w.reqid == ev.ReqID || ev.ReqID == 0 && ev.IfID != 0 && w.ifID() == ev.IfID {
				return w
			}
		}
	}
	return nil
}

// isFor reports whether the packet is of those that the child is configured for.
func (w *want) isFor(p *packet) bool {
	return covered(resolve(w.cfg.LocalTS, p.local.Start), []TrafficSelector{p.local}) &&
		covered(resolve(w.cfg.RemoteTS, p.remote.Start), []TrafficSelector{p.remote})
}

// carries reports whether a CHILD_SA of the child that is there to stay is for the packet, or may be.
func (w *want) carries(p *packet) bool {
	return slices.ContainsFunc(w.children, func(c *childSA) bool {
		return c.live() && !c.info.CPU.Bound && (p == nil || covered(c.info.LocalTS, []TrafficSelector{p.local}) && covered(c.info.RemoteTS, []TrafficSelector{p.remote}))
	})
}
