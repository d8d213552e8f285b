package bgp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	api "github.com/osrg/gobgp/v3/api"
	gobgp "github.com/osrg/gobgp/v3/pkg/server"
)

// Server is a BGP speaker.
type Server struct {
	log     *slog.Logger
	gobgp   *gobgp.BgpServer
	mailbox *mailbox
	ctx     context.Context // of the watchers
	cancel  context.CancelFunc

	maxPaths atomic.Int64

	// reconfigure serialises changes; cfg, policy and generation are its own.
	reconfigure sync.Mutex
	cfg         Config
	policy      *policy
	generation  int

	mu    sync.Mutex
	peers map[netip.Addr]*peer // by address, without zone
}

// New starts a speaker; sessions begin to form at once. The logger gets one
// line for each session that comes up or goes down, and GoBGP's own log at debug level.
func New(cfg Config, log *slog.Logger) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Server{log: log, mailbox: newMailbox(), cfg: cfg, peers: make(map[netip.Addr]*peer)}
	s.gobgp = gobgp.NewBgpServer(gobgp.LoggerOption(&logAdapter{log: log, reason: s.setReason}))
	go s.gobgp.Serve()

	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.maxPaths.Store(int64(cfg.MaxPaths))
	if err := s.start(s.ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	global := apiGlobal(&s.cfg, s.listenAddresses())
	if err := s.gobgp.StartBgp(ctx, &api.StartBgpRequest{Global: global}); err != nil {
		return fmt.Errorf("bgp: start: %w", err)
	}
	if err := s.exportPolicy(ctx); err != nil {
		return err
	}
	if err := s.importPolicy(ctx, s.cfg.Neighbors); err != nil {
		return err
	}
	if err := s.watch(ctx); err != nil {
		return err
	}
	for _, p := range s.cfg.Networks {
		if err := s.announce(ctx, p); err != nil {
			return err
		}
	}
	for i := range s.cfg.Neighbors {
		if err := s.addPeer(ctx, &s.cfg.Neighbors[i], s.cfg.Restarting); err != nil {
			return err
		}
	}
	return nil
}

// listenAddresses are those of the configuration that can be bound now. A
// missing one costs passive sessions only, so it is no error.
func (s *Server) listenAddresses() (out []string) {
	if s.cfg.ListenPort == 0 {
		return nil
	}
	want := slices.Clone(s.cfg.ListenAddresses)
	if len(want) == 0 {
		for _, n := range s.cfg.Neighbors {
			if n.LocalAddress.IsValid() && !slices.Contains(want, n.LocalAddress) {
				want = append(want, n.LocalAddress)
			}
		}
	}
	for _, a := range want {
		l, err := net.Listen("tcp", net.JoinHostPort(a.String(), strconv.Itoa(int(s.cfg.ListenPort))))
		if err != nil {
			s.log.Warn("bgp: cannot listen: neighbours cannot connect to this address, we still connect to them", "error", err)
			continue
		}
		l.Close()
		out = append(out, a.String())
	}
	return out
}

// Ready has a value when Take has something to give.
func (s *Server) Ready() <-chan struct{} { return s.mailbox.ready }

// Take returns what happened since the last Take. A slow caller costs no
// memory beyond one Update for each prefix.
func (s *Server) Take() Batch { return s.mailbox.take() }

// Reset ends the neighbour's session and starts anew, also after a prefix limit.
func (s *Server) Reset(ctx context.Context, name string) error {
	s.reconfigure.Lock()
	defer s.reconfigure.Unlock()
	for i := range s.cfg.Neighbors {
		if n := &s.cfg.Neighbors[i]; n.Name == name {
			if err := s.deletePeer(ctx, n); err != nil {
				return err
			}
			return s.addPeer(ctx, n, false)
		}
	}
	return fmt.Errorf("bgp: no neighbour %q", name)
}

// Stop ends all sessions with a Cease: the neighbours drop our routes. To leave
// for a graceful restart (RFC 4724), exit the process without Stop.
func (s *Server) Stop() {
	defer s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := stop(ctx, s.gobgp); err != nil {
		s.log.Warn(err.Error())
	}
}

func (s *Server) announce(ctx context.Context, p netip.Prefix) error {
	path, err := apiNetwork(p)
	if err != nil {
		return err
	}
	if _, err := s.gobgp.AddPath(ctx, &api.AddPathRequest{TableType: api.TableType_GLOBAL, Path: path}); err != nil {
		return fmt.Errorf("bgp: announce %v: %w", p, err)
	}
	return nil
}

func (s *Server) withdraw(ctx context.Context, p netip.Prefix) error {
	path, err := apiNetwork(p)
	if err != nil {
		return err
	}
	if err := s.gobgp.DeletePath(ctx, &api.DeletePathRequest{TableType: api.TableType_GLOBAL, Path: path}); err != nil {
		return fmt.Errorf("bgp: withdraw %v: %w", p, err)
	}
	return nil
}

func (s *Server) addPeer(ctx context.Context, n *Neighbor, restarting bool) error {
	p := &peer{neighbor: *n}
	s.mu.Lock()
	s.peers[key(n.Address)] = p
	s.mu.Unlock()
	if err := s.watchRefused(p); err != nil {
		return err
	}
	if err := s.gobgp.AddPeer(ctx, &api.AddPeerRequest{Peer: apiPeer(n, restarting)}); err != nil {
		return fmt.Errorf("bgp: neighbour %s: %w", n.Name, err)
	}
	return nil
}

func (s *Server) deletePeer(ctx context.Context, n *Neighbor) error {
	err := s.gobgp.DeletePeer(ctx, &api.DeletePeerRequest{Address: n.Address.String()})
	s.mu.Lock()
	p := s.peers[key(n.Address)]
	delete(s.peers, key(n.Address))
	s.mu.Unlock()
	if p != nil {
		p.stopWatch()
		if p.up {
			s.report(Session{Neighbor: n.Name, Reason: "removed, changed or reset by us"})
		}
	}
	if err != nil {
		return fmt.Errorf("bgp: neighbour %s: %w", n.Name, err)
	}
	return nil
}

// ErrNeedsRestart says that only a new process can make the change.
var ErrNeedsRestart = errors.New("bgp: as, router_id and the listening address change only with a new router process")
