package ike

import (
	"fmt"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
)

// TakeOver takes up the IKE SAs that another engine has handed over. It is called once, before the first
// HandleTimeout, by an engine with the same configuration. It returns the CHILD_SAs, which the kernel has already: the
// executor counts as done what InstallChild and ChildUp would ask for, and answers with Expire (Hard) for each of which that is not so. The
// data hold keys; the caller wipes them. Its actions are to be carried out before anything else; an UpDown among them has been
// told by the process before. What fits no connection is left out, with a Note; an error means that nothing is
// taken over.
func (e *Engine) TakeOver(now time.Time, data []byte) ([]*ChildSA, error) {
	e.now = now
	s, err := decodeHandover(data)
	if err != nil {
		return nil, err
	}
	e.ids.ike, e.ids.child, e.ids.reqid = max(e.ids.ike, s.IKE), max(e.ids.child, s.Child), max(e.ids.reqid, s.ReqID)
	e.ids.mark, e.ids.ifID = max(e.ids.mark, s.Mark), max(e.ids.ifID, s.IfID)
	e.forgetReqids()
	for i := range s.Connections {
		e.takeConnection(&s.Connections[i])
	}
	e.assignReqids()
	e.takePools(s.Pools)
	var children []*ChildSA
	for i := range s.SAs {
		list, err := e.takeSA(&s.SAs[i])
		if err != nil {
			e.note(nil, LevelError, "IKE", "IKE_SA %s[%d] is not taken over: %v", s.SAs[i].Connection, s.SAs[i].ID, err)
		}
		children = append(children, list...)
	}
	e.takeUps(s)
	e.dropUnused()
	e.forgetPeers()
	return children, nil
}

// forgetReqids makes way for those that the kernel knows.
func (e *Engine) forgetReqids() {
	clear(e.reqids)
	for _, c := range e.connections {
		for _, w := range c.wants {
			w.reqid = 0
		}
	}
}

// takeConnection takes what the operator, and the kernel, know of a connection's children.
func (e *Engine) takeConnection(h *handedConnection) {
	c := e.byName[h.Name]
	if c == nil {
		return
	}
	c.take(e, h)
	if c.cfg.anyPeer() {
		for i := range h.Peers {
			e.takePeer(c, &h.Peers[i])
		}
	}
	for _, hw := range h.Children {
		w := c.want(hw.Name)
		if w == nil {
			continue
		}
		w.stopped, w.asked = hw.Stopped, hw.Asked
		if w.cfg.ReqID == 0 {
			w.reqid = hw.ReqID
			e.reqids[childKey{h.Name, hw.Name}] = hw.ReqID
		}
		if hw.Trap != nil {
			w.trap = hw.Trap
			w.trap.Config = w.cfg
			w.trap.fixedMarks()
			e.do(Trap{Child: w.trap})
		}
	}
}

func (c *connection) take(e *Engine, h *handedConnection) {
	c.stopped, c.virtual, c.upSince = h.Stopped, h.Virtual, e.at(h.UpSince)
}

// takePeer takes what is asked for of one of a connection's peers.
func (e *Engine) takePeer(c *connection, h *handedConnection) {
	one := e.ofPeer(c, h.Peer)
	one.take(e, h)
	one.source = h.Source
	for _, hw := range h.Children {
		if w := one.want(hw.Name); w != nil {
			w.stopped, w.asked = hw.Stopped, hw.Asked
		}
	}
}

// takeUps counts as up what was, and reports as down what nothing is left of.
func (e *Engine) takeUps(s *handedState) {
	for _, h := range s.Connections {
		for _, hw := range h.Children {
			if c := e.byName[h.Name]; c != nil {
				if w := c.want(hw.Name); w != nil && hw.Up {
					w.up = w.liveAnywhere()
				}
			}
		}
	}
}

