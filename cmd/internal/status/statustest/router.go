package statustest

import (
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
)

// router has a session over each of hq and branch2, and one over a plain link
// whose last error tries to clear the reader's terminal.
func router() *routerproto.Status {
	addr, prefix := netip.MustParseAddr, netip.MustParsePrefix
	hq := routerproto.Nexthop{Interface: "hq", Gateway: addr("169.254.1.1"), Neighbor: "hq", Up: true}
	branch2 := routerproto.Nexthop{Interface: "branch2", Gateway: addr("169.254.2.1"), Neighbor: "branch2"}
	return &routerproto.Status{
		Started: Now.Add(-2 * time.Hour),
		Phase:   routerproto.PhaseRun,
		Peers: []routerproto.Peer{
			{Name: "hq", Address: addr("169.254.1.1"), AS: 65010, Interface: "hq", State: "Established", Since: Now.Add(-2 * time.Hour), EndOfRIB: true, PrefixesReceived: 212, PrefixesAdvertised: 1, MessagesIn: 400, MessagesOut: 380},
			{Name: "branch2", Address: addr("169.254.2.1"), AS: 65020, Interface: "branch2", State: "Idle", Since: Now.Add(-4 * time.Minute), Flaps: 3},
			{Name: "circuit", Address: addr("192.0.2.254"), AS: 65030, Interface: "wan0", State: "Active", LastError: "peer said: \x1b[2Jbye"},
		},
		Tunnels: []routerproto.TunnelStatus{{Name: "hq", Interface: "hq", Up: true, Routes: 212}, {Name: "branch2", Interface: "branch2"}},
		Groups:  []routerproto.Group{{ID: 11, Nexthops: []routerproto.Nexthop{hq, branch2}, Routes: 1}},
		Routes: []routerproto.Route{
			{Prefix: prefix("10.20.0.0/16"), Metric: 20, Group: 11, Nexthops: []routerproto.Nexthop{hq, branch2}, Installed: true, Reason: "branch2 is down"},
			{Prefix: prefix("10.30.0.0/16"), Metric: 20, Nexthops: []routerproto.Nexthop{hq}, Reason: "a foreign route of this prefix and metric exists"},
		},
		Guards:       []routerproto.Guard{{Prefix: prefix("10.9.0.0/16"), Installed: true}},
		LastFailover: &routerproto.Failover{Tunnel: "branch2", Interface: "branch2", Time: Now.Add(-4 * time.Minute), Duration: 1234 * time.Microsecond, Groups: 1, Routes: 212},
		Counters:     routerproto.Counters{RoutesInstalled: 212, RouteNexthops: 1, Failovers: 3},
	}
}
