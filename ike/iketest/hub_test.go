package iketest

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// hub returns a Net with one host that takes everybody and spokes that each bring up a tunnel for their own address.
func hub(seed uint64, spokes int) (n *Net, center *Host, others []*Host) {
	dynamic := []ike.TrafficSelector{{Dynamic: true, EndPort: 65535}}
	n = NewNet(seed)
	cfg := Connect(EndB, EndA)
	c := cfg.Connections[0]
	c.RemoteAddrs, c.Remote.ID = nil, Identity("%any")
	c.Children[0].RemoteTS = dynamic
	center = n.AddHost("hub", cfg, EndB.Addr)
	for i := range spokes {
		end := End{ID: fmt.Sprintf("spoke%d.example", i), Addr: netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)}), Net: EndA.Net}
		cfg := Connect(end, EndB)
		persist(cfg, cfg)
		cfg.Connections[0].Children[0].LocalTS = dynamic
		cfg.Connections[0].Children[0].StartAction = ike.ActionStart
		others = append(others, n.AddHost(fmt.Sprintf("spoke%d", i), cfg, end.Addr))
	}
	return n, center, others
}

// TestHub sets up many peers at once through one connection, rekeys all of them at once, and lets them go.
func TestHub(t *testing.T) {
	const spokes = 40
	n, center, others := hub(1, spokes)
	n.Faults.Loss, n.Faults.Jitter = 0.1, 20*time.Millisecond
	n.RunFor(settleTime)
	n.Faults.Loss = 0
	n.RunFor(settleTime)
	noViolation(t, n)
	reqids := map[uint32]bool{}
	for _, sa := range center.Snapshot().IKESAs {
		for _, c := range sa.Children {
			reqids[c.SA.ReqID] = true
		}
	}
	if len(reqids) != spokes || center.Kernel.Children() != spokes {
		failRun(t, n, "the hub has %d CHILD_SAs with %d reqids, expected %d of both", center.Kernel.Children(), len(reqids), spokes)
	}
	n.GuardTraffic()
	center.Do(rekeyChild)
	for _, h := range others {
		h.Do(rekeyIKE)
	}
	n.RunFor(settleTime)
	noViolation(t, n)
	n.UnguardTraffic()
	for _, h := range others {
		h.Do(ike.Shutdown{})
	}
	n.RunFor(settleTime)
	empty(t, n)
}
