package bgp

import (
	"context"
	"net/netip"

	api "github.com/osrg/gobgp/v3/api"
)

// Peers returns the status of every neighbour in the order of the configuration.
func (s *Server) Peers() []PeerStatus {
	details := make(map[netip.Addr]*api.Peer)
	// GoBGP's answer has no error but that of a nil request.
	_ = s.gobgp.ListPeer(context.Background(), &api.ListPeerRequest{}, func(p *api.Peer) {
		if a, err := netip.ParseAddr(p.GetConf().GetNeighborAddress()); err == nil {
			details[key(a)] = p
		}
	})

	s.reconfigure.Lock()
	neighbors, networks := s.cfg.Neighbors, s.cfg.Networks
	s.reconfigure.Unlock()

	out := make([]PeerStatus, 0, len(neighbors))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range neighbors {
		n := &neighbors[i]
		p := s.peers[key(n.Address)]
		if p == nil {
			continue // being removed
		}
		st := p.status()
		if d := details[key(n.Address)]; d != nil {
			st.detail(d)
		}
		if st.State == StateEstablished {
			for _, net := range networks {
				if familyOf(net.Addr()) == n.family() {
					st.PrefixesAdvertised++
				}
			}
		}
		out = append(out, st)
	}
	return out
}

func (st *PeerStatus) detail(p *api.Peer) {
	state := p.GetState()
	st.State = stateName(state.GetSessionState())
	st.MessagesIn = state.GetMessages().GetReceived().GetTotal()
	st.MessagesOut = state.GetMessages().GetSent().GetTotal()
	st.Restarting = p.GetGracefulRestart().GetPeerRestarting() && st.State != StateEstablished
	for _, a := range p.GetAfiSafis() {
		st.PrefixesReceived += a.GetState().GetReceived()
	}
	if state.GetAdminState() == api.PeerState_PFX_CT {
		st.LastError = "the neighbour sent more prefixes than import_max allows; the session stays down until it is reset or the limit is raised"
	}
}

func stateName(s api.PeerState_SessionState) string {
	switch s {
	case api.PeerState_CONNECT:
		return StateConnect
	case api.PeerState_ACTIVE:
		return StateActive
	case api.PeerState_OPENSENT:
		return StateOpenSent
	case api.PeerState_OPENCONFIRM:
		return StateOpenConfirm
	case api.PeerState_ESTABLISHED:
		return StateEstablished
	}
	return StateIdle
}
