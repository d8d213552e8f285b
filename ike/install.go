package ike

import (
	"fmt"
	"time"
)

// childInstalled is told that the kernel has a CHILD_SA.
func (e *Engine) childInstalled(c *childSA) {
	if !c.installed.IsZero() || c.closed {
		return
	}
	c.installed = e.now
	if c.state == ChildInstalling {
		c.state = ChildInstalled
		e.startChildTimers(c)
	}
	e.resolve(c, nil)
	if c.redundant || c.closed {
		return
	}
	defer func() {
		e.resolveTwins(c)
		e.resolveSimultaneous(c.sa)
	}()
	old := c.replaces
	if old == nil {
		c.announced = true
		e.upDown(c, true)
		e.emit(c.event(NoteChildUp, LevelInfo, c.describeUp()))
	}
	e.reportUp(c)
	if m := c.moves; m != nil && m.live() {
		c.moves = nil
		e.deleteChild(m)
	}
	switch {
	case old == nil && c.noOutbound:
		e.setChildTimer(c, timerOutbound, e.now.Add(e.cfg.Timing.linger()))
	case old == nil:
	case c.info.Initiator:
		// RFC 7296 section 2.8: the initiator of the rekey deletes the old one.
		e.stopSending(old)
		e.rekeyed(old, c)
		if !old.closed {
			e.deleteChild(old)
		}
	case c.noOutbound:
		e.setChildTimer(c, timerOutbound, e.now.Add(e.cfg.Timing.linger()))
		if old.expired {
			e.useHeir(old)
		}
	}
}

// serveOn takes back that old was replaced.
func (e *Engine) serveOn(old *childSA) {
	old.state, old.replacedBy = ChildInstalled, nil
	e.timers.stop(&old.timers[timerChildLinger])
	e.startChildTimers(old)
}

// startChildTimers sets when a CHILD_SA is rekeyed and when it ends.
func (e *Engine) startChildTimers(c *childSA) {
	cfg := c.info.Config
	if cfg.RekeyTime > 0 && !c.redundant {
		e.setChildTimer(c, timerChildRekey, e.now.Add(cfg.RekeyTime-e.jitter(min(cfg.RandTime, cfg.RekeyTime/2))))
	}
	if cfg.LifeTime > 0 {
		e.setChildTimer(c, timerChildExpire, c.installed.Add(max(cfg.LifeTime, time.Second)))
	}
	e.watchIdle(c)
}

// childNotInstalled rolls back: the peer is told, the IKE SA lives on, what the
// CHILD_SA was to replace serves on, and it is tried again later.
func (e *Engine) childNotInstalled(c *childSA, cause error) {
	sa, w, old := c.sa, c.want, c.replaces
	e.alert(sa, AlertInstallFailed)
	text := fmt.Sprintf("installing CHILD_SA %s in the kernel failed: %v", c.label(), cause)
	defer e.resolveSimultaneous(sa)
	told, wanted := c.closed || c.answer != nil, c.live()
	c.absent = true
	if !told {
		e.enqueue(sa, &deleteChildTask{spi: c.info.SPIIn})
	}
	e.resolve(c, cause)
	back := old != nil && !old.closed && old.state == ChildRekeyed && (old.replacedBy == nil || old.replacedBy == c)
	if back {
		e.serveOn(old)
	}
	e.removeChild(c, text)
	if back {
		old.rekeyTries++
		e.setChildTimer(old, timerChildRekey, e.now.Add(e.wait(old.rekeyTries)))
		e.failed(w.conn, w, sa, text+"; the old CHILD_SA serves on", "")
		return
	}
	switch {
	case wanted && !w.live():
		e.childFailed(w, sa, text)
	case wanted:
		if c.info.CPU.Bound {
			w.cpuRetry = e.now.Add(e.cfg.Timing.RetryMax)
		}
		e.failed(w.conn, w, sa, text, "")
	}
}
