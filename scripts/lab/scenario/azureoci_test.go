//go:build lab

package scenario

import (
	"fmt"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// The deployment: an Azure gateway (ours) and Oracle Cloud (theirs) joined by
// eight tunnels with BGP, over a circuit that also reaches a network in the
// clear.
const (
	ourAS      = 65515
	theirAS    = 31898
	gateway    = "10.30.0.6"
	clientNet  = "10.1.0.0/16"
	vcn1       = "10.2.0.0/16" // only ever encrypted
	vcn2       = "10.3.0.0/16" // in the clear
	clientHost = "10.1.0.4"
	vcn2Server = "10.3.0.11"
	circuitBGP = "10.30.0.1"
	tunnelMTU  = 1400
)

// vcn1Servers are the four that must only be reached encrypted.
var vcn1Servers = []string{"10.2.0.11", "10.2.0.12", "10.2.0.13", "10.2.0.14"}

// azureTunnel is one of the eight, with BGP addresses that overlap and, on our
// side, repeat.
type azureTunnel struct {
	n            int
	ours, theirs string // with prefix length
}

var azureTunnels = []azureTunnel{
	{1, "169.254.21.5/31", "169.254.21.4/31"},
	{2, "169.254.21.5/30", "169.254.21.6/30"},
	{3, "169.254.21.9/31", "169.254.21.8/31"},
	{4, "169.254.21.9/30", "169.254.21.10/30"},
	{5, "169.254.21.13/31", "169.254.21.12/31"},
	{6, "169.254.21.13/30", "169.254.21.14/30"},
	{7, "169.254.21.17/31", "169.254.21.16/31"},
	{8, "169.254.21.17/30", "169.254.21.18/30"},
}

func (a azureTunnel) name() string    { return fmt.Sprintf("oci%d", a.n) }
func (a azureTunnel) headEnd() string { return fmt.Sprintf("192.168.1.%d", a.n) }
func (a azureTunnel) psk() string     { return fmt.Sprintf("canary-psk-of-tunnel-%d-8b1f", a.n) }

// connection is the tunnel as our side is configured.
func (a azureTunnel) connection() connection {
	return connection{
		name:         a.name(),
		local:        gateway,
		remote:       a.headEnd(),
		localID:      gateway,
		remoteID:     a.headEnd(),
		ike:          "aes256gcm16-prfsha384-ecp384",
		esp:          "aes256gcm16-ecp384",
		localTS:      "0.0.0.0/0",
		remoteTS:     "0.0.0.0/0",
		ifID:         a.n,
		psk:          a.psk(),
		start:        true,
		options:      "dpd_delay = 10s\n        keyingtries = 0",
		childOptions: "dpd_action = restart\n                close_action = start\n                replay_window = 4096",
	}
}

func (a azureTunnel) ourInterface() tunnelInterface {
	return tunnelInterface{a.name(), a.n, []string{a.ours}, tunnelMTU}
}

func (a azureTunnel) theirInterface() tunnelInterface {
	return tunnelInterface{a.name(), a.n, []string{a.theirs}, tunnelMTU}
}

// perTunnel maps the eight tunnels.
func perTunnel[T any](f func(azureTunnel) T) []T {
	out := make([]T, len(azureTunnels))
	for i, a := range azureTunnels {
		out[i] = f(a)
	}
	return out
}

// tunnelNames are oci1 to oci8.
func tunnelNames() []string { return perTunnel(azureTunnel.name) }

// deployment is the network, and everything of it that is not ours.
//
//	client --lan-- gw --wan0- circuit --+-- oci --- vcn1
//	    10.1/16  10.30.0.6  10.30.0.1   |   192.168.1.1-8, 10.2/16
//	                                    +-- vcn2, 10.3/16
type deployment struct {
	client, gw, circuit, oci, vcn1, vcn2 *labtest.Netns

	headEnds *labtest.Charon // eight head-ends, one daemon
	bird     *labtest.Bird   // their BGP speakers
	frr      *labtest.FRR    // the circuit's BGP speaker
}

// newDeployment builds the network and starts the peers.
func newDeployment(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{
		client:  labtest.NewNetns(t, "client"),
		gw:      labtest.NewNetns(t, "gw"),
		circuit: labtest.NewNetns(t, "circuit"),
		oci:     labtest.NewNetns(t, "oci"),
		vcn1:    labtest.NewNetns(t, "vcn1"),
		vcn2:    labtest.NewNetns(t, "vcn2"),
	}
	d.wire(t)
	d.startPeers(t)
	return d
}

// wire joins the namespaces. The gateway has a default route over the circuit,
// and the circuit knows the way to VCN1: without protection, traffic to it would
// arrive in the clear.
func (d *deployment) wire(t *testing.T) {
	t.Helper()
	for _, n := range []*labtest.Netns{d.gw, d.circuit, d.oci} {
		n.Router(t)
	}
	labtest.Link(t,
		labtest.End{Netns: d.client, Device: "eth0", Addresses: []string{clientHost + "/16"}},
		labtest.End{Netns: d.gw, Device: "lan", Addresses: []string{"10.1.0.1/16"}})
	labtest.Link(t,
		labtest.End{Netns: d.gw, Device: "wan0", Addresses: []string{gateway + "/24"}},
		labtest.End{Netns: d.circuit, Device: "azure", Addresses: []string{circuitBGP + "/24"}})
	labtest.Link(t,
		labtest.End{Netns: d.circuit, Device: "oci", Addresses: []string{"192.168.1.254/24"}},
		labtest.End{Netns: d.oci, Device: "wan", Addresses: perTunnel(func(a azureTunnel) string { return a.headEnd() + "/24" })})
	var servers []string
	for _, s := range vcn1Servers {
		servers = append(servers, s+"/16")
	}
	labtest.Link(t,
		labtest.End{Netns: d.oci, Device: "lan", Addresses: []string{"10.2.0.1/16"}},
		labtest.End{Netns: d.vcn1, Device: "eth0", Addresses: servers})
	labtest.Link(t,
		labtest.End{Netns: d.circuit, Device: "vcn2", Addresses: []string{"10.3.0.1/16"}},
		labtest.End{Netns: d.vcn2, Device: "eth0", Addresses: []string{vcn2Server + "/16"}})

	d.client.IP(t, "route add default via 10.1.0.1")
	d.gw.IP(t, "route add default via "+circuitBGP)
	d.circuit.IP(t, "route add "+vcn1+" via 192.168.1.1")
	d.oci.IP(t, "route add 10.30.0.0/24 via 192.168.1.254")
	d.vcn1.IP(t, "route add default via 10.2.0.1")
	d.vcn2.IP(t, "route add default via 10.3.0.1")
}
