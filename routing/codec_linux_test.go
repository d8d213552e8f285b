package routing

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mdlayher/netlink"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

var (
	gw4      = netip.MustParseAddr("169.254.21.4")
	gw6      = netip.MustParseAddr("fe80::1")
	compare  = cmp.Options{cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmpopts.EquateEmpty()}
	nexthops = []NexthopObject{
		{ID: MinNexthopID + 1, Protocol: Protocol, Index: 7, Gateway: gw4},
		{ID: MinNexthopID + 2, Protocol: Protocol, Index: 8, Gateway: gw6},
		{ID: MinGroupID + 1, Protocol: Protocol, Group: []GroupEntry{{MinNexthopID + 1, 1}, {MinNexthopID + 2, 255}}},
	}
	routes = []RouteEntry{
		{RouteID: rid("10.2.0.0/16", 254, 20), Protocol: Protocol, NexthopID: MinGroupID + 1},
		{RouteID: rid("0.0.0.0/0", 1000, 20), Protocol: Protocol, NexthopID: MinGroupID + 1},
		{RouteID: rid("2001:db8::/32", 254, 20), Protocol: Protocol, NexthopID: MinGroupID + 1},
		{RouteID: rid("10.2.0.0/16", 254, 1_000_000), Kind: Blackhole, Protocol: Protocol},
		{RouteID: rid("::/0", 254, 1_000_000), Kind: Unreachable, Protocol: Protocol},
		{RouteID: rid("10.3.0.0/16", 254, 20), Protocol: Protocol, Hops: []Hop{{7, gw4, 1}, {8, gw6, 200}}},
		{RouteID: rid("2001:db8:1::/48", 254, 20), Protocol: Protocol, Hops: []Hop{{8, gw6, 1}}},
	}
)

func rid(prefix string, table, metric uint32) RouteID {
	return RouteID{netip.MustParsePrefix(prefix), table, metric}
}

// What is written reads back the same. The scenarios show that the kernel
// reads it so, too.
func TestCodecRoundTrip(t *testing.T) {
	for _, o := range nexthops {
		got, err := decodeNexthop(appendNexthop(nil, o))
		if diff := cmp.Diff(o, got, compare); err != nil || diff != "" {
			t.Errorf("nexthop %d: %v\n%s", o.ID, err, diff)
		}
	}
	for _, r := range routes {
		got, ok, err := decodeRoute(appendRoute(nil, r))
		if diff := cmp.Diff(r, got, compare); err != nil || !ok || diff != "" {
			t.Errorf("route %s: %t, %v\n%s", r.RouteID, ok, err, diff)
		}
	}
}

// A message cut anywhere is never read as the whole.
func TestNoPrefixDecodes(t *testing.T) {
	for _, o := range nexthops {
		b := appendNexthop(nil, o)
		for n := range b {
			if got, err := decodeNexthop(b[:n]); err == nil && cmp.Equal(o, got, compare) {
				t.Errorf("nexthop %d reads whole from %d of %d bytes", o.ID, n, len(b))
			}
		}
	}
	for _, r := range routes {
		b := appendRoute(nil, r)
		for n := range b {
			if got, ok, err := decodeRoute(b[:n]); err == nil && ok && cmp.Equal(r, got, compare) {
				t.Errorf("route %s reads whole from %d of %d bytes", r.RouteID, n, len(b))
			}
		}
	}
}

func TestVerbFlags(t *testing.T) {
	for verb, want := range map[Verb]netlink.HeaderFlags{
		AddNexthop:     netlink.Request | netlink.Create | netlink.Excl,
		ReplaceNexthop: netlink.Request | netlink.Replace,
		DeleteNexthop:  netlink.Request,
		AddRoute:       netlink.Request | netlink.Create | netlink.Excl,
		ReplaceRoute:   netlink.Request | netlink.Replace,
		DeleteRoute:    netlink.Request,
	} {
		m, err := encodeOp(Op{Verb: verb, Nexthop: nexthops[0], Route: routes[0]})
		if err != nil || m.Header.Flags != want {
			t.Errorf("verb %d: flags %v, %v; want %v", verb, m.Header.Flags, err, want)
		}
	}
	if _, err := encodeOp(Op{Verb: 99}); err == nil {
		t.Error("an unknown verb is encoded")
	}
}

func TestEventFilter(t *testing.T) {
	vm, err := bpf.NewVM(eventFilter(4242))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		typ      uint16
		pid      uint32
		protocol uint8
		pass     bool
	}{
		{"ours", unix.RTM_NEWROUTE, 4242, Protocol, false},
		{"our nexthop", unix.RTM_NEWNEXTHOP, 4242, 0, false},
		{"someone deletes our route", unix.RTM_DELROUTE, 99, Protocol, true},
		{"the kernel deletes our route", unix.RTM_DELROUTE, 0, Protocol, false},
		{"the kernel deletes a foreign route", unix.RTM_DELROUTE, 0, 4, true},
		{"the kernel adds a route", unix.RTM_NEWROUTE, 0, 2, true},
		{"a link", unix.RTM_NEWLINK, 0, 0, true},
	} {
		data := make([]byte, 12)
		data[5] = c.protocol
		m := netlink.Message{Header: netlink.Header{Length: 28, Type: netlink.HeaderType(c.typ), PID: c.pid}, Data: data}
		b, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		n, err := vm.Run(b)
		if err != nil || (n > 0) != c.pass {
			t.Errorf("%s: passes %d bytes, %v; want pass %t", c.name, n, err, c.pass)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, o := range nexthops {
		f.Add(uint16(unix.RTM_NEWNEXTHOP), appendNexthop(nil, o))
	}
	for _, r := range routes {
		f.Add(uint16(unix.RTM_NEWROUTE), appendRoute(nil, r))
	}
	f.Add(uint16(unix.RTM_NEWLINK), appendAttr(make([]byte, unix.SizeofIfInfomsg), unix.IFLA_IFNAME, []byte("oci1\x00")))
	f.Fuzz(func(t *testing.T, typ uint16, b []byte) {
		ev, ok, err := decodeEvent(netlink.Message{Header: netlink.Header{Type: netlink.HeaderType(typ)}, Data: b})
		if err != nil || !ok {
			return
		}
		switch {
		case ev.Kind == RouteEvent && (!ev.Route.Prefix.IsValid() || ev.Route.Prefix != ev.Route.Prefix.Masked()):
			t.Errorf("prefix %v", ev.Route.Prefix)
		case ev.Kind == NexthopEvent && ev.Nexthop.Group != nil && len(ev.Nexthop.Group) == 0:
			t.Error("an empty group")
		}
		for _, e := range ev.Nexthop.Group {
			if e.Weight == 0 {
				t.Error("weight 0")
			}
		}
	})
}
