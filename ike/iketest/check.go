package iketest

import (
	"net/netip"
	"reflect"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// check looks at what must hold after each step of an engine.
func (h *Host) check() {
	n := h.net
	if n.failed != nil || !h.running() {
		return
	}
	s := h.Snapshot()
	if s.Counters.Invalid["panic"] > 0 {
		n.violate("%s: the engine caught a panic, see the trace", h.Name)
		return
	}
	h.checkKernel(s)
	changed := false
	for _, o := range n.hosts {
		if o.Kernel.changed {
			o.Kernel.changed, changed = false, true
			o.checkPairs()
		}
	}
	if changed {
		n.checkFlows()
	}
}

// checkKernel checks that the engine knows every CHILD_SA in the kernel as it is there, unless it has given it up
// and waits to hear that it is there, to remove it.
func (h *Host) checkKernel(s *ike.Snapshot) {
	known := map[uint32]*ike.ChildSA{}
	for _, sa := range s.IKESAs {
		for _, c := range sa.Children {
			if known[c.SA.ID] != nil {
				h.net.violate("%s lists {%d} twice", h.Name, c.SA.ID)
			}
			known[c.SA.ID] = c.SA
		}
	}
	for _, id := range h.Kernel.ids() {
		in, c := h.Kernel.children[id].sa, known[id]
		switch {
		case c == nil && !h.Kernel.children[id].reported:
		case c == nil:
			h.net.violate("%s has forgotten %s in the kernel", h.Name, childText{in})
		case c.SPIIn != in.SPIIn || c.SPIOut != in.SPIOut || c.Local != in.Local || c.Remote != in.Remote || c.Encap != in.Encap ||
			c.LocalPort != in.LocalPort || c.RemotePort != in.RemotePort:
			h.net.violate("%s: the kernel has %s otherwise than the engine: %+v and %+v", h.Name, childText{in}, in, c)
		}
	}
}

// checkPairs checks that the CHILD_SAs of a host fit those of other hosts that have the same SPIs.
func (h *Host) checkPairs() {
	n := h.net
	for _, id := range h.Kernel.ids() {
		out := h.Kernel.children[id]
		dst, ok := n.inside(h, netip.AddrPortFrom(out.sa.Remote, out.sa.RemotePort))
		to := n.byAddr[dst.Addr()]
		if !ok || to == nil {
			continue
		}
		in := to.Kernel.inbound[out.sa.SPIOut]
		if in == nil || in.sa.SPIOut != out.sa.SPIIn {
			continue
		}
		if h.moved() || to.moved() {
			continue // one may know of a NAT, or of its absence, before the other does
		}
		for _, err := range []error{fits(out, in), fits(in, out)} {
			if err != nil {
				n.violate("%s of %s and %s of %s: %v", childText{out.sa}, h.Name, childText{in.sa}, to.Name, err)
				return
			}
		}
	}
}

// checkUnmoved checks, for a message that was corrupted under way, that nothing but counters
// changes. IKE_SA_INIT is not protected, and so may have any effect.
func (h *Host) checkUnmoved(m *Message, receive func()) {
	if !m.corrupt || m.protects(wire.ExchangeSAInit) {
		receive()
		return
	}
	before, timer := h.state(), h.nextTimeout()
	receive()
	if h.net.failed != nil {
		return
	}
	for _, a := range h.last {
		switch a := a.(type) {
		case ike.Note:
		case ike.Send:
			if hdr, err := wire.ParseHeader(a.Data); err != nil || !hdr.IsResponse() {
				h.net.violate("%s sends a request after a corrupted message, #%d", h.Name, m.N)
			}
			h.checkStateless(m, a)
		default:
			h.net.violate("%s does %T after a corrupted message, #%d", h.Name, a, m.N)
		}
	}
	if after := h.state(); !reflect.DeepEqual(before, after) {
		h.net.violate("the corrupted message #%d changed the state of %s from\n%+v\nto\n%+v", m.N, h.Name, before, after)
	}
	if !h.nextTimeout().Equal(timer) {
		h.net.violate("the corrupted message #%d changed the timers of %s", m.N, h.Name)
	}
}

// checkStateless allows an unprotected error as the answer to a corrupted message, such as INVALID_MAJOR_VERSION
// (RFC 7296 section 2.5): whoever sends it keeps no state.
func (h *Host) checkStateless(m *Message, s ike.Send) {
	msg, err := wire.ParseMessage(s.Data, wire.Limits{})
	if err != nil || msg.Encrypted != nil || wire.FirstError(msg.Payloads) == nil {
		h.net.violate("%s answers the corrupted message #%d", h.Name, m.N)
	}
}

// protects reports whether the message was of an exchange before it was corrupted, or is.
func (m *Message) protects(x wire.ExchangeType) bool {
	const exchangeAt = 18
	return m.original.Exchange == x || len(m.Data) > exchangeAt && wire.ExchangeType(m.Data[exchangeAt]) == x && m.original.MessageID == 0
}

// state is what a message that does not verify must leave as it is.
func (h *Host) state() []ike.IKESAInfo { return slices.Clone(h.Snapshot().IKESAs) }

func (h *Host) nextTimeout() time.Time {
	t, _ := h.engine.NextTimeout()
	return t
}