// takeSA makes an IKE SA of what was handed over.
func (e *Engine) takeSA(h *handedSA) ([]*ChildSA, error) {
	c := e.byName[h.Connection]
	if c == nil {
		return nil, fmt.Errorf("the connection is not configured any more")
	}
	if h.Peer.IsValid() && c.cfg.anyPeer() {
		c = e.ofPeer(c, h.Peer)
	}
	for _, hc := range h.Children {
		if c.want(hc.Child) == nil {
			return nil, fmt.Errorf("children.%s is not configured any more %s", hc.Child, c.cfg.at("children"))
		}
	}
	sa := &ikeSA{
		id: h.ID, state: stateEstablished, initiator: h.Initiator, spiI: h.SPIi, spiR: h.SPIr,
		local: h.Local, remote: h.Remote, natt: h.NATT, natLocal: h.NATLocal, natRemote: h.NATRemote,
		forceEncap: h.ForceEncap, ppk: h.PPK, peerFragments: h.PeerFragments, peerChildless: h.PeerChildless, peerRedirects: h.PeerRedirects,
		mobike: mobike{on: h.Mobike.On, leads: h.Mobike.Leads, natt: h.Mobike.NATT, peer: h.Mobike.Peer, told: h.Mobike.Told,
			proven: h.Mobike.Proven, natSeen: h.Mobike.NATSeen},
		told:   endpoints{local: h.ToldLocal, remote: h.ToldRemote},
		ifIDIn: h.IfIDIn, ifIDOut: h.IfIDOut,
		localID: h.LocalID, remoteID: h.RemoteID, nonceMin: h.NonceMin, confirmed: h.Confirmed,
		begun: e.at(h.Begun), established: e.at(h.Established), proved: e.at(h.Proved),
		lastInbound: e.at(h.LastInbound), lastESP: e.at(h.LastESP), lastSent: e.at(h.Sent),
		reauth: reauth{at: e.at(h.ReauthAt), until: e.at(h.ReauthUntil), tries: h.ReauthTries},
	}
	if err := sa.takeKeys(h); err != nil {
		return nil, err
	}
	if err := e.takeVirtual(sa, &h.Virtual); err != nil {
		return nil, err
	}
	sa.in = inWindow{next: h.NextIn, last: h.Last, first: h.First, response: h.Response, open: sa.open, init: h.Init}
	sa.out.next = h.NextOut
	e.sas[sa.ourSPI()] = sa
	if h.Init != (initHash{}) {
		e.inits[h.Init] = sa
	}
	e.bind(sa, c)
	e.setPair(sa, idPair{sa.localID, sa.remoteID})
	e.takeTimer(&sa.timers[timerIKERekey], sa, timerIKERekey, h.Rekey)
	e.takeTimer(&sa.timers[timerIKEExpire], sa, timerIKEExpire, h.Expire)
	e.takeTimer(&sa.timers[timerReauth], sa, timerReauth, h.Reauth)
	e.takeTimer(&sa.timers[timerDPD], sa, timerDPD, h.Alive)
	e.takeTimer(&sa.timers[timerGather], sa, timerGather, h.Gather)
	if sa.natLocal && e.cfg.Timing.KeepAlive > 0 {
		e.setSATimer(sa, timerKeepalive, e.now.Add(e.cfg.Timing.KeepAlive))
	}
	if len(sa.virtual.local) > 0 {
		e.do(VirtualAddrs{IKEID: sa.id, Local: sa.local.Addr(), Addrs: sa.virtual.local})
	}
	var list []*ChildSA
	for i := range h.Children {
		list = append(list, e.takeChild(sa, &h.Children[i]))
	}
	return list, nil
}

// takeKeys goes on with the keys, and with the IVs behind those that were used: with an AEAD none may come twice.
func (sa *ikeSA) takeKeys(h *handedSA) error {
	sa.proposal, sa.suite = h.Proposal, h.Proposal.Suite()
	var err error
	if sa.prf, err = suite.NewPRF(sa.suite.PRF.ID); err != nil {
		return err
	}
	k := make([]suite.Key, len(h.Keys))
	for i, b := range h.Keys {
		k[i] = suite.NewKey(b)
	}
	if err := sa.useKeys(sa.suite, suite.Keys{SKd: k[0], SKai: k[1], SKar: k[2], SKei: k[3], SKer: k[4]}); err != nil {
		return err
	}
	suite.SkipIVs(sa.seal, h.IVs)
	return nil
}

func (e *Engine) takeTimer(t *timer, owner timed, kind timerKind, at moment) {
	if at.Set {
		e.timers.set(t, owner, kind, e.at(at))
	}
}

func (e *Engine) takeChild(sa *ikeSA, h *handedChild) *ChildSA {
	w := sa.conn.want(h.Child)
	info := h.Info
	info.Config, info.AcquireSeq = w.cfg, 0
	info.fixedMarks()
	c := &childSA{
		info: &info, sa: sa, want: w, state: ChildInstalled, proposal: h.Proposal, nonceMin: h.NonceMin,
		announced: true, sends: true, installed: e.at(h.Installed), lastIn: h.LastIn, lastOut: h.LastOut, lastUse: e.at(h.LastUse),
	}
	e.children[info.ID] = c
	e.childSPI[info.SPIIn] = c
	e.outSPI[c.outKey()] = c
	sa.children = append(sa.children, c)
	w.children = append(w.children, c)
	e.takeTimer(&c.timers[timerChildRekey], c, timerChildRekey, h.Rekey)
	e.takeTimer(&c.timers[timerChildExpire], c, timerChildExpire, h.Expire)
	e.takeTimer(&c.timers[timerInactive], c, timerInactive, h.Inactive)
	e.upDown(c, true)
	return c.info
}
