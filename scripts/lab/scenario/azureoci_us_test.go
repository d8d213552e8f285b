//go:build lab

package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// startCharonGateway makes strongSwan and BIRD our side: what ipsecd is compared with.
func (d *deployment) startCharonGateway(t *testing.T) *labtest.Charon {
	t.Helper()
	d.gw.IP(t, "route add blackhole "+vcn1+" metric 4000")
	t.Cleanup(func() { d.gw.IP(t, "route del blackhole "+vcn1+" metric 4000") })
	c := startCharon(t, d.gw, perTunnel(azureTunnel.connection), perTunnel(azureTunnel.ourInterface))
	labtest.StartBird(t, d.gw, gatewayBirdConf())
	return c
}

// gatewayBirdConf has the nine sessions of our side.
func gatewayBirdConf() string {
	var b strings.Builder
	fmt.Fprintf(&b, `log stderr all;
router id %s;
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
    ipv4 { export where net = %s; next hop self; };
}
`, gateway, ourAS, clientNet)
	for _, a := range azureTunnels {
		b.WriteString(birdSession(a.name(), a.ours, a.theirs, theirAS))
	}
	fmt.Fprintf(&b, "protocol bgp bgp_circuit from tunnel { source address %s; neighbor %s as %d; ipv4 { import all; }; }\n",
		gateway, circuitBGP, theirAS)
	return b.String()
}

// metricsListen is where ipsecd serves its metrics, in the gateway's namespace.
const metricsListen = "127.0.0.1:9814"

// newIpsecd prepares ipsecd as our side, with the example's configuration as it
// is shipped, and more sections after it.
func (d *deployment) newIpsecd(t *testing.T, more string) *labtest.Ipsecd {
	t.Helper()
	example, err := os.ReadFile(filepath.Join(labtest.SourceRoot(), "examples/azure-oci/ipsecd.conf"))
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for _, a := range azureTunnels {
		keys["keys/"+a.name()+".psk"] = a.psk() + "\n"
	}
	return labtest.NewIpsecd(t, d.gw, string(example)+more, keys)
}

// startIpsecd makes ipsecd our side.
func (d *deployment) startIpsecd(t *testing.T, more string) *labtest.Ipsecd {
	t.Helper()
	i := d.newIpsecd(t, more)
	i.Start(t)
	return i
}
