package ike

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// TestConfigReplyOnlyToRequest does not take an address that was not asked for, nor one that cannot be a virtual address
// (RFC 7296 section 2.19).
func TestConfigReplyOnlyToRequest(t *testing.T) {
	outer := netip.MustParseAddrPort("192.0.2.1:500")
	good, good6 := netip.MustParseAddr("10.3.0.1"), netip.MustParseAddr("fd03::1")
	reply := &wire.Configuration{CFGType: wire.CFGReply, Attributes: []wire.ConfigAttribute{
		{Type: wire.ConfigInternalIP4Address, Value: []byte{10, 3, 0}},
		{Type: wire.ConfigInternalIP4Address},
		addressAttribute(netip.MustParseAddr("127.0.0.1")), addressAttribute(netip.MustParseAddr("224.0.0.1")),
		addressAttribute(outer.Addr()), addressAttribute(netip.MustParseAddr("::ffff:10.3.0.7")),
		addressAttribute(good), addressAttribute(good), addressAttribute(good6),
	}}
	for _, c := range []struct {
		vips []netip.Addr
		typ  wire.CFGType
		want []netip.Addr
	}{
		{[]netip.Addr{netip.IPv4Unspecified()}, wire.CFGReply, []netip.Addr{good, good6}},
		{[]netip.Addr{netip.IPv4Unspecified()}, wire.CFGSet, nil},
		{[]netip.Addr{netip.IPv4Unspecified()}, wire.CFGRequest, nil},
		{nil, wire.CFGReply, nil},
	} {
		e := New(&Config{Limits: DefaultLimits(), Timing: DefaultTiming()}, nil, 0)
		sa := &ikeSA{conn: &connection{cfg: &Connection{Name: "c", VIPs: c.vips}}, local: outer, remote: netip.MustParseAddrPort("192.0.2.2:500")}
		p := *reply
		p.CFGType = c.typ
		e.takeAddresses(sa, &message{payloads: []wire.Payload{&p}})
		if !slices.Equal(sa.virtual.local, c.want) {
			t.Errorf("of a payload of type %d to a request for %v, %v is taken, expected %v", c.typ, c.vips, sa.virtual.local, c.want)
		}
	}
}
