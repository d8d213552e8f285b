package ike

import "net/netip"

// trap has the policies of a lost CHILD_SA wait for traffic, if its action says so. It is called before
// the CHILD_SA is removed, so that nothing leaves in the clear in between.
func (e *Engine) trap(c *childSA, action ChildAction) {
	w := c.want.root()
	_, possible := w.conn.remoteAddr()
	local, remote, any := w.conn.cfg.AnyPeerTrap(w.cfg)
	possible = possible || any
	if c.info.CPU.Bound && w.live() {
		return
	}
	if !action.Traps() || w.cfg.StartAction.Traps() || w.trap != nil || w.gone || w.conn.removed || e.closing || !possible || !w.cfg.Trappable(w.conn.cfg) {
		return
	}
	info := *c.info
	info.SPIIn, info.SPIOut, info.ReqID = 0, 0, w.reqid
	info.PerCPU, info.CPU = false, CPU{} // the first is for all
	info.LocalTS = resolve(w.cfg.LocalTS, info.Local)
	info.RemoteTS = resolve(w.cfg.RemoteTS, info.Remote)
	if any {
		info.Local, info.Remote, info.LocalTS, info.RemoteTS = netip.Addr{}, netip.Addr{}, local, remote
		info.Encap, info.LocalPort, info.RemotePort = false, 0, 0
	}
	w.trap = &info
	e.do(Trap{Child: w.trap})
}

// untrap ends what trap began.
func (e *Engine) untrap(w *want) {
	if w.trap != nil {
		w.trap = nil
		e.do(Untrap{Connection: w.conn.cfg.Name, Child: w.cfg.Name})
	}
}
