package srcroute

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// Tunnel is an outbound policy: traffic from one of our networks to a remote one
// goes to the peer.
type Tunnel struct {
	Local, Remote netip.Prefix
	From, Peer    netip.Addr // the outer addresses, ours and the peer's
}

// Route is an entry of the table. A throw route has only a destination: packets
// that match it are looked up in the next table.
type Route struct {
	Dst     netip.Prefix
	Src     netip.Addr // of our packets
	Gateway netip.Addr
	Link    int // index
	Throw   bool
}

// Nexthop is the way to a peer.
type Nexthop struct {
	Gateway netip.Addr // invalid: the peer is on the link
	Link    int
}

// Kernel is the kernel's routing in one network namespace.
type Kernel interface {
	// Addresses lists the host's own addresses, but for loopback and link-local ones.
	Addresses() ([]netip.Addr, error)
	// Nexthop asks which way packets to an address would go.
	Nexthop(netip.Addr) (Nexthop, error)
	// Routes lists the table.
	Routes() ([]Route, error)
	// Set adds a route, or replaces the one to the same destination.
	Set(Route) error
	// Delete removes the route to a destination; one that is gone is no error.
	Delete(Route) error
	// SetRules adds the rules that consult the table, for both address families, or
	// removes them.
	SetRules(on bool) error
}

// Manager keeps the table equal to what the tunnels need. It belongs to one goroutine.
type Manager struct {
	kernel  Kernel
	tunnels map[Tunnel][]Route
	have    map[netip.Prefix]Route
}

// New makes a Manager. It touches nothing yet.
func New(k Kernel) *Manager {
	return &Manager{kernel: k, tunnels: map[Tunnel][]Route{}}
}

// Set makes the tunnels those given. A tunnel that was there before keeps its
// routes; only Refresh asks again which they are.
func (m *Manager) Set(tunnels []Tunnel) error {
	var errs []error
	if m.have == nil {
		errs = append(errs, m.take())
	}
	next := make(map[Tunnel][]Route, len(tunnels))
	var addrs []netip.Addr
	for _, t := range tunnels {
		routes, known := m.tunnels[t]
		if !known {
			var err error
			if addrs == nil {
				addrs, err = m.kernel.Addresses()
			}
			if err == nil {
				routes, err = m.routes(t, addrs)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("source route to %v: %w", t.Remote, err))
			}
		}
		next[t] = routes
	}
	m.tunnels = next
	return errors.Join(append(errs, m.apply())...)
}

// Refresh asks anew which routes the tunnels need, and puts back what somebody took
// out of the table: addresses and ways come and go.
func (m *Manager) Refresh() error {
	var tunnels []Tunnel
	for t := range m.tunnels {
		tunnels = append(tunnels, t)
	}
	m.tunnels, m.have = map[Tunnel][]Route{}, nil
	return m.Set(tunnels)
}

// Clear removes the routes and the rules.
func (m *Manager) Clear() error {
	err := m.Set(nil)
	m.have = nil
	return errors.Join(err, m.kernel.SetRules(false))
}

// take makes the rules and reads the table: an earlier run may have left routes.
func (m *Manager) take() error {
	m.have = map[netip.Prefix]Route{}
	if err := m.kernel.SetRules(true); err != nil {
		return err
	}
	list, err := m.kernel.Routes()
	for _, r := range list {
		m.have[r.Dst] = r
	}
	return err
}

// routes returns what a tunnel needs: nothing if we have no address in its local
// network, or no way to the peer. Where the peer is inside of the remote network,
// the way to it stays that of the main table.
func (m *Manager) routes(t Tunnel, addrs []netip.Addr) ([]Route, error) {
	src := t.From
	if !t.Local.Contains(src) {
		i := slices.IndexFunc(addrs, t.Local.Contains)
		if i < 0 {
			return nil, nil
		}
		src = addrs[i]
	}
	hop, err := m.kernel.Nexthop(t.Peer)
	if err != nil {
		return nil, err
	}
	gateway := hop.Gateway
	if !gateway.IsValid() {
		gateway = t.Peer
	}
	r := Route{Dst: t.Remote.Masked(), Src: src, Link: hop.Link}
	if gateway.Is4() == src.Is4() { // else the tunnel carries the other family
		r.Gateway = gateway
	}
	routes := []Route{r}
	if t.Remote.Contains(t.Peer) {
		routes = append(routes, Route{Dst: netip.PrefixFrom(t.Peer, t.Peer.BitLen()), Throw: true})
	}
	return routes, nil
}

// apply makes the table what the tunnels need. Throw routes come first: no moment
// without the way to a peer.
func (m *Manager) apply() error {
	want := map[netip.Prefix]Route{}
	for _, routes := range m.tunnels {
		for _, r := range routes {
			if old, ok := want[r.Dst]; !ok || less(r, old) {
				want[r.Dst] = r
			}
		}
	}
	var errs []error
	for _, throw := range []bool{true, false} {
		for dst, r := range want {
			if have, ok := m.have[dst]; r.Throw == throw && (!ok || have != r) {
				if err := m.kernel.Set(r); err != nil {
					errs = append(errs, err)
					continue
				}
				m.have[dst] = r
			}
		}
	}
	for _, throw := range []bool{false, true} {
		for dst, r := range m.have {
			if _, wanted := want[dst]; r.Throw == throw && !wanted {
				errs = append(errs, m.kernel.Delete(r))
				delete(m.have, dst)
			}
		}
	}
	return errors.Join(errs...)
}

// less decides between two routes to one destination, always in the same way: the
// way to a peer comes first.
func less(a, b Route) bool {
	if a.Throw != b.Throw {
		return a.Throw
	}
	if c := a.Src.Compare(b.Src); c != 0 {
		return c < 0
	}
	return a.Gateway.Less(b.Gateway)
}
