package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// TestLeases has strongSwan's format.
func TestLeases(t *testing.T) {
	st := statustest.New()
	first := netip.MustParseAddr("10.3.0.1")
	id := auth.Identity{Type: auth.IDFQDN, Data: "carol.example"}
	st.Engine.Pools = []ike.PoolInfo{{Config: &ike.Pool{Name: "10.3.0.0/24", Source: "/etc/ipsec.conf:3", Base: first, Size: 254}, Online: 1, Offline: 1,
		Leases: []ike.LeaseInfo{{Addr: first, ID: id, Online: true}, {Addr: first.Next(), ID: id}}}}
	uri := serve(t, statustest.NewControl(st))
	const head = "Leases in pool '10.3.0.0/24', usage: 2/254, 1 online\n"
	for args, want := range map[string]string{
		"":                     head + "         10.3.0.1   online   'carol.example'\n         10.3.0.2   offline   'carol.example'\n",
		"10.3.0.0/24 10.3.0.2": head + "         10.3.0.2   offline   'carol.example'\n",
		"10.3.0.0/24 10.3.0.9": head + "  no matching leases found\n",
		"nosuch":               "pool 'nosuch' not found\n",
	} {
		wantLines(t, want, ipsec(t, uri, append([]string{"leases"}, strings.Fields(args)...)...).stdout)
	}
	if got := ipsec(t, uri, "statusall").stdout; !strings.Contains(got, "\nVirtual IP pools (size/online/offline):\n  10.3.0.0/24: 254/1/1\nListening IP addresses:\n") {
		t.Errorf("statusall:\n%s", got)
	}
	if got := ipsec(t, serve(t, statustest.NewControl(statustest.New())), "leases").stdout; got != "no pools found\n" {
		t.Errorf("without pools: %s", got)
	}
}
