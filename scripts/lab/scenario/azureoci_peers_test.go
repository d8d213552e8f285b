//go:build lab

package scenario

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// deployTime is how long the whole deployment may take to come up: eight key
// exchanges, nine BGP sessions, in emulation on a loaded machine.
const deployTime = 5 * time.Minute

// startPeers starts the head-ends, their BGP speaker and the circuit's.
func (d *deployment) startPeers(t *testing.T) {
	t.Helper()
	addInterfaces(t, d.oci, perTunnel(azureTunnel.theirInterface))
	d.answerOverTheSameTunnel(t)
	d.headEnds = labtest.StartCharon(t, d.oci)
	conns := reversed(perTunnel(azureTunnel.connection))
	for i := range conns {
		// The head-ends answer; whose tunnel it is to keep up is our side's business.
		conns[i].options = "dpd_delay = 10s"
		conns[i].childOptions = "dpd_action = clear\n                replay_window = 4096"
	}
	d.headEnds.Load(t, swanctlConf(conns))
	d.bird = labtest.StartBird(t, d.oci, headEndBirdConf())
	d.frr = labtest.StartFRR(t, d.circuit, circuitFRRConf())
}

// answerOverTheSameTunnel routes by source address: in the field the head-ends
// are machines of their own, here they share a routing table in which two
// tunnels lead to the same address of ours.
func (d *deployment) answerOverTheSameTunnel(t *testing.T) {
	t.Helper()
	var commands []string
	for _, a := range azureTunnels {
		ours, _, _ := strings.Cut(a.ours, "/")
		theirs, _, _ := strings.Cut(a.theirs, "/")
		commands = append(commands,
			fmt.Sprintf("rule add from %s lookup %d", theirs, 100+a.n),
			fmt.Sprintf("route add %s dev %s src %s table %d", ours, a.name(), theirs, 100+a.n))
	}
	d.oci.IP(t, commands...)
}

// headEndBirdConf has a session over each tunnel that announces VCN1.
func headEndBirdConf() string {
	var b strings.Builder
	fmt.Fprintf(&b, `log stderr all;
router id 192.168.1.1;
protocol device { scan time 5; }
protocol direct { ipv4; interface "lan"; }
protocol kernel {
    ipv4 { import none; export where source = RTS_BGP; };
    merge paths on limit 16;
}
template bgp tunnel {
    local as %d;
    hold time 30;
    keepalive time 10;
    connect delay time 1;
    connect retry time 5;
    error wait time 1, 5;
    ipv4 {
        export where net = %s;
        next hop self;
    };
}
`, theirAS, vcn1)
	for _, a := range azureTunnels {
		b.WriteString(birdSession(a.name(), a.theirs, a.ours, ourAS))
	}
	return b.String()
}

// birdSession is one BGP session over an interface. What it learns is routed out of
// that interface: BIRD would look for the next hop's address, which two have.
func birdSession(device, local, remote string, remoteAS int) string {
	local, _, _ = strings.Cut(local, "/")
	remote, _, _ = strings.Cut(remote, "/")
	return fmt.Sprintf(`protocol bgp bgp_%s from tunnel {
    source address %s;
    neighbor %s as %d;
    interface "%s";
    ipv4 { import filter { ifname = "%s"; accept; }; };
}
`, device, local, remote, remoteAS, device, device)
}

// circuitFRRConf announces VCN2 over the plain circuit.
func circuitFRRConf() string {
	return fmt.Sprintf(`frr defaults datacenter
hostname circuit
log stdout informational
router bgp %d
 bgp router-id %s
 no bgp ebgp-requires-policy
 no bgp network import-check
 timers bgp 10 30
 neighbor %s remote-as %d
 neighbor %s timers connect 5
 address-family ipv4 unicast
  network %s
 exit-address-family
`, theirAS, circuitBGP, gateway, ourAS, gateway, vcn2)
}

// awaitUp waits until all of the deployment works, seen from the peers and from
// our kernel: eight tunnels, nine sessions, 8-way to VCN1, plain to VCN2.
func (d *deployment) awaitUp(t *testing.T) {
	t.Helper()
	labtest.WaitFor(t, deployTime, "eight tunnels", wantChildren(d.headEnds.Vici, 8))
	labtest.WaitFor(t, deployTime, "the head-ends' BGP sessions", d.bird.WantEstablished(t, 8))
	labtest.WaitFor(t, deployTime, "the circuit's BGP session", d.frr.WantEstablished(t, 1))
	labtest.WaitFor(t, deployTime, "the 8-way route to VCN1", labtest.WantPaths(t, d.gw, vcn1, tunnelNames()...))
	labtest.WaitFor(t, deployTime, "the 8-way route back", labtest.WantPaths(t, d.oci, clientNet, tunnelNames()...))
	labtest.WaitFor(t, deployTime, "the plain route to VCN2", labtest.WantPaths(t, d.gw, vcn2, "wan0"))
	labtest.WaitFor(t, deployTime, "the plain route back", labtest.WantPaths(t, d.circuit, clientNet, "azure"))
}

// wantChildren is a condition for WaitFor: a daemon has n CHILD_SAs installed.
func wantChildren(v labtest.Vici, n int) func() error {
	return func() error {
		sas, err := v.SAs()
		if err != nil {
			return err
		}
		installed := 0
		for _, sa := range sas {
			for _, c := range sa.Children {
				if c.State == "INSTALLED" {
					installed++
				}
			}
		}
		if installed != n {
			return fmt.Errorf("%d CHILD_SAs are installed, want %d", installed, n)
		}
		return nil
	}
}
