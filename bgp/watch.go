package bgp

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	api "github.com/osrg/gobgp/v3/api"
)

// watch turns GoBGP's events into the mailbox's. All kinds share one watcher,
// so that they arrive in the order in which they happened.
func (s *Server) watch(ctx context.Context) error {
	err := s.gobgp.WatchEvent(ctx, &api.WatchEventRequest{
		Peer: &api.WatchEventRequest_Peer{},
		Table: &api.WatchEventRequest_Table{Filters: []*api.WatchEventRequest_Table_Filter{
			{Type: api.WatchEventRequest_Table_Filter_BEST},
			{Type: api.WatchEventRequest_Table_Filter_EOR},
		}},
		// No BatchSize: it could split the set of one prefix.
	}, s.event)
	if err != nil {
		return fmt.Errorf("bgp: watch: %w", err)
	}
	return nil
}

// event is called by one goroutine of GoBGP's.
func (s *Server) event(r *api.WatchEventResponse) {
	if p := r.GetPeer(); p != nil {
		s.peerEvent(p)
	}
	if t := r.GetTable(); t != nil {
		s.tableEvent(t.GetPaths())
	}
}

// tableEvent gets whole sets: the paths of one prefix follow each other. An
// End-of-RIB is a path without a prefix.
func (s *Server) tableEvent(paths []*api.Path) {
	for len(paths) > 0 {
		if paths[0].GetNlri() == nil {
			s.endOfRIB(paths[0])
			paths = paths[1:]
			continue
		}
		n := 1
		for n < len(paths) && samePrefix(paths[0], paths[n]) {
			n++
		}
		if prefix, ok := prefixOf(paths[0]); ok {
			s.mailbox.update(Update{Prefix: prefix, Paths: s.paths(paths[:n])})
		}
		paths = paths[n:]
	}
}

// paths decodes one prefix's set. Our own paths are not from any neighbour and
// drop out: a network of ours is never routed to someone else.
func (s *Server) paths(list []*api.Path) []Path {
	var out []Path
	for _, p := range list {
		if p.GetIsWithdraw() {
			continue
		}
		name, ok := s.neighborName(p.GetNeighborIp())
		if !ok {
			continue
		}
		if path, ok := pathOf(p); ok {
			path.Neighbor = name
			out = append(out, path)
		}
	}
	sortPaths(out)
	if limit := int(s.maxPaths.Load()); limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}

func (s *Server) endOfRIB(p *api.Path) {
	name, ok := s.neighborName(p.GetNeighborIp())
	if !ok {
		return
	}
	family := IPv4
	if p.GetFamily().GetAfi() == api.Family_AFI_IP6 {
		family = IPv6
	}
	s.withPeer(p.GetNeighborIp(), func(p *peer) { p.eor = true })
	s.mailbox.endOfRIB(EndOfRIB{Neighbor: name, Family: family})
}

func (s *Server) peerEvent(e *api.WatchEventResponse_PeerEvent) {
	if e.GetType() != api.WatchEventResponse_PeerEvent_STATE {
		return
	}
	state := e.GetPeer().GetState()
	up := state.GetSessionState() == api.PeerState_ESTABLISHED
	now := time.Now()
	var news *Session
	var attrs []any
	s.withPeer(state.GetNeighborAddress(), func(p *peer) {
		if up == p.up {
			return
		}
		lasted := now.Sub(p.since).Round(time.Second)
		if up {
			p.sessionUp(now)
		} else {
			p.sessionDown(now)
			attrs = []any{"lasted", lasted}
		}
		news = &Session{Neighbor: p.neighbor.Name, Up: up, Reason: p.reason}
		attrs = append(attrs, "address", p.neighbor.Address, "as", p.neighbor.AS)
	})
	if news != nil {
		s.report(*news, attrs...)
	}
}

// report tells the log and the mailbox. It is called without locks: a log may block.
func (s *Server) report(n Session, attrs ...any) {
	attrs = append([]any{"neighbor", n.Neighbor}, attrs...)
	if n.Up {
		s.log.Info("bgp session up", attrs...)
	} else {
		s.log.Warn("bgp session down: "+n.Reason, attrs...)
	}
	s.mailbox.session(n)
}

// setReason is called by the log adapter.
func (s *Server) setReason(address, reason string) {
	s.withPeer(address, func(p *peer) { p.reason = reason })
}

func (s *Server) neighborName(address string) (name string, ok bool) {
	s.withPeer(address, func(p *peer) { name, ok = p.neighbor.Name, true })
	return name, ok
}

// withPeer runs f for the neighbour at address, if there is one.
func (s *Server) withPeer(address string, f func(*peer)) {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return // "<nil>": a path of our own
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.peers[key(a)]; p != nil {
		f(p)
	}
}
