package routing

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// Defaults of Config.
const (
	DefaultTable       = 254 // main
	DefaultMetric      = 20  // what other BGP routers use
	DefaultGuardMetric = 1_000_000
)

// Config of a Manager. The zero value means the defaults.
type Config struct {
	Table       uint32
	Metric      uint32
	GuardMetric uint32

	// PlainRoutes writes legs into each route even if the kernel has
	// nexthop objects.
	PlainRoutes bool
}

// Manager keeps the kernel's routes as desired. It is not safe for concurrent
// use.
type Manager struct {
	kernel  Kernel
	cfg     Config
	objects bool // the kernel has nexthop objects, and they are used

	// Desired state.
	routes map[RouteID]*route // guards too
	sets   map[string]*set
	legs   map[Nexthop]*leg
	held   map[Nexthop]bool
	policy policy

	// The kernel as far as it is known.
	links   map[string]Link
	kern    *mirror
	owned   map[uint32]bool   // IDs given to legs and sets
	orphans map[string]uint32 // objects of ours without owner, by content
	stale   map[RouteID]bool  // found by Start and not taken over
	started bool
	swept   bool

	nextLeg, nextGroup uint32

	// Routes to compare with the kernel: pending since Set or Withdraw,
	// and repair since the kernel or a leg changed.
	pending map[RouteID]bool
	repair  map[RouteID]bool
}

// route is a desired route or guard.
type route struct {
	legs  []Leg // as given to Set, sorted
	set   *set  // of the legs that the policy admits; nil for a guard or if there is none
	guard RouteKind

	refused error // by the policy, some legs or all
	err     error // from the kernel, or a foreign route
}

var errNotStarted = errors.New("routing: Manager.Start must come first")

// New returns a Manager that uses k. It probes the kernel's abilities and
// reads the links, but changes nothing.
func New(k Kernel, cfg Config) (*Manager, error) {
	cfg.Table = defaultTo(cfg.Table, DefaultTable)
	cfg.Metric = defaultTo(cfg.Metric, DefaultMetric)
	cfg.GuardMetric = defaultTo(cfg.GuardMetric, DefaultGuardMetric)
	if cfg.Metric >= cfg.GuardMetric {
		return nil, fmt.Errorf("routing: metric %d must be below the guard metric %d", cfg.Metric, cfg.GuardMetric)
	}
	features, err := k.Features()
	if err != nil {
		return nil, fmt.Errorf("routing: probe the kernel: %w", err)
	}
	m := &Manager{
		kernel:    k,
		cfg:       cfg,
		objects:   features.NexthopObjects && !cfg.PlainRoutes,
		routes:    map[RouteID]*route{},
		sets:      map[string]*set{},
		legs:      map[Nexthop]*leg{},
		held:      map[Nexthop]bool{},
		kern:      newMirror(),
		owned:     map[uint32]bool{},
		orphans:   map[string]uint32{},
		stale:     map[RouteID]bool{},
		nextLeg:   MinNexthopID + 1,
		nextGroup: MinGroupID + 1,
		pending:   map[RouteID]bool{},
		repair:    map[RouteID]bool{},
	}
	return m, m.readLinks()
}

func defaultTo(v, def uint32) uint32 {
	if v == 0 {
		return def
	}
	return v
}

// Set makes r desired, replacing a route of the same RouteID. It writes
// nothing until Apply. The error is a *RefusedError if the policy leaves r
// without legs (r stays desired and is installed when the policy or the
// underlay permit), or says what is wrong with r, which is then ignored.
func (m *Manager) Set(r Route) error {
	if !m.started {
		return errNotStarted
	}
	id := m.normal(r.RouteID, m.cfg.Metric)
	if err := m.check(id, r.Legs); err != nil {
		return err
	}
	rt := m.routes[id]
	if rt == nil {
		rt = &route{}
		m.routes[id] = rt
	}
	rt.legs, rt.err = sortLegs(r.Legs), nil
	delete(m.stale, id)
	m.admit(id, rt)
	m.pending[id] = true
	if rt.set == nil {
		return rt.refused
	}
	return nil
}

// Withdraw makes the route undesired. It writes nothing until Apply. An
// unknown route is no error.
func (m *Manager) Withdraw(id RouteID) {
	id = m.normal(id, m.cfg.Metric)
	if id.Metric == m.cfg.GuardMetric {
		return // guards belong to the policy
	}
	m.forget(id)
}

func (m *Manager) forget(id RouteID) {
	if rt := m.routes[id]; rt != nil {
		m.release(rt.set)
		delete(m.routes, id)
	}
	delete(m.stale, id)
	m.pending[id] = true
}

// normal fills in the defaults.
func (m *Manager) normal(id RouteID, metric uint32) RouteID {
	id.Prefix = id.Prefix.Masked()
	id.Table = defaultTo(id.Table, m.cfg.Table)
	id.Metric = defaultTo(id.Metric, metric)
	return id
}

func (m *Manager) check(id RouteID, legs []Leg) error {
	switch {
	case !id.Prefix.IsValid():
		return fmt.Errorf("routing: invalid prefix in %s", id)
	case id.Metric >= m.cfg.GuardMetric:
		return fmt.Errorf("routing: route %s: the metric must be below the guard metric %d", id, m.cfg.GuardMetric)
	case len(legs) == 0:
		return fmt.Errorf("routing: route %s has no legs: withdraw it instead", id)
	}
	for i, l := range legs {
		switch {
		case l.Interface == "":
			return fmt.Errorf("routing: route %s: gateway %s has no interface", id, l.Gateway)
		case !l.Gateway.IsValid() || l.Gateway.Is4In6():
			return fmt.Errorf("routing: route %s: leg %s needs a gateway address", id, l.Interface)
		case id.Prefix.Addr().Is6() && l.Gateway.Is4():
			return fmt.Errorf("routing: route %s: an IPv6 route cannot use the IPv4 gateway %s", id, l.Gateway)
		}
		if slices.ContainsFunc(legs[:i], func(o Leg) bool { return o.Nexthop == l.Nexthop }) {
			return fmt.Errorf("routing: route %s names leg %s twice", id, l.Nexthop)
		}
	}
	return nil
}

// LegDown stops using a leg at once, for every route: one message per
// affected group. Routes without another leg are removed. The leg stays down,
// also for routes set later, until LegUp.
func (m *Manager) LegDown(n Nexthop) (Stats, error) {
	n.Gateway = n.Gateway.WithZone("")
	m.held[n] = true
	m.retryObjects()
	return m.reconcile(nil)
}

// LegUp uses the leg again as soon as its link is up, and installs the routes
// that had no other. It also undoes LegDown for a leg that no route names.
func (m *Manager) LegUp(n Nexthop) (Stats, error) {
	n.Gateway = n.Gateway.WithZone("")
	delete(m.held, n)
	m.retryObjects()
	return m.reconcile(nil)
}

// Apply writes the difference between desired and actual state. On error the
// rest has been done; the error is of type Errors. Routes that failed are
// tried again by Resync, or when what was in the way is gone.
func (m *Manager) Apply() (Stats, error) {
	if !m.started {
		return Stats{}, errNotStarted
	}
	return m.reconcile(m.pending)
}

func addrs(in []netip.Addr) []netip.Addr {
	out := make([]netip.Addr, 0, len(in))
	for _, a := range in {
		out = append(out, a.Unmap().WithZone(""))
	}
	return out
}
