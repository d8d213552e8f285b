//go:build lab

package scenario

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// strokeScenarios are those of strongSwan's test suite that are configured by ipsec.conf.
// Tunnel n of the second scenario has the networks of tunnel n+30 too: that is one of
// host-to-host6, which has none.
var strokeScenarios = []siteScenario{
	{name: "psk", edit: alsoSections},
	{name: "subnets", edit: secondNets, check: pingSecond},
	{name: "cert", edit: certified("rsa")},
	{name: "rsa", edit: rawRSA},
	{name: "start", auto: true, edit: initiator("auto=start\nkeyingtries=%forever")},
	{name: "route", auto: true, edit: initiator("auto=route"), before: firstPacket},
	{name: "host-cert", edit: edits(gateways, certified("ecdsa256")), wire: noEcho},
	{name: "swapped", edit: edits(gateways, swappedSides), wire: noEcho},
	{name: "transport", edit: edits(gateways, bothEnds("type=transport")), wire: noEcho},
	{name: "nat-cert", edit: edits(behindNAT, certified("ecdsa256")), encap: true},
	{name: "nat-psk", edit: behindNAT, encap: true},
	{name: "protoport-dual", edit: dualProtocols, check: sendTCP},
	{name: "protoport-route", auto: true, edit: edits(bothEnds("leftprotoport=icmp\nrightprotoport=icmp"), initiator("auto=route")), before: firstPacket},
	{name: "rw-cert", edit: edits(roadWarrior, certified("ecdsa256"))},
	{name: "rw-psk-fqdn", edit: roadWarrior},
	{name: "rw-psk-ip", edit: edits(roadWarrior, addressesAsIDs)},
	{name: "host6", edit: edits(outerSix, gateways), wire: noEcho},
	{name: "net6", edit: edits(outerSix, innerSix)},
	{name: "net4-in-6", edit: outerSix},
	{name: "net6-in-4", edit: innerSix},
	{name: "transport6", edit: edits(outerSix, gateways, bothEnds("type=transport")), wire: noEcho},
	{name: "sha512", edit: edits(bothEnds("ike=aes256-sha512-ecp521!"), childSuite("aes256-sha512"))},
	{name: "null", edit: childSuite("null-sha256")},
	{name: "compress", edit: bothEnds("compress=yes")},
	{name: "rekey", edit: initiator("lifetime=30s\nmargintime=24s\nrekeyfuzz=0%\nreauth=no"), instead: renewed(childKey)},
	{name: "reauth", edit: initiator("ikelifetime=30s\nmargintime=24s\nrekeyfuzz=0%"), instead: renewed(ikeKey)},
}

// deadPeerActions are those of dpdaction.
var deadPeerActions = []string{"clear", "hold", "restart"}

// TestIpsecConfScenarios has ipsec.conf and ipsec.secrets at either end: ours are read by
// ipsecd, charon's by strongSwan's starter.
func TestIpsecConfScenarios(t *testing.T) {
	needIpsecd(t)
	s := newSites(t)
	var dead []*link
	for i, action := range deadPeerActions {
		for role, name := range []string{"us", "them"} {
			l := s.link("dpd-"+action+"-"+name, maxTunnels-2*i-role, role == 0)
			l.a.conn = "dpdaction=" + action + "\ndpddelay=1s"
			dead = append(dead, l)
		}
	}
	runSitesBy(t, s, strokeScenarios, func(links []*link, f *siteFiles) {
		s.startIpsec(t, append(links, dead...), f, "\tuniqueids=yes\n\tstrictcrlpolicy=yes\n", quickRetransmit+"\nretransmit_tries = 3")
	})
	t.Run("dpd", func(t *testing.T) { deadPeers(t, s, dead) })
}

// noEcho fails t if an echo request of the gateways crossed in the clear.
func noEcho(t *testing.T, c *labtest.Capture, l *link) {
	filter := "icmp[icmptype] = icmp-echo and host " + l.a.addr
	if strings.Contains(l.a.addr, ":") {
		filter = "icmp6 and ip6[40] = 128 and host " + l.a.addr
	}
	if n := c.Count(t, filter); n > 0 {
		t.Errorf("%s: %d packets crossed in the clear, the first of them:\n%s", l.name, n, c.Print(t, filter, 5))
	}
}

func childSuite(esp string) edit {
	return func(_ *testing.T, _ *sites, l *link, _ *siteFiles) { l.esp = esp }
}

// childKey and ikeKey return what changes with each CHILD_SA, and with each IKE SA.
func childKey(g siteEnd, name string) (string, error) {
	child, err := g.control.Child(name)
	return child.SPIIn, err
}

func ikeKey(g siteEnd, name string) (string, error) {
	ike, err := g.control.IKE(name)
	return ike.SPIInitiator, err
}

// renewed waits until an SA is replaced at the time that the initiator's lifetimes say, and
// uses the tunnel.
func renewed(key func(siteEnd, string) (string, error)) func(*testing.T, *sites, *link) {
	return func(t *testing.T, _ *sites, l *link) {
		l.a.control.Initiate(t, l.name)
		awaitChild(t, l.name, l.a.control, l.b.control)
		old, err := key(l.a, l.name)
		if err != nil {
			t.Fatal(err)
		}
		labtest.WaitFor(t, setupTime, "another SA", func() error {
			now, err := key(l.a, l.name)
			if err == nil && now == old {
				err = fmt.Errorf("still the old one")
			}
			return err
		})
		awaitPing(t, l)
		// Where the machine is slow, the next one may have begun.
		labtest.WaitFor(t, setupTime, l.name+" down", func() error {
			_ = l.a.control.Terminate(l.name)
			return goneAt(l.name, l.a.control, l.b.control)
		})
	}
}

// deadPeers cuts the sites off from each other until all tunnels are gone. Then those with
// restart come back by themselves, those with hold for the next packet, which does not
// leave before, those with clear if they are asked for.
func deadPeers(t *testing.T, s *sites, links []*link) {
	action := func(l *link) string { return deadPeerActions[(maxTunnels-l.n)/2] }
	for _, l := range links {
		l.a.control.Initiate(t, l.name)
		awaitChild(t, l.name, l.a.control, l.b.control)
	}
	capture := labtest.StartCapture(t, s.transit, "any")
	s.transit.Nft(t, "table ip cut {\n chain forward {\n  type filter hook forward priority filter\n  drop\n }\n}\n")
	for _, l := range links {
		labtest.WaitFor(t, faultTime, "the end of "+l.name, func() error { return goneAt(l.name, l.a.control) })
		if action(l) == "hold" {
			labtest.Unreachable(t, l.a.hosts, "-I", l.a.host, l.b.host)
		}
	}
	s.transit.Nft(t, "delete table ip cut\n")
	for _, l := range links {
		switch action(l) {
		case "hold":
			awaitPing(t, l)
		case "clear":
			if err := goneAt(l.name, l.a.control); err != nil {
				t.Error(err)
			}
			l.a.control.Initiate(t, l.name)
		}
		awaitChild(t, l.name, l.a.control, l.b.control)
		pingBothWays(t, l)
	}
	capture.WaitCount(t, time.Minute, "esp", 2*len(links))
	capture.Finish(t)
	for _, l := range links {
		filter := fmt.Sprintf("icmp and host %s", l.a.host)
		if n := capture.Count(t, filter); n > 0 {
			t.Errorf("%s: %d packets crossed in the clear, the first of them:\n%s", l.name, n, capture.Print(t, filter, 5))
		}
	}
}
