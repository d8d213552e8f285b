package srcroute

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// fake is a host with a link to each of its peers' gateways.
type fake struct {
	addrs []netip.Addr
	hops  map[netip.Addr]Nexthop
	table map[netip.Prefix]Route
	rules bool
	log   []string
	fail  string // what a change begins with that fails
}

func newFake(addrs ...string) *fake {
	f := &fake{hops: map[netip.Addr]Nexthop{}, table: map[netip.Prefix]Route{}}
	for _, a := range addrs {
		f.addrs = append(f.addrs, netip.MustParseAddr(a))
	}
	return f
}

func (f *fake) Addresses() ([]netip.Addr, error) { return f.addrs, nil }

func (f *fake) Nexthop(peer netip.Addr) (Nexthop, error) {
	h, ok := f.hops[peer]
	if !ok {
		return h, errors.New("unreachable")
	}
	return h, nil
}

func (f *fake) Routes() ([]Route, error) {
	var out []Route
	for _, r := range f.table {
		out = append(out, r)
	}
	return out, nil
}

func (f *fake) change(what string, r Route) error {
	what += " " + show(r)
	f.log = append(f.log, what)
	if f.fail != "" && strings.HasPrefix(what, f.fail) {
		return errors.New("refused")
	}
	return nil
}

func (f *fake) Set(r Route) error {
	err := f.change("set", r)
	if err == nil {
		f.table[r.Dst] = r
	}
	return err
}

func (f *fake) Delete(r Route) error {
	delete(f.table, r.Dst)
	return f.change("del", r)
}

func (f *fake) SetRules(on bool) error {
	f.rules = on
	return nil
}

// show prints a route as ip-route(8) does.
func show(r Route) string {
	if r.Throw {
		return "throw " + r.Dst.String()
	}
	s := r.Dst.String()
	if r.Gateway.IsValid() {
		s += " via " + r.Gateway.String()
	}
	return s + fmt.Sprintf(" dev %d src %v", r.Link, r.Src)
}

func (f *fake) String() string {
	var lines []string
	for _, r := range f.table {
		lines = append(lines, show(r))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func tunnel(local, remote, from, peer string) Tunnel {
	return Tunnel{netip.MustParsePrefix(local), netip.MustParsePrefix(remote), netip.MustParseAddr(from), netip.MustParseAddr(peer)}
}

func (f *fake) via(peer, gateway string, link int) {
	gw, _ := netip.ParseAddr(gateway)
	f.hops[netip.MustParseAddr(peer)] = Nexthop{gw, link}
}

func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		name   string
		tunnel Tunnel
		want   string
	}{
		{"peer on the link", tunnel("192.168.15.0/24", "192.168.14.128/25", "192.168.14.2", "192.168.14.1"), "192.168.14.128/25 via 192.168.14.1 dev 2 src 192.168.15.1"},
		{"peer behind a router", tunnel("192.168.15.0/24", "10.2.0.0/16", "192.168.14.2", "203.0.113.1"), "10.2.0.0/16 via 192.168.14.254 dev 2 src 192.168.15.1"},
		{"the outer address is in the local network", tunnel("192.168.0.0/16", "10.2.0.0/16", "192.168.14.2", "192.168.14.1"), "10.2.0.0/16 via 192.168.14.1 dev 2 src 192.168.14.2"},
		{"no address in the local network", tunnel("10.9.0.0/16", "10.2.0.0/16", "192.168.14.2", "192.168.14.1"), ""},
		{"the peer is in the remote network", tunnel("192.168.15.0/24", "0.0.0.0/0", "192.168.14.2", "203.0.113.1"), "0.0.0.0/0 via 192.168.14.254 dev 2 src 192.168.15.1\nthrow 203.0.113.1/32"},
		{"IPv6 in IPv4", tunnel("fd01::/64", "fd02::/64", "192.168.14.2", "192.168.14.1"), "fd02::/64 dev 2 src fd01::1"},
	} {
		f := newFake("192.168.14.2", "192.168.15.1", "fd01::1")
		f.via("192.168.14.1", "", 2)
		f.via("203.0.113.1", "192.168.14.254", 2)
		m := New(f)
		if err := m.Set([]Tunnel{c.tunnel}); err != nil {
			t.Fatal(err)
		}
		if got := f.String(); got != c.want || !f.rules {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
		if strings.Contains(c.want, "throw") && !strings.HasPrefix(f.log[0], "set throw") {
			t.Errorf("%s: the peer was cut off for a moment: %v", c.name, f.log)
		}
		if err := m.Clear(); err != nil || f.String() != "" || f.rules {
			t.Errorf("%s: after Clear: %v, rules %v, %s", c.name, err, f.rules, f)
		}
	}
}

func TestTunnelsShareARoute(t *testing.T) {
	f := newFake("192.168.14.2", "10.1.0.1")
	f.via("192.168.14.1", "", 2)
	m := New(f)
	tcp := tunnel("10.1.0.0/16", "10.2.0.0/16", "192.168.14.2", "192.168.14.1")
	other := tunnel("10.1.0.0/24", "10.2.0.0/16", "192.168.14.2", "192.168.14.1")
	for _, set := range [][]Tunnel{{tcp, other}, {other}, {tcp, other}} {
		if err := m.Set(set); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.log) != 1 {
		t.Errorf("changes of one route that stays: %v", f.log)
	}
	if err := m.Set(nil); err != nil || f.String() != "" {
		t.Errorf("%v, %s", err, f)
	}
}

// What an earlier run left is taken over or removed, and a refused change is tried
// again.
func TestReconciles(t *testing.T) {
	f := newFake("192.168.14.2", "10.1.0.1")
	f.via("192.168.14.1", "", 2)
	tun := tunnel("10.1.0.0/16", "10.2.0.0/16", "192.168.14.2", "192.168.14.1")
	stale := Route{Dst: netip.MustParsePrefix("10.9.0.0/16"), Link: 7}
	f.table[stale.Dst] = stale
	f.fail = "set 10.2.0.0/16"
	m := New(f)
	if err := m.Set([]Tunnel{tun}); err == nil {
		t.Error("no error of a refused route")
	}
	if f.String() != "" {
		t.Errorf("the stale route stays: %s", f)
	}
	f.fail = ""
	f.addrs = []netip.Addr{netip.MustParseAddr("10.1.0.7")} // it moved meanwhile
	if err := m.Refresh(); err != nil || f.String() != "10.2.0.0/16 via 192.168.14.1 dev 2 src 10.1.0.7" {
		t.Errorf("%v, %s", err, f)
	}
}
