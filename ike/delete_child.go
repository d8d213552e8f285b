package ike

import (
	"fmt"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// deleteChildTask tells the peer that a CHILD_SA is closed (RFC 7296 section 1.4.1).
type deleteChildTask struct {
	child *childSA // nil: only the peer has it
	spi   uint32   // that we receive on
}

func (*deleteChildTask) name() string { return "CHILD_DELETE" }

func (t *deleteChildTask) begin(e *Engine, sa *ikeSA) bool {
	if c := t.child; c != nil && (c.closed || e.children[c.info.ID] != c) {
		return false // the peer was faster
	}
	if sa.state != stateEstablished {
		return false
	}
	e.note(sa, LevelInfo, "CHD", "sending DELETE for ESP CHILD_SA with SPI %08x", t.spi)
	e.request(sa, wire.ExchangeInformational,
		&wire.Delete{Protocol: wire.ProtocolESP, SPIs: []wire.ChildSPI{wire.ChildSPI(t.spi)}})
	return true
}

// answer completes the deletion, whatever the peer says: after its answer it does
// not have the CHILD_SA any more.
func (t *deleteChildTask) answer(e *Engine, sa *ikeSA, _ *message) {
	e.finishTask(sa)
	if t.child != nil && !t.child.closed {
		e.closeChild(t.child, "deleted")
	}
}

func (*deleteChildTask) abandon(*Engine, *ikeSA) {}

// deleteChild begins to delete a CHILD_SA.
func (e *Engine) deleteChild(c *childSA) {
	if c.closed || c.sa.hasTask(func(t task) bool { d, ok := t.(*deleteChildTask); return ok && d.child == c }) {
		return
	}
	if c.state != ChildRekeyed {
		c.state = ChildDeleting
	}
	e.timers.stop(&c.timers[timerChildRekey])
	e.enqueue(c.sa, &deleteChildTask{child: c, spi: c.info.SPIIn})
}

// forceDelete takes a CHILD_SA down without waiting for the peer, who is told all the same.
func (e *Engine) forceDelete(c *childSA) {
	sa, spi := c.sa, c.info.SPIIn
	t, ok := sa.active.(*deleteChildTask)
	told := c.closed || ok && t.child == c
	c.state, c.replacedBy = ChildDeleting, nil
	e.closeChild(c, "terminated")
	if !told {
		e.enqueue(sa, &deleteChildTask{spi: spi})
	}
}

// closeChild is called when both ends know that a CHILD_SA is deleted. One that was
// replaced stays a little for packets under way.
func (e *Engine) closeChild(c *childSA, reason string) {
	c.closed = true
	if c.state != ChildRekeyed || c.replacedBy == nil {
		e.removeChild(c, reason)
		return
	}
	e.activate(c.replacedBy)
	e.timers.stop(&c.timers[timerChildExpire])
	e.setChildTimer(c, timerChildLinger, e.now.Add(e.cfg.Timing.DeleteDelay))
}

// childLingered removes what has waited long enough; what the peer ought to
// have deleted by now is deleted by us.
func (e *Engine) childLingered(c *childSA) {
	if c.closed {
		e.removeChild(c, "rekeyed")
		return
	}
	if c.replacedBy != nil {
		e.activate(c.replacedBy)
	}
	e.deleteChild(c)
}

// childDeleteRequest deals with the peer's Delete of CHILD_SAs and returns the
// SPIs of our halves. Those that we are deleting, too, are not among them (RFC 7296 section 1.4.1).
func (e *Engine) childDeleteRequest(sa *ikeSA, d *wire.Delete) []wire.ChildSPI {
	holder := sa
	if sa.rekey.successor != nil && !sa.rekey.successor.gone {
		holder = sa.rekey.successor // the children have moved on already
	}
	var ours []wire.ChildSPI
	for _, spi := range d.SPIs {
		c := holder.childOut(uint32(spi))
		if c == nil {
			e.note(sa, LevelInfo, "CHD", "received DELETE for unknown ESP CHILD_SA with SPI %v", spi)
			if t, ok := holder.active.(*childTask); ok && len(t.deleted) < maxEarlyDeletes {
				t.deleted = append(t.deleted, uint32(spi))
			}
			continue
		}
		e.note(sa, LevelInfo, "CHD", "received DELETE for ESP CHILD_SA with SPI %v: %s", spi, c.label())
		if t, ok := holder.active.(*deleteChildTask); !ok || t.child != c {
			ours = append(ours, wire.ChildSPI(c.info.SPIIn))
		}
		e.peerDeleted(holder, c)
	}
	return ours
}

// peerDeleted takes a CHILD_SA down after the peer's Delete.
func (e *Engine) peerDeleted(sa *ikeSA, c *childSA) {
	if t, ok := sa.active.(*childTask); ok && t.old == c && t.standing(e) != nil {
		// The peer has finished its own rekey of what we are rekeying, and has
		// not seen ours yet.
		e.replaced(c, t.twin)
	}
	if c.state == ChildRekeyed && c.replacedBy != nil {
		e.closeChild(c, "rekeyed")
		return
	}
	wasOurs := c.state == ChildDeleting || c.redundant
	old := c.replaces
	if old != nil && old.expired && !old.closed {
		// The peer takes back its rekey, and what it was to replace is gone.
		e.closeChild(c, "deleted by the peer")
		e.childExpired(old, !wasOurs)
		return
	}
	if old != nil && c.noOutbound && !old.closed && old.state == ChildRekeyed && old.replacedBy == c {
		// The peer takes back its rekey before we used it.
		e.serveOn(old)
	}
	if !wasOurs {
		e.trap(c, c.want.cfg.CloseAction)
	}
	e.closeChild(c, "deleted by the peer")
	if !wasOurs {
		e.childLost(c.want, c.want.cfg.CloseAction, fmt.Sprintf("CHILD_SA %s was deleted by the peer", c.label()))
	}
}

// childLost plans what is to become of a child whose CHILD_SA went away while its IKE SA lives on.
func (e *Engine) childLost(w *want, action ChildAction, reason string) {
	if w.live() || e.closing {
		return
	}
	if action.Starts() {
		w.asked = keptUp
	}
	if !w.desired() || w.retry.pos != 0 {
		return
	}
	e.setError(w.conn, reason)
	w.backoff++
	e.timers.set(&w.retry, w, timerRetry, e.now.Add(e.wait(w.backoff)))
}
