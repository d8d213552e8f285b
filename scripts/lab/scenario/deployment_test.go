//go:build lab

package scenario

import (
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestDeployment brings the deployment up with strongSwan and BIRD on our side,
// then with ipsecd, and compares.
func TestDeployment(t *testing.T) {
	d := newDeployment(t)
	d.startServers(t)
	var charons, ours throughput
	t.Run("charon", func(t *testing.T) {
		d.startCharonGateway(t)
		d.awaitUp(t)
		d.checkAllPaths(t)
		charons = d.measure(t)
	})
	if usIsCharon() || t.Failed() {
		t.Logf("\n%s", throughputTable(charons, charons))
		return
	}
	t.Run("ipsecd", func(t *testing.T) {
		d.startIpsecd(t, "")
		d.awaitUp(t)
		d.checkAllPaths(t)
		ours = d.measure(t)
	})
	t.Logf("\n%s", throughputTable(ours, charons))
}

// checkAllPaths sends eight flows at once, one over each tunnel, and fails t
// unless every outbound SA carried its flow; VCN2 is reached without ESP.
func (d *deployment) checkAllPaths(t *testing.T) {
	t.Helper()
	labtest.Ping(t, d.client, 3, vcn1Servers[0])
	labtest.Ping(t, d.client, 3, vcn2Server)

	d.hashPorts(t)
	before := bytesOut(t, d)
	var flows []labtest.Flow
	for i, name := range tunnelNames() {
		flows = append(flows, d.flowOver(t, name, i))
	}
	results := labtest.RunFlows(t, flows...)
	after := bytesOut(t, d)
	for i, a := range azureTunnels {
		carried := after[a.headEnd()] - before[a.headEnd()]
		if carried < results[i].Bytes {
			t.Errorf("%s: the flow moved %d bytes, its SA %d: it went elsewhere", a.name(), results[i].Bytes, carried)
		}
	}
	t.Logf("eight flows over eight SAs: %.1f Mbit/s in all", labtest.Sum(results)/1e6)
}

// bytesOut returns what the gateway's SAs have sent, by head-end.
func bytesOut(t *testing.T, d *deployment) map[string]uint64 {
	t.Helper()
	sent := map[string]uint64{}
	for _, s := range labtest.XfrmStates(t, d.gw) {
		if s.Src == gateway {
			sent[s.Dst] += s.Bytes
		}
	}
	return sent
}
