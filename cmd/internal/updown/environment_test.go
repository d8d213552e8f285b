package updown

import (
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/ike"
)

// TestEnvironment checks values against strongSwan's rules; the lab compares whole environments with charon's.
func TestEnvironment(t *testing.T) {
	ports := func(s string, proto uint8, first, last uint16) ike.TrafficSelector {
		ts := selector(s)
		ts.Protocol, ts.StartPort, ts.EndPort = proto, first, last
		return ts
	}
	span := ike.TrafficSelector{Start: addr("10.1.0.3"), End: addr("10.1.0.9"), EndPort: math.MaxUint16}
	for _, c := range []struct {
		name          string
		local, remote ike.TrafficSelector
		edit          func(*ike.UpDown)
		want          string // each with the variables that must not be there after "!"
	}{
		{"networks", selector("10.1.0.0/16"), selector("10.2.0.0/16"), nil,
			"PATH=/bin PLUTO_VERSION=1.1 PLUTO_VERB=up-client PLUTO_CONNECTION=net PLUTO_INTERFACE=eth0 PLUTO_REQID=7 PLUTO_PROTO=esp PLUTO_UNIQUEID=3 " +
				"PLUTO_ME=192.0.2.1 PLUTO_MY_ID=a.example PLUTO_MY_CLIENT=10.1.0.0/16 PLUTO_MY_PORT=0 PLUTO_MY_PROTOCOL=0 " +
				"PLUTO_PEER=192.0.2.2 PLUTO_PEER_ID=b.example PLUTO_PEER_CLIENT=10.2.0.0/16 PLUTO_PEER_PORT=0 PLUTO_PEER_PROTOCOL=0 " +
				"!PLUTO_MY_SOURCEIP !PLUTO_UDP_ENC !PLUTO_MARK_IN !PLUTO_IF_ID_IN !PLUTO_DNS4_1 !PLUTO_HOST_ACCESS !HOME"},
		{"host", selector("192.0.2.1/32"), selector("192.0.2.2/32"), func(ev *ike.UpDown) { ev.Up = false }, "PLUTO_VERB=down-host PLUTO_MY_CLIENT=192.0.2.1/32"},
		{"IPv6", selector("fd01::/64"), selector("::/0"), nil, "PLUTO_VERB=up-client-v6 PLUTO_MY_CLIENT=fd01::/64 PLUTO_PEER_CLIENT=::/0"},
		{"range", span, selector("0.0.0.0/0"), nil, "PLUTO_MY_CLIENT=10.1.0.0/28 PLUTO_PEER_CLIENT=0.0.0.0/0"},
		{"ports", ports("10.1.0.0/16", 6, 80, 80), ports("10.2.0.0/16", 6, 1024, 2047), nil,
			"PLUTO_MY_PORT=80 PLUTO_MY_PROTOCOL=6 PLUTO_PEER_PORT=1024:2047 PLUTO_PEER_PROTOCOL=6"},
		{"ICMP", ports("10.1.0.0/16", 1, 8<<8, 8<<8|255), ports("10.2.0.0/16", 1, 0, math.MaxUint16), nil, "PLUTO_MY_PORT=8 PLUTO_PEER_PORT=0"},
		{"marks, interfaces, NAT", selector("10.1.0.0/16"), selector("10.2.0.0/16"), func(ev *ike.UpDown) {
			ev.Child.MarkIn, ev.Child.MarkOut = ike.Mark{Value: 10, Mask: 0xff}, ike.Mark{Value: 11, Mask: math.MaxUint32}
			ev.Child.IfIDIn, ev.Child.IfIDOut, ev.Child.Encap, ev.Child.Config.HostAccess = 5, 6, true, true
			ev.SA.Remote = netip.MustParseAddrPort("192.0.2.2:4501")
		}, "PLUTO_MARK_IN=10/0x000000ff PLUTO_MARK_OUT=11/0xffffffff PLUTO_IF_ID_IN=5 PLUTO_IF_ID_OUT=6 PLUTO_UDP_ENC=4501 PLUTO_HOST_ACCESS=1"},
		{"virtual addresses", selector("10.3.0.1/32"), selector("0.0.0.0/0"), func(ev *ike.UpDown) {
			ev.SA.LocalVIPs = []netip.Addr{addr("10.3.0.1"), addr("fd03::1"), addr("10.3.0.2")}
			ev.SA.DNS = []netip.Addr{addr("10.1.0.53"), addr("fd01::53")}
		}, "PLUTO_VERB=up-client PLUTO_MY_SOURCEIP=10.3.0.1 PLUTO_MY_SOURCEIP4_1=10.3.0.1 PLUTO_MY_SOURCEIP6_1=fd03::1 PLUTO_MY_SOURCEIP4_2=10.3.0.2 " +
			"PLUTO_DNS4_1=10.1.0.53 PLUTO_DNS6_1=fd01::53 !PLUTO_PEER_SOURCEIP"},
		{"those of the peer", selector("0.0.0.0/0"), selector("fd03::1/128"), func(ev *ike.UpDown) { ev.SA.RemoteVIPs = []netip.Addr{addr("fd03::1")} },
			"PLUTO_PEER_SOURCEIP=fd03::1 PLUTO_PEER_SOURCEIP6_1=fd03::1 !PLUTO_PEER_SOURCEIP4_1"},
	} {
		ev := event(true, 1, "x")
		if c.edit != nil {
			c.edit(&ev)
		}
		env := environment(ev, pair{c.local, c.remote}, "/bin", "eth0", true)
		all := " " + strings.Join(env, " ") + " "
		for _, w := range strings.Fields(c.want) {
			if name, no := strings.CutPrefix(w, "!"); no && strings.Contains(all, " "+name+"=") || !no && !strings.Contains(all, " "+w+" ") {
				t.Errorf("%s: %s in%s", c.name, w, all)
			}
		}
	}
}

// TestPairs runs a script for each pair of selectors of one family and protocol.
func TestPairs(t *testing.T) {
	c := &ike.ChildSA{
		LocalTS:  []ike.TrafficSelector{selector("10.1.0.0/16"), selector("fd01::/64")},
		RemoteTS: []ike.TrafficSelector{selector("10.2.0.0/16"), selector("10.3.0.0/16"), selector("fd02::/64")},
	}
	if got := pairs(c); len(got) != 3 || got[2].local != c.LocalTS[1] || got[2].remote != c.RemoteTS[2] {
		t.Errorf("%v", got)
	}
}
