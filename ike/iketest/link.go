package iketest

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// natTPort is where IKE messages bear the non-ESP marker (RFC 7296 section 2.23).
const natTPort = 4500

// overtakeLimit is how long a message waits for one that overtakes it.
const overtakeLimit = time.Minute

// held is a message that waits until it is overtaken.
type held struct {
	m        *Message
	released bool
}

// transmit takes a message from an engine to its link.
func (n *Net) transmit(h *Host, s ike.Send) {
	src := s.Local
	if !src.Addr().IsValid() {
		src = netip.AddrPortFrom(h.addrs[0], src.Port())
	}
	if src.Port() == 0 {
		port := uint16(500)
		if s.NATT {
			port = natTPort
		}
		src = netip.AddrPortFrom(src.Addr(), port)
	}
	m := &Message{Sent: n.now, From: h.Name, Src: src, Dst: s.Remote, Marker: s.NATT, Keepalive: s.Keepalive, Data: s.Data, from: h}
	if !slices.Contains(h.addrs, src.Addr()) {
		if h.lost[src.Addr()] {
			n.tracef("%v [not sent: the address is gone]", m)
			return
		}
		n.violate("%s sends from %v, which is not its address", h.Name, src)
		return
	}
	if h.nat != nil {
		m.Src = h.nat.outbound(src)
	}
	m.To = n.nameOf(h, m.Dst)
	if m.Keepalive {
		h.Keepalives++
		n.tracef("%v", m)
		return
	}
	n.sent++
	n.lastSent = n.now
	m.N = n.sent
	n.wire.sent(n, m)
	if n.recording {
		n.recorded = append(n.recorded, m)
	}
	n.expose(m)
}

// expose lets the faults have their way with a message.
func (n *Net) expose(m *Message) {
	fate := Fate{}
	if n.Fate != nil {
		fate = n.Fate(m)
	}
	f := n.Faults
	delay := f.Delay + n.upTo(f.Jitter) + fate.Delay
	remark := ""
	if fate.Delay > 0 {
		remark = " [slow]"
	}
	if n.chance(f.Reorder) {
		by := f.ReorderBy
		if by == 0 {
			by = 10 * f.Delay
		}
		delay += n.upTo(by)
		remark = " [held back]"
	}
	if fate.Lose || n.chance(f.Loss) {
		n.tracef("%v [lost]", m)
		return
	}
	for _, later := range fate.Copies {
		remark += fmt.Sprintf(" [again after %v]", later)
		n.deliverIn(delay+later, m)
	}
	if n.chance(f.Duplicate) {
		remark += " [duplicated]"
		n.deliverIn(f.Delay+n.upTo(f.Jitter)+n.upTo(10*f.Delay), m)
	}
	if fate.Corrupt || n.chance(f.Corrupt) {
		m = n.corrupted(m)
		remark += " [corrupted]"
	}
	if fate.Overtake {
		n.tracef("%v%s [to be overtaken]", m, remark)
		w := &held{m: m}
		n.held = append(n.held, w)
		n.After(overtakeLimit, func() { n.release(w, 0) })
		return
	}
	n.tracef("%v%s", m, remark)
	n.deliverIn(delay, m)
}

func (n *Net) deliverIn(delay time.Duration, m *Message) {
	n.After(delay, func() { n.deliver(m) })
}

func (n *Net) release(w *held, delay time.Duration) {
	if !w.released {
		w.released = true
		n.deliverIn(delay, w.m)
	}
}

// deliver brings a message to whoever has its destination address.
func (n *Net) deliver(m *Message) {
	defer n.overtaken(m)
	dst, ok := n.inside(m.from, m.Dst)
	h := n.byAddr[dst.Addr()]
	switch {
	case !ok || h == nil:
		n.tracef("    #%d: nobody is at %v", m.N, m.Dst)
	case !h.running():
		n.tracef("    #%d: %s is down", m.N, h.Name)
	case n.blocked[[2]*Host{m.from, h}]:
		n.tracef("    #%d: the link is cut", m.N)
	case m.Marker != (dst.Port() != 500):
		n.violate("%v with marker %v to port %d", m, m.Marker, dst.Port())
	default:
		n.tracef("    #%d arrives at %s", m.N, h.Name)
		n.wire.delivered(m)
		h.receive(m, dst)
	}
}

// overtaken releases what waited for m to be delivered first.
func (n *Net) overtaken(m *Message) {
	rest := n.held[:0]
	for _, w := range n.held {
		if w.m != m && w.m.from == m.from && w.m.N < m.N {
			n.release(w, time.Millisecond)
			continue
		}
		rest = append(rest, w)
	}
	n.held = rest
}

// corrupted returns a copy of m with a flipped bit.
func (n *Net) corrupted(m *Message) *Message {
	c := *m
	c.Data = slices.Clone(m.Data)
	c.corrupt = true
	if bit := n.rng.IntN(8 * len(c.Data)); bit >= 0 {
		c.Data[bit/8] ^= 1 << (bit % 8)
	}
	return &c
}

func (n *Net) chance(p float64) bool { return p > 0 && n.rng.Float64() < p }

// upTo returns a random duration in [0, most).
func (n *Net) upTo(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return time.Duration(n.rng.Int64N(int64(most)))
}

// Cut stops everything between two hosts until Mend.
func (n *Net) Cut(a, b *Host) {
	n.blocked[[2]*Host{a, b}], n.blocked[[2]*Host{b, a}] = true, true
	n.tracef("link between %s and %s is cut", a.Name, b.Name)
}

// Mend undoes Cut.
func (n *Net) Mend(a, b *Host) {
	delete(n.blocked, [2]*Host{a, b})
	delete(n.blocked, [2]*Host{b, a})
	n.tracef("link between %s and %s is mended", a.Name, b.Name)
}

// nameOf returns who has an address, for the trace.
func (n *Net) nameOf(from *Host, dst netip.AddrPort) string {
	if in, ok := n.inside(from, dst); ok {
		if h := n.byAddr[in.Addr()]; h != nil {
			return h.Name
		}
	}
	return dst.String()
}
