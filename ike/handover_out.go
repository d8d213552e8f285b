package ike

import (
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
)

// HandOver returns the IKE SAs that are at rest, for TakeOver, and how many are left out because they are not. From
// then on the engine does nothing: everything that it is told is ignored, until Resume. The data hold keys; the caller
// wipes them. The CHILD_SAs stay in the kernel.
func (e *Engine) HandOver(now time.Time) (data []byte, left int, err error) {
	e.now, e.over = now, true
	s := handedState{Version: handoverVersion, Taken: now, IKE: e.ids.ike, Child: e.ids.child, ReqID: e.ids.reqid, Mark: e.ids.mark, IfID: e.ids.ifID}
	for _, c := range e.connections {
		s.Connections = append(s.Connections, e.handConnection(c))
	}
	for _, p := range e.pools.byName {
		s.Pools = append(s.Pools, p.handOver())
	}
	for _, sa := range e.sorted() {
		switch {
		case sa.atRest():
			s.SAs = append(s.SAs, e.handSA(sa))
		case !sa.attempt():
			left++
		}
	}
	data, err = s.encode()
	for _, sa := range s.SAs {
		for _, k := range sa.Keys {
			clear(k)
		}
	}
	return data, left, err
}

func (e *Engine) handConnection(c *connection) handedConnection {
	h := handedConnection{Name: c.cfg.Name, Peer: c.peer, Source: c.source, Virtual: c.virtual, Stopped: c.stopped, UpSince: e.moment(c.upSince)}
	for _, w := range c.wants {
		h.Children = append(h.Children, handedWant{
			Name: w.cfg.Name, ReqID: w.reqid, Stopped: w.stopped, Asked: w.asked, Up: w.up, Trap: bare(w.trap),
		})
	}
	for _, p := range c.peers {
		h.Peers = append(h.Peers, e.handConnection(p))
	}
	return h
}

// bare returns a copy without the configuration, which the other engine reads anew.
func bare(c *ChildSA) *ChildSA {
	if c == nil {
		return nil
	}
	info := *c
	info.Config = nil
	return &info
}

func (e *Engine) handSA(sa *ikeSA) handedSA {
	timer := func(k timerKind) moment { return e.moment(sa.timers[k].pending()) }
	m := sa.mobike
	h := handedSA{
		ID: sa.id, Connection: sa.conn.cfg.Name, Peer: sa.conn.peer, Initiator: sa.initiator, SPIi: sa.spiI, SPIr: sa.spiR,
		Local: sa.local, Remote: sa.remote, NATT: sa.natt, NATLocal: sa.natLocal, NATRemote: sa.natRemote,
		ForceEncap: sa.forceEncap, PPK: sa.ppk, PeerFragments: sa.peerFragments, PeerChildless: sa.peerChildless, PeerRedirects: sa.peerRedirects,
		Mobike:    handedMobike{On: m.on, Leads: m.leads, NATT: m.natt, Peer: m.peer, Told: m.told, Proven: m.proven, NATSeen: m.natSeen},
		ToldLocal: sa.told.local, ToldRemote: sa.told.remote,
		Virtual: sa.virtual.handOver(), IfIDIn: sa.ifIDIn, IfIDOut: sa.ifIDOut,
		LocalID: sa.localID, RemoteID: sa.remoteID, Proposal: sa.proposal, IVs: suite.IVs(sa.seal), NonceMin: sa.nonceMin,
		NextIn: sa.in.next, NextOut: sa.out.next, Last: sa.in.last, First: sa.in.first, Init: sa.in.init, Response: sa.in.response,
		Confirmed: sa.confirmed, Begun: e.moment(sa.begun), Established: e.moment(sa.established), Proved: e.moment(sa.proved),
		LastInbound: e.moment(sa.lastInbound), LastESP: e.moment(sa.lastESP), Sent: e.moment(sa.lastSent),
		ReauthAt: e.moment(sa.reauth.at), ReauthUntil: e.moment(sa.reauth.until), ReauthTries: sa.reauth.tries,
		Rekey: timer(timerIKERekey), Expire: timer(timerIKEExpire), Reauth: timer(timerReauth), Alive: timer(timerDPD), Gather: timer(timerGather),
	}
	for i, k := range secretsOf(sa.keys) {
		h.Keys[i] = append([]byte(nil), k.Bytes()...)
	}
	for _, c := range sa.children {
		if c.atRest() {
			h.Children = append(h.Children, e.handChild(c))
		}
	}
	return h
}

func (e *Engine) handChild(c *childSA) handedChild {
	timer := func(k timerKind) moment { return e.moment(c.timers[k].pending()) }
	return handedChild{
		Child: c.want.cfg.Name, Info: *bare(c.info), Proposal: c.proposal, NonceMin: c.nonceMin,
		Installed: e.moment(c.installed), LastIn: c.lastIn, LastOut: c.lastOut, LastUse: e.moment(c.lastUse),
		Rekey: timer(timerChildRekey), Expire: timer(timerChildExpire), Inactive: timer(timerInactive),
	}
}
