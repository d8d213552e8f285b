package bgp

import (
	"context"
	"fmt"

	api "github.com/osrg/gobgp/v3/api"
)

// watchRefused watches what p's neighbour announces before the import policy,
// to report what its Refuse keeps out. The caller owns p.unwatch.
func (s *Server) watchRefused(p *peer) error {
	n := p.neighbor
	if len(n.Refuse) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(s.ctx)
	p.unwatch = cancel
	err := s.gobgp.WatchEvent(ctx, &api.WatchEventRequest{
		Table: &api.WatchEventRequest_Table{Filters: []*api.WatchEventRequest_Table_Filter{{
			Type: api.WatchEventRequest_Table_Filter_ADJIN, PeerAddress: n.Address.String(), Init: true,
		}}},
	}, func(r *api.WatchEventResponse) {
		for _, path := range r.GetTable().GetPaths() {
			s.noteRefused(p, &n, path)
		}
	})
	if err != nil {
		cancel()
		return fmt.Errorf("bgp: watch neighbour %s: %w", n.Name, err)
	}
	return nil
}

func (s *Server) noteRefused(p *peer, n *Neighbor, path *api.Path) {
	prefix, ok := prefixOf(path)
	if !ok || !Refuses(n.Refuse, prefix) {
		return
	}
	s.mu.Lock()
	first := false
	if path.GetIsWithdraw() {
		delete(p.refused, prefix)
	} else {
		first = p.refuse(prefix)
	}
	s.mu.Unlock()
	if first {
		s.log.Warn("bgp: refused a prefix that may only be reached through a tunnel; more of them are counted in the status",
			"neighbor", n.Name, "prefix", prefix)
	}
}
