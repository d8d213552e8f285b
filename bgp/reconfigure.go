package bgp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	api "github.com/osrg/gobgp/v3/api"
)

// Reconfigure makes the speaker what cfg describes, and touches no session
// whose Neighbor is unchanged; other filters alone leave a session up too. AS,
// RouterID and the listening address cannot change: that is ErrNeedsRestart,
// and nothing is changed.
func (s *Server) Reconfigure(ctx context.Context, cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	s.reconfigure.Lock()
	defer s.reconfigure.Unlock()
	old := s.cfg
	if !sameSpeaker(&old, &cfg) {
		return ErrNeedsRestart
	}
	d := diff(old.Neighbors, cfg.Neighbors)

	// Removals come first: an address may move from one neighbour to another.
	var errs []error
	for i := range d.remove {
		errs = append(errs, s.deletePeer(ctx, &d.remove[i]))
	}
	if len(d.remove)+len(d.add)+len(d.filter) > 0 {
		errs = append(errs, s.importPolicy(ctx, cfg.Neighbors))
	}
	for i := range d.filter {
		errs = append(errs, s.refilter(ctx, &d.filter[i]))
	}
	for i := range d.add {
		errs = append(errs, s.addPeer(ctx, &d.add[i], false))
	}
	for _, p := range old.Networks {
		if !slices.Contains(cfg.Networks, p) {
			errs = append(errs, s.withdraw(ctx, p))
		}
	}
	for _, p := range cfg.Networks {
		if !slices.Contains(old.Networks, p) {
			errs = append(errs, s.announce(ctx, p))
		}
	}
	s.cfg = cfg
	s.maxPaths.Store(int64(cfg.MaxPaths))
	return errors.Join(errs...)
}

// refilter evaluates the import policy again for what the neighbour has sent.
func (s *Server) refilter(ctx context.Context, n *Neighbor) error {
	s.mu.Lock()
	p := s.peers[key(n.Address)]
	if p != nil {
		p.neighbor = *n
		p.refused, p.hidden = nil, 0
	}
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	p.stopWatch()
	if err := s.watchRefused(p); err != nil {
		return err
	}
	err := s.gobgp.ResetPeer(ctx, &api.ResetPeerRequest{
		Address: n.Address.String(), Soft: true, Direction: api.ResetPeerRequest_IN,
	})
	if err != nil {
		return fmt.Errorf("bgp: neighbour %s: filter again: %w", n.Name, err)
	}
	return nil
}

func sameSpeaker(a, b *Config) bool {
	return a.AS == b.AS && a.RouterID == b.RouterID && a.ListenPort == b.ListenPort &&
		slices.Equal(a.ListenAddresses, b.ListenAddresses)
}

// neighborDiff says what is to be done to get from one list of neighbours to
// another. A neighbour that changed is in remove and in add.
type neighborDiff struct {
	remove, add []Neighbor
	filter      []Neighbor // only Import or Refuse changed
}

func diff(old, want []Neighbor) (d neighborDiff) {
	for _, o := range old {
		i := slices.IndexFunc(want, func(w Neighbor) bool { return sameSession(o, w) })
		switch {
		case i < 0:
			d.remove = append(d.remove, o)
		case !sameFilters(o, want[i]):
			d.filter = append(d.filter, want[i])
		}
	}
	for _, w := range want {
		if !slices.ContainsFunc(old, func(o Neighbor) bool { return sameSession(o, w) }) {
			d.add = append(d.add, w)
		}
	}
	return d
}

// sameSession compares everything but the filters.
func sameSession(a, b Neighbor) bool {
	a.Import, a.Refuse, b.Import, b.Refuse = nil, nil, nil, nil
	return reflect.DeepEqual(a, b)
}

func sameFilters(a, b Neighbor) bool {
	return slices.Equal(a.Import, b.Import) && slices.Equal(a.Refuse, b.Refuse)
}

// key is how GoBGP names a neighbour in its paths.
func key(a netip.Addr) netip.Addr { return a.WithZone("").Unmap() }
