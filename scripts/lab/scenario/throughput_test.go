//go:build lab

package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

const (
	// flowSeconds is how long a flow runs.
	flowSeconds = 4
	// measureRounds of each throughput are run in turn, and the best one counts: what
	// else the machine does can only take away.
	measureRounds = 3
)

// firstPort of the iperf3 servers. Each flow has a server of its own: one
// server takes one flow at a time.
const firstPort = 5201

// startServers starts the iperf3 servers of eight flows to VCN1 and four to VCN2.
func (d *deployment) startServers(t *testing.T) {
	t.Helper()
	var ports []int
	for i := range 8 {
		ports = append(ports, firstPort+i)
	}
	labtest.IperfServers(t, d.vcn1, ports...)
	labtest.IperfServers(t, d.vcn2, ports[:4]...)
}

// flowOver returns flow i to VCN1 with a client port that the gateway's hash
// sends over device.
func (d *deployment) flowOver(t *testing.T, device string, i int) labtest.Flow {
	t.Helper()
	server := vcn1Servers[i%len(vcn1Servers)]
	const tries = 100
	first := 40000 + i*tries
	devices := labtest.FlowDevices(t, d.gw, clientHost, server, firstPort+i, first, tries)
	if n := slices.Index(devices, device); n >= 0 {
		return labtest.Flow{From: d.client, To: server, Port: firstPort + i, ClientPort: first + n, Seconds: flowSeconds}
	}
	t.Fatalf("no client port in %d sends a flow to %s over %s: the hash does not use it", tries, server, device)
	return labtest.Flow{}
}

// throughput of four TCP flows, in bit/s.
type throughput struct {
	one   float64 // all over one tunnel
	eight float64 // over four of the eight, as many as there are flows
	plain float64 // over no tunnel
}

// measure runs the four-flow measurements; startServers must have been called.
func (d *deployment) measure(t *testing.T) throughput {
	t.Helper()
	var one, eight, plain []labtest.Flow
	for i := range 4 {
		one = append(one, d.flowOver(t, "oci1", i))
		eight = append(eight, d.flowOver(t, azureTunnels[2*i].name(), i))
		plain = append(plain, labtest.Flow{From: d.client, To: vcn2Server, Port: firstPort + i, Seconds: flowSeconds})
	}
	var best throughput
	for range measureRounds {
		best.one = max(best.one, labtest.Sum(labtest.RunFlows(t, one...)))
		best.eight = max(best.eight, labtest.Sum(labtest.RunFlows(t, eight...)))
		best.plain = max(best.plain, labtest.Sum(labtest.RunFlows(t, plain...)))
	}
	return best
}

// throughputTable prints our figures beside charon's of the same run.
func throughputTable(ours, charons throughput) string {
	var b strings.Builder
	fmt.Fprintf(&b, "four TCP flows    %14s %14s %8s\n", "ipsecd-charon", "charon-charon", "ratio")
	row := func(name string, a, c float64) {
		fmt.Fprintf(&b, "%-17s %8.1f Mbit/s %7.1f Mbit/s %8.2f\n", name, a/1e6, c/1e6, a/c)
	}
	row("one tunnel", ours.one, charons.one)
	row("eight tunnels", ours.eight, charons.eight)
	row("no tunnel", ours.plain, charons.plain)
	return b.String()
}

// hashPorts makes the gateway choose paths by addresses and ports, as its hash
// policy 1 does for packets from a wire. Over a veth, packets still carry a
// random hash of their sender's socket, which policy 1 would take for theirs;
// policy 3 with the same fields looks at the packet.
func (d *deployment) hashPorts(t *testing.T) {
	t.Helper()
	d.gw.Sysctl(t, "net.ipv4.fib_multipath_hash_fields=0x37", "net.ipv4.fib_multipath_hash_policy=3")
}
