package ike

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// CPU is one whose packets a CHILD_SA is for (RFC 9611); the zero value is none of its own.
type CPU struct {
	Bound  bool
	Number uint32
}

// resource is what SA_RESOURCE_INFO says of it, to be read by people only (RFC 9611 section 5.1).
func (c CPU) resource() []byte {
	if !c.Bound {
		return nil
	}
	return binary.BigEndian.AppendUint32(nil, c.Number)
}

// cpuShare is the part that a CHILD_SA has among those with the same selectors.
type cpuShare struct {
	perCPU bool     // there may be others, each for a CPU
	cpu    CPU      // that it is for, on this side
	beside *childSA // the one for all CPUs; nil: it is that itself
	seq    uint32   // of the Acquire that asks for it
}

// perCPU reports whether CHILD_SAs of a child may be for one CPU each.
func (e *Engine) perCPU(cfg *ChildConfig) bool { return cfg.PerCPU && e.cfg.CPUs > 0 }

// acquireCPU has a CHILD_SA made for the CPU that met traffic. Meanwhile, and where the peer wants no more of them, the CPU uses
// the one for all. It reports false where no CHILD_SA has that reqid.
func (e *Engine) acquireCPU(ev Acquire) bool {
	shared := e.oldest(ev.ReqID, (*childSA).shared)
	if shared == nil {
		return e.acquireForAll(ev)
	}
	if e.closing || e.quiet || !shared.sa.up() || shared.state == ChildInstalling || e.now.Before(shared.want.cpuRetry) {
		return true
	}
	users := e.users(shared)
	if users[ev.CPU.Number] > 0 || total(users) >= e.cfg.Limits.PerCPUSAs {
		return true
	}
	e.note(shared.sa, LevelInfo, "KNL", "creating acquire job for policy with reqid {%d}, cpu {%d}", ev.ReqID, ev.CPU.Number)
	e.enqueue(shared.sa, &childTask{want: shared.want, cpuShare: cpuShare{perCPU: true, cpu: ev.CPU, beside: shared, seq: ev.Seq}})
	return true
}

// acquireForAll asks for the CHILD_SA for all CPUs where only those for one each are left: the other CPUs have none.
func (e *Engine) acquireForAll(ev Acquire) bool {
	left := e.oldest(ev.ReqID, func(c *childSA) bool { return c.info.CPU.Bound && c.live() })
	if left == nil {
		return false
	}
	w := left.want
	if w.live() || w.gone || e.closing {
		return true
	}
	e.note(left.sa, LevelInfo, "KNL", "creating acquire job for policy with reqid {%d}, whose CHILD_SA for all CPUs is gone", ev.ReqID)
	w.asked = max(w.asked, askedFor)
	if w.retry.pos == 0 && w.conn.retry.pos == 0 {
		e.ensure(w.conn)
	}
	return true
}

// oldest returns the oldest CHILD_SA of a reqid for which is holds.
func (e *Engine) oldest(reqid uint32, is func(*childSA) bool) *childSA {
	var oldest *childSA
	for _, c := range e.children {
		if c.info.ReqID == reqid && is(c) && (oldest == nil || c.info.ID < oldest.info.ID) {
			oldest = c
		}
	}
	return oldest
}

// shared reports whether a CHILD_SA is for all CPUs, and others may be beside it.
func (c *childSA) shared() bool { return c.info.PerCPU && !c.info.CPU.Bound && c.live() }

// users returns how many CHILD_SAs beside one each CPU has or is getting.
func (e *Engine) users(shared *childSA) map[uint32]int {
	n := map[uint32]int{}
	for _, c := range shared.sa.children {
		if c.want == shared.want && c.info.CPU.Bound && c.live() && c.info.ReqID == shared.info.ReqID {
			n[c.info.CPU.Number]++
		}
	}
	shared.sa.hasTask(func(t task) bool {
		if ct, ok := t.(*childTask); ok && ct.want == shared.want && ct.beside != nil {
			n[ct.cpu.Number]++
		}
		return false
	})
	return n
}

func total(users map[uint32]int) int {
	sum := 0
	for _, n := range users {
		sum += n
	}
	return sum
}

// shareFor says which part a CHILD_SA has that the peer asks for: the first is for all CPUs, another one for the CPU of ours that has the
// fewest. The peer's CPUs are its own business (RFC 9611 section 5.1). It reports false where there are enough.
func (e *Engine) shareFor(sa *ikeSA, w *want, r *childRequest, local, remote []TrafficSelector) (cpuShare, bool) {
	if old := r.old; old != nil {
		return cpuShare{perCPU: old.info.PerCPU, cpu: old.info.CPU}, true
	}
	if !e.perCPU(w.cfg) || r.m.notify(wire.NotifySAResourceInfo) == nil {
		return cpuShare{}, true
	}
	i := slices.IndexFunc(sa.children, func(c *childSA) bool {
		return c.want == w && c.shared() && slices.Equal(c.info.LocalTS, local) && slices.Equal(c.info.RemoteTS, remote)
	})
	if i < 0 {
		return cpuShare{perCPU: true}, true
	}
	shared := sa.children[i]
	users := e.users(shared)
	if total(users) >= e.cfg.Limits.PerCPUSAs {
		return cpuShare{}, false
	}
	cpu := CPU{Bound: true}
	for n := range uint32(e.cfg.CPUs) {
		if users[n] < users[cpu.Number] {
			cpu.Number = n
		}
	}
	return cpuShare{perCPU: true, cpu: cpu, beside: shared}, true
}

// cpuRefused waits before the peer is asked again for a CHILD_SA for one CPU: the traffic has the one for all.
func (e *Engine) cpuRefused(w *want, sa *ikeSA, cpu CPU, err *childError) {
	if temporary(err.notify) {
		return
	}
	w.cpuRetry = e.now.Add(max(e.cfg.Timing.RetryMax, time.Second))
	e.note(sa, LevelInfo, "CHD", "no CHILD_SA %s for CPU %d, which uses the one for all: %s", w.cfg.Name, cpu.Number, err.text)
}

// giveUpCPU deletes the newest CHILD_SA for one CPU where the peer has no room for the one for all: it takes one
// of those that are left for that.
func (e *Engine) giveUpCPU(sa *ikeSA, w *want) {
	for _, c := range slices.Backward(sa.children) {
		if c.want == w && c.info.CPU.Bound && c.live() {
			e.deleteChild(c)
			return
		}
	}
}
