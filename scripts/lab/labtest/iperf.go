package labtest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"
)

// IperfServers starts an iperf3 server on each port of the namespace, and waits
// until they listen. A server takes one flow at a time.
func IperfServers(t testing.TB, n *Netns, ports ...int) {
	t.Helper()
	servers := make([]*Process, len(ports))
	for i, port := range ports {
		servers[i] = Start(t, n, fmt.Sprintf("iperf3-server-%s-%d", n.Role, port), nil, "iperf3", "-s", "-p", strconv.Itoa(port), "--forceflush")
	}
	for _, p := range servers {
		p.WaitLog(t, startTimeout, "Server listening")
	}
}

// Flow is one TCP connection of iperf3.
type Flow struct {
	From       *Netns
	Bind       string // our address; empty: any
	To         string // the server's address
	Port       int
	ClientPort int    // 0: any
	Seconds    int    // how long it runs, unless Bytes is set
	Bytes      int    // how much it moves
	Rate       string // at most, as iperf3 reads it (20M); empty: no limit
}

// IperfResult is what iperf3 measured of one flow.
type IperfResult struct {
	BitsPerSecond float64 // received
	Bytes         uint64  // received
	Retransmits   int
}

// RunFlows runs iperf3 flows side by side and waits for all.
func RunFlows(t testing.TB, flows ...Flow) []IperfResult {
	t.Helper()
	running := make([]*Process, len(flows))
	for i, f := range flows {
		running[i] = StartFlow(t, f)
	}
	results := make([]IperfResult, len(flows))
	for i, p := range running {
		results[i] = FlowResult(t, p, time.Duration(flows[i].Seconds)*time.Second)
	}
	return results
}

// StartFlow starts one iperf3 client.
func StartFlow(t testing.TB, f Flow) *Process {
	t.Helper()
	name := fmt.Sprintf("iperf3-client-%s-%d-%d", f.From.Role, f.Port, time.Now().UnixNano())
	args := []string{"-J", "-c", f.To, "-p", strconv.Itoa(f.Port), "--connect-timeout", "30000"}
	if f.Bind != "" {
		args = append(args, "-B", f.Bind)
	}
	if f.Bytes > 0 {
		args = append(args, "-n", strconv.Itoa(f.Bytes))
	} else {
		args = append(args, "-t", strconv.Itoa(f.Seconds))
	}
	if f.Rate != "" {
		args = append(args, "-b", f.Rate)
	}
	if f.ClientPort != 0 {
		args = append(args, "--cport", strconv.Itoa(f.ClientPort))
	}
	return Start(t, f.From, name, nil, "iperf3", args...)
}

// FlowResult waits for a flow that lasts d and reads what it measured.
func FlowResult(t testing.TB, p *Process, d time.Duration) IperfResult {
	t.Helper()
	err := p.Wait(t, d+startTimeout)
	var report struct {
		Error string
		End   struct {
			Sent struct {
				Retransmits int
			} `json:"sum_sent"`
			Received struct {
				BitsPerSecond float64 `json:"bits_per_second"`
				Bytes         uint64
			} `json:"sum_received"`
		}
	}
	if jsonErr := json.Unmarshal([]byte(p.Log()), &report); jsonErr != nil || err != nil || report.Error != "" {
		t.Fatalf("%s: %v %v %s", p.Name, err, jsonErr, report.Error)
	}
	return IperfResult{
		BitsPerSecond: report.End.Received.BitsPerSecond,
		Bytes:         report.End.Received.Bytes,
		Retransmits:   report.End.Sent.Retransmits,
	}
}

// Sum adds the throughput of flows.
func Sum(results []IperfResult) (bitsPerSecond float64) {
	for _, r := range results {
		bitsPerSecond += r.BitsPerSecond
	}
	return bitsPerSecond
}
