//go:build lab

package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestDemo brings the deployment up with ipsecd and tells what it does.
func TestDemo(t *testing.T) {
	needIpsecd(t)
	s := story{t: t, start: time.Now()}
	s.say(`An Azure gateway (ipsecd) and Oracle Cloud (strongSwan, BIRD, FRR), each host a network namespace:

    client --lan-- gw --wan0-- circuit --+-- eight head-ends --- VCN1, four servers, only ever encrypted
  10.1.0.4      10.30.0.6   10.30.0.1    |   192.168.1.1-8       10.2.0.11-14
                                         +-- VCN2, one server, in the clear
                                             10.3.0.11`)
	s.command("the kernel", nil, "uname", "-sr")

	s.step("Network, head-ends and BGP speakers")
	d := newDeployment(t)
	d.startServers(t)

	s.step("ipsecd --config examples/azure-oci/ipsecd.conf")
	us := d.startIpsecd(t, "")
	labtest.WaitFor(t, deployTime, "eight tunnels", wantChildren(us.Vici, 8))
	s.step("Eight tunnels are up; waiting for nine BGP sessions and 8-way routes")
	d.awaitUp(t)
	s.step("All up")
	s.command("the route to VCN1, eight ways", d.gw, "ip", "route", "show", vcn1)
	s.command("and its group of nexthops", d.gw, "ip", "nexthop", "show")
	s.command("the route to VCN2, over the circuit", d.gw, "ip", "route", "show", vcn2)
	s.command("one SA of the kernel, its keys hidden", d.gw, "ip", "xfrm", "state", "list", "nokeys", "dst", "192.168.1.1")
	s.say("driver of rfc4106(gcm(aes)): %s", labtest.CryptoDriver(t, "rfc4106(gcm(aes))"))

	s.step("Eight TCP flows from the client to VCN1, one to VCN2")
	capture := d.captureCircuit(t)
	labtest.Ping(t, d.client, 3, vcn1Servers[0])
	labtest.Ping(t, d.client, 3, vcn2Server)
	capture.Finish(t)
	s.say("on the circuit, of three pings to each: %d ESP packets, %d packets of VCN2 in the clear, %d of VCN1 in the clear",
		capture.Count(t, "esp"), capture.Count(t, "icmp and net "+vcn2), capture.Count(t, clearVCN1))
	d.demoFlows(t, s)

	s.step("What an operator sees")
	s.ipsecctl(us, "show")
	s.ipsecctl(us, "show", "bgp")
	s.ipsecctl(us, "show", "routes")
	s.say("$ curl -s %s/metrics | grep ipsec_child_bytes_total\n%s", metricsListen, grep(scrape(t, d.gw), "ipsec_child_bytes_total{"))
	s.say("$ ip -s xfrm state, bytes\n%s", saBytes(t, d))

	s.step("One tunnel is taken down: its share moves to the other seven")
	d.demoDown(t, s, us)

	s.step("Done. Logs come back in build/lab/TestDemo; 'make lab' runs every scenario, with failures of all kinds")
}

// demoFlows sends one flow over each tunnel at once and prints where it went.
func (d *deployment) demoFlows(t *testing.T, s story) {
	t.Helper()
	d.hashPorts(t)
	before := bytesOut(t, d)
	var flows []labtest.Flow
	for i, name := range tunnelNames() {
		flows = append(flows, d.flowOver(t, name, i))
	}
	results := labtest.RunFlows(t, flows...)
	after := bytesOut(t, d)
	plain := labtest.RunFlows(t, labtest.Flow{From: d.client, To: vcn2Server, Port: firstPort, Seconds: flowSeconds})
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %-14s %-12s %12s %16s\n", "tunnel", "head-end", "server", "Mbit/s", "bytes by its SA")
	for i, a := range azureTunnels {
		fmt.Fprintf(&b, "%-8s %-14s %-12s %12.1f %16d\n", a.name(), a.headEnd(), flows[i].To, results[i].BitsPerSecond/1e6, after[a.headEnd()]-before[a.headEnd()])
	}
	fmt.Fprintf(&b, "%-8s %-14s %-12s %12.1f\n", "none", "", vcn2Server, plain[0].BitsPerSecond/1e6)
	s.say("%s(emulated processors: only ratios mean something)", b.String())
}

// demoDown takes a tunnel down and up again.
func (d *deployment) demoDown(t *testing.T, s story, us *labtest.Ipsecd) {
	t.Helper()
	others := slices.DeleteFunc(tunnelNames(), func(n string) bool { return n == "oci3" })
	s.ipsecctl(us, "sa", "down", "oci3")
	labtest.WaitFor(t, deployTime, "VCN1 over seven tunnels", labtest.WantPaths(t, d.gw, vcn1, others...))
	s.ipsecctl(us, "show")
	s.ipsecctl(us, "sa", "up", "oci3")
	labtest.WaitFor(t, deployTime, "VCN1 over eight tunnels", labtest.WantPaths(t, d.gw, vcn1, tunnelNames()...))
}

// saBytes lists the kernel's counters by tunnel.
func saBytes(t *testing.T, d *deployment) string {
	t.Helper()
	var b strings.Builder
	states := labtest.XfrmStates(t, d.gw)
	slices.SortFunc(states, func(x, y labtest.XfrmState) int {
		return cmp.Or(cmp.Compare(x.IfID, y.IfID), cmp.Compare(x.Src, y.Src))
	})
	for _, x := range states {
		fmt.Fprintf(&b, "src %-13s dst %-13s spi 0x%08x if_id %d %12d bytes %8d packets\n", x.Src, x.Dst, x.SPI, x.IfID, x.Bytes, x.Packets)
	}
	return b.String()
}

// story prints to the reader of the demo.
type story struct {
	t     *testing.T
	start time.Time
}

func (s story) say(format string, args ...any) {
	fmt.Println(strings.TrimRight(fmt.Sprintf(format, args...), "\n") + "\n")
}

func (s story) step(what string) {
	fmt.Printf("== %3.0f s  %s\n\n", time.Since(s.start).Seconds(), what)
}

// command shows a command and what it prints.
func (s story) command(what string, n *labtest.Netns, args ...string) {
	s.t.Helper()
	where := "$ "
	var out string
	if n == nil {
		out = labtest.Run(s.t, args[0], args[1:]...)
	} else {
		where = n.Role + "$ "
		out = n.Run(s.t, args[0], args[1:]...)
	}
	s.say("%s%s    # %s\n%s", where, strings.Join(args, " "), what, strings.TrimRight(out, "\n"))
}

// ipsecctl shows an ipsecctl command and what it prints.
func (s story) ipsecctl(us *labtest.Ipsecd, args ...string) {
	s.t.Helper()
	out, err := us.Ctl(args...)
	if err != nil {
		s.t.Error(err)
	}
	s.say("gw$ ipsecctl %s\n%s", strings.Join(args, " "), strings.TrimRight(out, "\n"))
}

// grep returns the lines that contain text.
func grep(s, text string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if strings.Contains(line, text) {
			b.WriteString(line)
		}
	}
	return b.String()
}
