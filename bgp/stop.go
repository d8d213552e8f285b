package bgp

import (
	"context"
	"fmt"
	"time"

	api "github.com/osrg/gobgp/v3/api"
	gobgp "github.com/osrg/gobgp/v3/pkg/server"
)

// stop ends all sessions of a GoBGP server with a Cease, then the server.
//
// StopBgp alone would clear the configuration that the sessions' goroutines
// still read. So the sessions are shut down and awaited first, as long as ctx
// allows.
func stop(ctx context.Context, s *gobgp.BgpServer) error {
	if err := s.DisablePeer(ctx, &api.DisablePeerRequest{}); err != nil {
		return nil // it never started: there is nothing to end
	}
	poll := time.NewTicker(stopPoll)
	defer poll.Stop()
	for {
		busy, err := running(ctx, s)
		if err != nil {
			return err
		}
		if busy == 0 {
			break
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("bgp: %d sessions did not end in time", busy)
		}
	}
	if err := s.StopBgp(ctx, &api.StopBgpRequest{}); err != nil {
		return fmt.Errorf("bgp: stop: %w", err)
	}
	return nil
}

// running counts the neighbours whose state machine has not come to rest.
func running(ctx context.Context, s *gobgp.BgpServer) (n int, err error) {
	err = s.ListPeer(ctx, &api.ListPeerRequest{}, func(p *api.Peer) {
		st := p.GetState()
		if st.GetAdminState() != api.PeerState_DOWN || st.GetSessionState() != api.PeerState_IDLE {
			n++
		}
	})
	if err != nil {
		return 0, fmt.Errorf("bgp: list the sessions: %w", err)
	}
	return n, nil
}
