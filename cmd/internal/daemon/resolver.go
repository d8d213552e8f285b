package daemon

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

const (
	resolveTimeout = 10 * time.Second // for the name servers
	maxKnownAddrs  = 4096             // that names have led to
)

// resolver looks up host names for the engine, each on a goroutine of its own: there is one at most for each connection.
type resolver struct {
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	emit   func(ike.Event)
	learnt func() // addresses has changed

	mu    sync.Mutex
	known []netip.Addr
}

func newResolver(emit func(ike.Event), learnt func()) *resolver {
	return &resolver{lookup: net.DefaultResolver.LookupNetIP, emit: emit, learnt: learnt}
}

// addresses lists what was ever found, since tunnels may still lead there.
func (r *resolver) addresses() []netip.Addr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.known)
}

// learn keeps new addresses; learnt is called before the engine hears of them.
func (r *resolver) learn(addrs []netip.Addr) {
	r.mu.Lock()
	before := len(r.known)
	for _, a := range addrs {
		if !slices.Contains(r.known, a) && len(r.known) < maxKnownAddrs {
			r.known = append(r.known, a)
		}
	}
	changed := len(r.known) != before
	r.mu.Unlock()
	if changed {
		r.learnt()
	}
}

// start looks the names up, with ctx as the life of the daemon.
func (r *resolver) start(ctx context.Context, a ike.Resolve) {
	go func() {
		ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
		defer cancel()
		found := ike.Resolved{Connection: a.Connection, Addrs: map[string][]netip.Addr{}}
		for _, name := range a.Names {
			addrs, err := r.lookup(ctx, "ip", name)
			if err != nil {
				found.Err = err
				continue
			}
			for _, addr := range addrs {
				found.Addrs[name] = append(found.Addrs[name], addr.Unmap())
			}
			r.learn(found.Addrs[name])
		}
		r.emit(found)
	}()
}
