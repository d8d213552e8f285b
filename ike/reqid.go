package ike

import "slices"

// reqidSpan is how many reqids from ReqIDBase on the engine may assign, before it takes
// those that are free again.
const reqidSpan = 1 << 20

// newReqid returns the next reqid that is not taken.
func (e *Engine) newReqid(taken map[uint32]bool) uint32 {
	for {
		if e.ids.reqid++; e.ids.reqid-e.cfg.ReqIDBase >= reqidSpan {
			e.ids.reqid = e.cfg.ReqIDBase + 1
		}
		if !taken[e.ids.reqid] {
			return e.ids.reqid
		}
	}
}

// reqidFor returns the reqid of a new CHILD_SA: the child's own, by which its policies find it in the
// kernel. It gets another one where the kernel would otherwise send on it what it is not for: where another
// peer of the same connection uses it, and where it is narrower than a trap, or other than a CHILD_SA
// that stands beside it.
func (e *Engine) reqidFor(sa *ikeSA, a agreed) uint32 {
	w := a.want
	if w.cfg.ReqID != 0 {
		return w.cfg.ReqID
	}
	samePeer := func(c *childSA) bool { return c.sa.remoteID == sa.remoteID && c.info.Remote == sa.remote.Addr() }
	sameTS := func(c *childSA) bool {
		return slices.Equal(c.info.LocalTS, a.localTS) && slices.Equal(c.info.RemoteTS, a.remoteTS)
	}
	for _, c := range w.children { // the same once more
		if samePeer(c) && sameTS(c) {
			return c.info.ReqID
		}
	}
	narrower := !sa.whole(a) && (w.cfg.StartAction.Traps() || w.trap != nil)
	used := slices.ContainsFunc(w.children, func(c *childSA) bool { return c.info.ReqID == w.reqid })
	if !narrower && !used && w.of == nil {
		return w.reqid
	}
	return e.newReqid(e.takenReqids())
}

// whole reports whether a CHILD_SA is for all that its child is configured for.
func (sa *ikeSA) whole(a agreed) bool {
	cfg := a.want.cfg
	return slices.Equal(a.localTS, resolve(cfg.LocalTS, sa.localHosts()...)) && slices.Equal(a.remoteTS, resolve(cfg.RemoteTS, sa.remoteHosts()...))
}

// takenReqids returns what is configured or in use.
func (e *Engine) takenReqids() map[uint32]bool {
	taken := map[uint32]bool{}
	for _, c := range e.connections {
		for _, w := range c.wants {
			taken[w.reqid] = true
			taken[w.cfg.ReqID] = true
		}
	}
	for _, id := range e.reqids {
		taken[id] = true
	}
	for _, c := range e.children {
		taken[c.info.ReqID] = true
	}
	return taken
}
