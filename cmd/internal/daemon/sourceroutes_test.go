package daemon

import (
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/routing/lookup"
	"github.com/ipsecd/ipsecd/routing/srcroute"
)

// routeTable is a routing table on a host with the address 10.1.0.1, and others.
type routeTable struct {
	others []netip.Addr
	number int
	rules  bool
	routes map[netip.Prefix]srcroute.Route
}

func (k *routeTable) Addresses() ([]netip.Addr, error) {
	return append([]netip.Addr{netip.MustParseAddr("10.1.0.1")}, k.others...), nil
}
func (*routeTable) Nexthop(netip.Addr) (srcroute.Nexthop, error) {
	return srcroute.Nexthop{Link: 2}, nil
}
func (*routeTable) Routes() ([]srcroute.Route, error) { return nil, nil }
func (k *routeTable) SetRules(on bool) error          { k.rules = on; return nil }
func (k *routeTable) Set(r srcroute.Route) error      { k.routes[r.Dst] = r; return nil }
func (k *routeTable) Delete(r srcroute.Route) error   { delete(k.routes, r.Dst); return nil }

var wantRoutes = config.SourceRoutes{Install: true, Table: 220, Priority: 220}

// newRoutedRig has source routes, in a table of the test's.
func newRoutedRig(t *testing.T) (*rig, *routeTable) {
	t.Helper()
	r := newRig(t)
	table := &routeTable{routes: map[netip.Prefix]srcroute.Route{}}
	r.routes.open = func(number, _ int, _ lookup.Filter) srcroute.Kernel { table.number = number; return table }
	if err := r.routes.configure(wantRoutes, lookup.Filter{}); err != nil {
		t.Fatal(err)
	}
	return r, table
}

// policyBased is a CHILD_SA without an interface.
func policyBased(id uint32) *ike.ChildSA {
	sa := testChild(id)
	cfg := *testChildConfig
	cfg.IfIDIn, cfg.IfIDOut = 0, 0
	sa.Config, sa.IfIDIn, sa.IfIDOut = &cfg, 0, 0
	return sa
}

// A policy-based tunnel has a source route while it is installed, one with an
// interface or for marked packets has none, and charon.install_routes = no is obeyed at a reload.
func TestSourceRoutes(t *testing.T) {
	r, table := newRoutedRig(t)
	bound := testChild(1)
	r.mustInstall(t, bound, false)
	if len(table.routes) > 0 {
		t.Errorf("a tunnel with an interface has %v", table.routes)
	}
	marked := testChild(3)
	markedCfg := *testChildConfig
	markedCfg.IfIDIn, markedCfg.IfIDOut = 0, 0
	marked.Config, marked.IfIDIn, marked.IfIDOut, marked.MarkOut = &markedCfg, 0, 0, ike.Mark{Value: 9, Mask: 0xffffffff}
	r.mustInstall(t, marked, false)
	if len(table.routes) > 0 {
		t.Errorf("a tunnel for marked packets has %v", table.routes)
	}
	plain := policyBased(2)
	plain.LocalTS, plain.RemoteTS = subnet("10.1.0.0", "10.1.255.255"), subnet("10.2.0.0", "10.2.255.255")
	r.mustInstall(t, plain, false)
	got := table.routes[netip.MustParsePrefix("10.2.0.0/16")]
	if !table.rules || table.number != 220 || got.Src != netip.MustParseAddr("10.1.0.1") || got.Gateway != plain.Remote || got.Link != 2 {
		t.Errorf("table %d, rules %v: %+v", table.number, table.rules, got)
	}
	r.perform(ike.RemoveChild{ChildID: 2})
	if len(table.routes) > 0 {
		t.Errorf("after the tunnel: %v", table.routes)
	}
	conf := wantRoutes
	conf.Install = false
	if err := r.routes.configure(conf, lookup.Filter{}); err != nil || table.rules {
		t.Errorf("install_routes = no: %v, rules %v", err, table.rules)
	}
	r.mustInstall(t, plain, false)
	if len(table.routes) > 0 {
		t.Errorf("install_routes = no: %v", table.routes)
	}
}

// Policies that were there before the virtual address, as those that a killed process has left, get their routes with it.
func TestVirtualAddressBringsSourceRoutes(t *testing.T) {
	r, table := newRoutedRig(t)
	vip := netip.MustParseAddr("10.3.0.1")
	sa := policyBased(1)
	sa.LocalTS, sa.RemoteTS = subnet("10.3.0.1", "10.3.0.1"), subnet("10.2.0.0", "10.2.255.255")
	r.mustInstall(t, sa, false)
	if len(table.routes) > 0 {
		t.Errorf("routes from an address that is not there: %v", table.routes)
	}
	table.others = []netip.Addr{vip}
	r.perform(ike.VirtualAddrs{IKEID: 1, Local: sa.Local, Addrs: table.others})
	if got := table.routes[netip.MustParsePrefix("10.2.0.0/16")]; got.Src != vip {
		t.Errorf("route %+v, expected one from %v", got, vip)
	}
}

// A stop takes routes and rules out, and what the kernel tells afterwards does not bring
// them back.
func TestStopEndsSourceRoutes(t *testing.T) {
	r, table := newRoutedRig(t)
	plain := policyBased(1)
	plain.LocalTS, plain.RemoteTS = subnet("10.1.0.0", "10.1.255.255"), subnet("10.2.0.0", "10.2.255.255")
	r.mustInstall(t, plain, false)
	if !table.rules || len(table.routes) != 1 {
		t.Fatalf("rules %v, routes %v", table.rules, table.routes)
	}
	if err := r.clear(); err != nil {
		t.Fatal(err)
	}
	r.auditRoutes()
	r.followPolicies()
	if table.rules || len(table.routes) > 0 {
		t.Errorf("after the stop: rules %v, routes %v", table.rules, table.routes)
	}
}

func subnet(first, last string) []ike.TrafficSelector {
	return []ike.TrafficSelector{{Start: netip.MustParseAddr(first), End: netip.MustParseAddr(last), EndPort: 0xffff}}
}
