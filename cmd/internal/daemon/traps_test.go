package daemon

import (
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

func trapConfig() *config.Config {
	prefix := func(s string) ike.TrafficSelector { return ike.PrefixSelector(netip.MustParsePrefix(s)) }
	match := func(s string) []ike.AddrMatch {
		return []ike.AddrMatch{{Prefix: netip.MustParsePrefix(s + "/32")}}
	}
	return &config.Config{IKE: ike.Config{Connections: []*ike.Connection{{
		Name: "site", LocalAddrs: match("10.30.0.6"), RemoteAddrs: match("192.168.1.1"),
		Children: []*ike.ChildConfig{{
			Name: "net", Policies: true, ReplayWindow: 32, StartAction: ike.ActionTrap,
			LocalTS: []ike.TrafficSelector{{Dynamic: true, EndPort: 0xffff}}, RemoteTS: []ike.TrafficSelector{prefix("10.9.0.0/16")},
		}},
	}}}}
}

// With a trap, traffic never leaves in the clear: before, during and after an SA.
func TestTrapHoldsTraffic(t *testing.T) {
	r := newRig(t)
	c := trapConfig()
	reqid := xfrm.DefaultOwner.ReqIDBase + 9
	traps := trapsOf(c, func(string, string) uint32 { return reqid }, nil, nil)
	if err := r.setTraps(traps); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		if got := r.lines("dir out", "10.30.0.6/32", "10.9.0.0/16"); len(got) != 1 {
			t.Errorf("%s: outbound policies %v\n%s", when, got, r.kernel)
		}
	}
	check("without an SA")
	trapped := r.kernel.String()

	sa := testChild(1)
	sa.Connection, sa.Config, sa.ReqID, sa.IfIDIn, sa.IfIDOut = "site", c.IKE.Connections[0].Children[0], reqid, 0, 0
	sa.LocalTS, sa.RemoteTS = resolve(sa.Config.LocalTS, sa.Local), sa.Config.RemoteTS
	r.mustInstall(t, sa, false)
	check("with an SA")
	r.perform(ike.RemoveChild{ChildID: 1})
	check("after the SA")
	if got := r.kernel.String(); got != trapped {
		t.Errorf("the trap did not come back:\n%s\nwant:\n%s", got, trapped)
	}
	if err := r.setTraps(nil); err != nil {
		t.Fatal(err)
	}
	if got := r.lines("reqid"); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// A trap is there before the host has a route to the peer, when nothing is known of its own address.
func TestTrapWithoutAnAddress(t *testing.T) {
	c := trapConfig()
	conn := c.IKE.Connections[0]
	conn.LocalAddrs = nil
	conn.Children[0].LocalTS = []ike.TrafficSelector{ike.PrefixSelector(netip.MustParsePrefix("10.1.0.0/16"))}
	r := newRig(t)
	nowhere := func(netip.Addr) netip.Addr { return netip.Addr{} }
	if err := r.setTraps(trapsOf(c, func(string, string) uint32 { return xfrm.DefaultOwner.ReqIDBase + 1 }, nowhere, nil)); err != nil {
		t.Fatal(err)
	}
	if got := r.lines("dir out", "10.1.0.0/16", "10.9.0.0/16"); len(got) != 1 {
		t.Errorf("%s", r.kernel)
	}
}

// A trap for packets with a number that is only known with the CHILD_SA is none; one whose inbound number is, has no inbound policies.
func TestTrapOfGeneratedNumbers(t *testing.T) {
	c := trapConfig()
	child := c.IKE.Connections[0].Children[0]
	reqid := func(string, string) uint32 { return 9 }
	child.MarkInBy, child.MarkIn.Mask = ike.NumberEach, 0xff
	traps := trapsOf(c, reqid, nil, nil)
	if len(traps) != 1 || len(traps[0].policies) != 1 || traps[0].policies[0].Dir != xfrm.DirOut {
		t.Errorf("mark_in = %%unique: %+v", traps)
	}
	child.MarkOutBy, child.MarkOut.Mask = ike.NumberEach, 0xff
	if traps := trapsOf(c, reqid, nil, nil); len(traps) > 0 {
		t.Errorf("mark_out = %%unique: %+v", traps)
	}
}

// A trap for any peer holds the traffic to each that has no CHILD_SA, also after one has gone, and asks with the packet's
// addresses.
func TestTrapForAnyPeer(t *testing.T) {
	c := trapConfig()
	conn := c.IKE.Connections[0]
	child := conn.Children[0]
	conn.LocalAddrs, conn.RemoteAddrs = nil, nil
	child.Mode, child.RemoteTS = ike.ModeTransport, child.LocalTS
	r := newRig(t)
	reqid := xfrm.DefaultOwner.ReqIDBase + 9
	if err := r.setTraps(trapsOf(c, func(string, string) uint32 { return reqid }, nil, nil)); err != nil {
		t.Fatal(err)
	}
	trapped := r.kernel.String()
	packet := func(dst string) xfrmtest.Packet {
		return xfrmtest.Packet{Src: netip.MustParseAddr("10.30.0.6"), Dst: netip.MustParseAddr(dst), Proto: 17, SrcPort: 1024, DstPort: 53}
	}
	check := func(when, dst string, want xfrmtest.Fate) {
		t.Helper()
		if got := r.kernel.Output(packet(dst)); got != want {
			t.Errorf("%s: a packet to %s is %s, want %s\n%s", when, dst, got, want, r.kernel)
		}
	}
	check("at first", "192.168.1.1", xfrmtest.Dropped)
	sa := testChild(1)
	sa.Connection, sa.Config, sa.Mode, sa.ReqID, sa.IfIDIn, sa.IfIDOut = "site", child, child.Mode, reqid+1, 0, 0
	sa.LocalTS, sa.RemoteTS = resolve(child.LocalTS, sa.Local), resolve(child.RemoteTS, sa.Remote)
	r.mustInstall(t, sa, false)
	check("with an SA", "192.168.1.1", xfrmtest.Protected)
	check("with an SA of another peer", "192.168.1.2", xfrmtest.Dropped)
	r.perform(ike.RemoveChild{ChildID: 1})
	check("after the SA", "192.168.1.1", xfrmtest.Dropped)
	if got := r.kernel.String(); got != trapped {
		t.Errorf("the trap is another one:\n%s\nwant:\n%s", got, trapped)
	}
}
