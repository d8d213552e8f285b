package daemon

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// shuntConfig has a child of a mode between the networks of testShunt.
func shuntConfig(mode ike.Mode) *config.Config {
	ts := func(s string) []ike.TrafficSelector {
		return []ike.TrafficSelector{ike.PrefixSelector(netip.MustParsePrefix(s))}
	}
	return &config.Config{IKE: ike.Config{Connections: []*ike.Connection{{
		Name: "shunts", Children: []*ike.ChildConfig{{
			Name: "s", Mode: mode, Policies: true, StartAction: ike.ActionTrap, LocalTS: ts("10.1.0.0/16"), RemoteTS: ts("10.2.9.0/24"),
		}},
	}}}}
}

// A guard, a tunnel and shunts with selectors of their own stand beside each other; strongest are pass shunts, then
// tunnels, then guards and drop shunts.
func TestShunts(t *testing.T) {
	r := newRig(t)
	if err := r.reconfigure(fixture{guards: []netip.Prefix{netip.MustParsePrefix("10.2.0.0/16")}, shunts: shuntsOf(shuntConfig(ike.ModePass))}); err != nil {
		t.Fatal(err)
	}
	pass := r.lines("dir ", "10.1.0.0/16", "10.2.9.0/24") // ip-xfrm(8) does not print allow
	if len(pass) != 3 {
		t.Fatalf("pass shunt: %q\n%s", pass, r.kernel)
	}
	of := func(c *config.Config) uint32 { return shuntsOf(c)[0].Priority }
	passPriority, dropPriority := of(shuntConfig(ike.ModePass)), of(shuntConfig(ike.ModeDrop))
	sel := shuntsOf(shuntConfig(ike.ModePass))[0].Selector
	tunnel, guard := xfrm.Priority(xfrm.ClassDefault, sel), r.guards[0].Priority
	if !(passPriority < tunnel && tunnel < dropPriority && dropPriority < guard) {
		t.Errorf("priorities: pass %d, tunnel %d, drop %d, guard %d", passPriority, tunnel, dropPriority, guard)
	}
	if err := r.reconfigure(fixture{shunts: shuntsOf(shuntConfig(ike.ModeDrop))}); err != nil {
		t.Fatal(err)
	}
	if got := r.lines("dir ", "action block"); len(got) != 3 || len(r.lines("dir ")) != 3 {
		t.Errorf("after the change: %s", r.kernel)
	}
	if err := r.reconfigure(fixture{}); err != nil || len(r.lines("dir ")) != 0 || len(r.policies) != 0 {
		t.Errorf("left behind: %v\n%s", err, r.kernel)
	}
}

func TestDynamicShunt(t *testing.T) {
	c := shuntConfig(ike.ModePass)
	c.IKE.Connections[0].Children[0].LocalTS = []ike.TrafficSelector{{Dynamic: true, Protocol: 6, StartPort: 22, EndPort: 22}}
	c.IKE.Connections[0].Children[0].RemoteTS = nil
	out := shuntsOf(c)
	if len(out) != 6 || out[0].Selector.String() != "src 0.0.0.0/0 dst 0.0.0.0/0 proto 6 sport 22" || !out[3].Selector.Src.Addr().Is6() {
		t.Errorf("got %v", out)
	}
}

// A guard, or a shunt, with the very selectors of a tunnel does not keep the tunnel from being installed: the
// kernel has the stronger of the two, and the other one when that goes.
func TestPoliciesOfOneIdentity(t *testing.T) {
	for _, v := range []struct {
		name   string
		fixed  fixture
		tunnel bool // is stronger
	}{
		{"guard", fixture{guards: []netip.Prefix{netip.MustParsePrefix("10.2.0.0/16")}}, true},
		{"pass shunt", fixture{shunts: []xfrm.Policy{{
			Dir: xfrm.DirOut, Priority: 1,
			Selector: xfrm.Selector{Src: netip.MustParsePrefix("0.0.0.0/0"), Dst: netip.MustParsePrefix("10.2.0.0/16")},
		}}}, false},
	} {
		r := newRig(t)
		if err := r.reconfigure(v.fixed); err != nil {
			t.Fatal(err)
		}
		before := r.kernel.String()
		c := testChild(1)
		cfg := *testChildConfig
		c.Config, c.IfIDIn, c.IfIDOut = &cfg, 0, 0
		c.RemoteTS = []ike.TrafficSelector{ike.PrefixSelector(netip.MustParsePrefix("10.2.0.0/16"))}
		r.mustInstall(t, c, false)
		got := r.lines("dir out", "dst 10.2.0.0/16")
		if len(got) != 1 || strings.Contains(got[0], "tmpl") != v.tunnel {
			t.Errorf("%s: %q", v.name, got)
		}
		r.perform(ike.RemoveChild{ChildID: 1})
		if after := r.kernel.String(); after != before {
			t.Errorf("%s: after the tunnel:\n%s\nbefore:\n%s", v.name, after, before)
		}
	}
}

// The engine's traps hold traffic that no CHILD_SA carries any more.
func TestEngineTrap(t *testing.T) {
	r := newRig(t)
	c := testChild(1)
	c.IfIDIn, c.IfIDOut = 0, 0
	r.mustInstall(t, c, false)
	r.perform(ike.Trap{Child: c})
	r.perform(ike.RemoveChild{ChildID: 1})
	if got := r.lines("dir out", "reqid"); len(got) != 1 {
		t.Errorf("no trap:\n%s", r.kernel)
	}
	if err := r.audit(); err != nil || r.drift != 0 {
		t.Errorf("the audit does not know the trap: %v, drift %d", err, r.drift)
	}
	r.perform(ike.Untrap{Connection: c.Connection, Child: c.Config.Name})
	if got := r.lines("dir "); len(got) != 0 || len(r.armed) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// A CHILD_SA in transport mode that moves takes its selectors along.
func TestMoveInTransportMode(t *testing.T) {
	r := newRig(t)
	at := func(remote string) *ike.ChildSA {
		c := testChild(1)
		c.Mode, c.Remote, c.IfIDIn, c.IfIDOut = ike.ModeTransport, netip.MustParseAddr(remote), 0, 0
		host := func(a netip.Addr) []ike.TrafficSelector {
			return []ike.TrafficSelector{ike.PrefixSelector(netip.PrefixFrom(a, 32))}
		}
		c.LocalTS, c.RemoteTS = host(c.Local), host(c.Remote)
		return c
	}
	r.mustInstall(t, at("192.168.1.1"), false)
	r.perform(ike.MoveChild{Child: at("192.0.2.9")})
	if got := r.lines("192.168.1.1"); len(got) != 0 {
		t.Errorf("still at the old address: %v", got)
	}
	if got := r.lines("state", "sel src 192.0.2.9/32 dst 10.30.0.6/32"); len(got) != 1 {
		t.Errorf("%s", r.kernel)
	}
}
