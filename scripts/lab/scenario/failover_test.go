//go:build lab

package scenario

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// quickDPD makes a silent peer dead before BGP's hold timer does, after about 22 s instead of three minutes.
const quickDPD = `
charon {
    retransmit_timeout = 2.0
    retransmit_tries = 2
}
`

// TestFailover cuts one head-end off: its share moves to the other seven
// tunnels. When it is back, its tunnel is used again.
func TestFailover(t *testing.T) {
	needIpsecd(t)
	d := newDeployment(t)
	us := d.startIpsecd(t, quickDPD)
	d.awaitUp(t)
	dead := azureTunnels[2]
	others := slices.DeleteFunc(tunnelNames(), func(n string) bool { return n == dead.name() })
	watch := labtest.StartRouteMonitor(t, d.gw)

	d.cutOff(t, dead)
	took := labtest.WaitFor(t, deployTime, "VCN1 over seven tunnels", labtest.WantPaths(t, d.gw, vcn1, others...))
	t.Logf("%v after %s was cut off, VCN1 is routed over the other seven", took.Round(time.Second), dead.headEnd())
	d.checkShares(t, others)
	delay, err := watch.GroupDelay(dead.name())
	if err != nil {
		t.Error(err)
	}
	t.Logf("%v from the kernel's event (%s down) to the smaller group", delay, dead.name())
	t.Logf("the router says: %s", strings.TrimSpace(grep(us.Log(), "its share moved")))

	d.reconnect(t)
	took = labtest.WaitFor(t, deployTime, "VCN1 over eight tunnels", labtest.WantPaths(t, d.gw, vcn1, tunnelNames()...))
	t.Logf("%v after it was back, VCN1 is routed over all eight", took.Round(time.Second))
	d.checkShares(t, tunnelNames())
}

// cutOff drops everything to and from one head-end, on the circuit.
func (d *deployment) cutOff(t *testing.T, tunnels ...azureTunnel) {
	t.Helper()
	rules := "table ip cut {\n chain forward {\n  type filter hook forward priority filter\n"
	for _, a := range tunnels {
		rules += "  ip saddr " + a.headEnd() + " drop\n  ip daddr " + a.headEnd() + " drop\n"
	}
	d.circuit.Nft(t, rules+" }\n}\n")
}

// reconnect undoes cutOff.
func (d *deployment) reconnect(t *testing.T) {
	t.Helper()
	d.circuit.Nft(t, "delete table ip cut\n")
}

// checkShares fails t unless VCN1 answers, and flows to it are spread over all of
// the devices and over no other. The way back is the far end's: it may use a dead
// tunnel until its BGP hold timer (30 s) has expired.
func (d *deployment) checkShares(t *testing.T, devices []string) {
	t.Helper()
	used := map[string]bool{}
	for _, server := range vcn1Servers {
		labtest.AwaitPing(t, d.client, deployTime, server)
		for _, dev := range labtest.FlowDevices(t, d.gw, clientHost, server, 80, 1000, 100) {
			used[dev] = true
		}
	}
	if got := slices.Sorted(maps.Keys(used)); !slices.Equal(got, devices) {
		t.Errorf("flows to VCN1 leave over %v, want %v", got, devices)
	}
}
