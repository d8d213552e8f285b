package ike

import (
	"maps"
	"net/netip"
	"time"
)

// Snapshot returns the present state.
func (e *Engine) Snapshot(now time.Time) *Snapshot {
	s := &Snapshot{Taken: now, Counters: e.counters}
	s.Counters.Messages = maps.Clone(e.counters.Messages)
	s.Counters.Invalid = maps.Clone(e.counters.Invalid)
	s.Counters.Negotiations = maps.Clone(e.counters.Negotiations)
	s.Counters.Rekeys = maps.Clone(e.counters.Rekeys)
	s.Counters.HalfOpen = e.halfOpen.total
	s.Counters.Connections = e.connectionCounters()
	for _, sa := range e.sorted() {
		if sa.conn != nil { // else half open, and counted as such
			s.IKESAs = append(s.IKESAs, sa.describe())
		}
	}
	for _, c := range e.connections {
		s.Connections = append(s.Connections, c.describe())
	}
	s.Pools = e.poolInfos()
	return s
}

func (sa *ikeSA) describe() IKESAInfo {
	i := sa.describeAlone()
	for _, c := range sa.children {
		i.Children = append(i.Children, ChildInfo{
			SA: c.info, State: c.state, Proposal: c.proposal, Installed: c.installed,
			RekeyAt: c.timers[timerChildRekey].pending(), ExpireAt: c.timers[timerChildExpire].pending(),
		})
	}
	return i
}

// describeAlone describes an IKE SA without its CHILD_SAs.
func (sa *ikeSA) describeAlone() IKESAInfo {
	i := IKESAInfo{
		ID: sa.id, Connection: sa.conn.cfg.Name, State: sa.info(), Initiator: sa.initiator,
		SPIi: uint64(sa.spiI), SPIr: uint64(sa.spiR), Local: sa.local, Remote: sa.remote,
		LocalID: sa.localID, RemoteID: sa.remoteID, NATLocal: sa.natLocal, NATRemote: sa.natRemote,
		NATFaked: sa.forceEncap && !sa.natLocal && !sa.natRemote && !sa.proposal.Suite().Encr.IsNone(),
		Proposal: sa.proposal, PPK: sa.ppk, IfIDIn: sa.ifIDIn, IfIDOut: sa.ifIDOut,
		LocalVIPs: sa.virtual.local, RemoteVIPs: sa.virtual.remote(), DNS: sa.virtual.dns,
		Established: sa.established, LastInbound: sa.lastInbound,
		RekeyAt: sa.timers[timerIKERekey].pending(), ReauthAt: sa.timers[timerReauth].pending(), ExpireAt: sa.timers[timerIKEExpire].pending(),
	}
	if sa.active != nil {
		i.TasksActive = append(i.TasksActive, sa.active.name())
	}
	for _, t := range sa.queue {
		i.TasksQueued = append(i.TasksQueued, t.name())
	}
	return i
}

// upDown has the script of a child run, if it has one.
func (e *Engine) upDown(c *childSA, up bool) {
	if c.info.Config.Updown != "" && !c.info.CPU.Bound { // what it does is done for all CPUs
		e.do(UpDown{Up: up, Child: c.info, SA: c.sa.describeAlone()})
	}
}

func (c *connection) describe() ConnectionInfo {
	i := ConnectionInfo{Config: c.cfg, LastError: c.lastError, ErrorAt: c.errorAt, Tries: c.tries, NextTry: c.nextTry()}
	for _, p := range c.peers {
		i.Tries, i.NextTry = max(i.Tries, p.tries), earlier(i.NextTry, p.nextTry())
	}
	return i
}

// nextTry returns when the connection, or a child of it, is tried next; zero: not at all.
func (c *connection) nextTry() time.Time {
	next := c.retry.pending()
	for _, w := range c.wants {
		next = earlier(next, w.retry.pending())
	}
	return next
}

// earlier returns the earlier of two times; a zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// normal returns p with IPv4 addresses as such, not mapped into IPv6.
func (p Packet) normal() Packet {
	p.Local = netip.AddrPortFrom(p.Local.Addr().Unmap(), p.Local.Port())
	p.Remote = netip.AddrPortFrom(p.Remote.Addr().Unmap(), p.Remote.Port())
	return p
}
