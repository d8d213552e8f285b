package show

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// Virtual addresses are in the list of SAs, in that of tunnels, and among the leases of their pool.
func TestVirtualAddresses(t *testing.T) {
	st := statustest.New()
	vip := netip.MustParseAddr("10.3.0.1")
	st.Engine.IKESAs[0].RemoteVIPs = []netip.Addr{vip}
	carol := auth.Identity{Type: auth.IDFQDN, Data: "carol"}
	st.Engine.Pools = []ike.PoolInfo{{Config: &ike.Pool{Name: "rw", Base: vip, Size: 254}, Online: 1, Offline: 1,
		Leases: []ike.LeaseInfo{{Addr: vip, ID: carol, Online: true}, {Addr: vip.Next(), ID: carol}}}}
	r := NewReport(st)
	var sas, tunnels, pools strings.Builder
	if err := WriteSAs(&sas, r, Style{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteTunnels(&tunnels, r, Style{}); err != nil {
		t.Fatal(err)
	}
	if err := WritePools(&pools, r); err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]string{
		"SAs":     {sas.String(), "  remote 203.0.113.7:4500 [203.0.113.7] behind NAT, virtual 10.3.0.1\n"},
		"tunnels": {tunnels.String(), "203.0.113.7 (NAT-T), virtual 10.3.0.1"},
		"pools":   {pools.String(), "POOL  FIRST     SIZE  ONLINE  OFFLINE\nrw    10.3.0.1  254   1       1\n  └ 10.3.0.1 online carol\n  └ 10.3.0.2 offline carol\n"},
	} {
		if !strings.Contains(pair[0], pair[1]) {
			t.Errorf("%s:\n%s\nhave no\n%s", what, pair[0], pair[1])
		}
	}
}
