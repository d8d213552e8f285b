//go:build lab

package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestNAT has the initiator, then both ends, behind a NAT.
func TestNAT(t *testing.T) {
	needIpsecd(t)
	runSites(t, newSites(t), []siteScenario{
		{name: "nat", edit: behindNAT, check: awaitKeepalive, encap: true},
		{name: "double-nat", edit: behindTwoNATs, encap: true},
	}, "keep_alive = 1s")
}

// towards is transit's device that leads to a gateway.
func towards(g siteEnd) string { return g.ns.Role }

// behindNAT hides the initiator: transit sends its packets on under its own address.
func behindNAT(t *testing.T, s *sites, l *link, _ *siteFiles) {
	l.b.peer = "%any"
	s.transit.Nft(t, fmt.Sprintf(`
table ip nat-%[1]s {
    chain postrouting {
        type nat hook postrouting priority srcnat
        ip saddr %[2]s oifname "%[3]s" masquerade
    }
}
`, l.name, l.a.addr, towards(l.b)))
}

// behindTwoNATs has the responder too where only transit can reach it, under an
// address of transit's.
func behindTwoNATs(t *testing.T, s *sites, l *link, f *siteFiles) {
	behindNAT(t, s, l, f)
	l.a.peer = fmt.Sprintf("10.50.255.%d", l.n)
	if l.a.ns == s.them {
		l.a.peer = fmt.Sprintf("10.52.255.%d", l.n)
	}
	s.transit.IP(t, fmt.Sprintf("addr add %s/32 dev %s", l.a.peer, towards(l.a)))
	s.transit.Nft(t, fmt.Sprintf(`
table ip dnat-%[1]s {
    chain prerouting {
        type nat hook prerouting priority dstnat
        ip daddr %[2]s dnat to %[3]s
    }
}
`, l.name, l.a.peer, l.b.addr))
}

// awaitKeepalive waits for a NAT keepalive (RFC 3948 section 2.3) of the initiator: one
// octet in UDP.
func awaitKeepalive(t *testing.T, s *sites, l *link) {
	s.tap.WaitCount(t, time.Minute, "dst host "+l.b.addr+" and udp port 4500 and udp[4:2] = 9", 1)
}

// TestNet2NetActions has tunnels that come up by themselves: at the start, and by
// the first packet.
func TestNet2NetActions(t *testing.T) {
	needIpsecd(t)
	runSites(t, newSites(t), []siteScenario{
		{name: "start", auto: true, edit: func(_ *testing.T, _ *sites, l *link, _ *siteFiles) { l.a.child = "start_action = start" }},
		{name: "route", auto: true, edit: func(_ *testing.T, _ *sites, l *link, _ *siteFiles) { l.a.child = "start_action = trap" }, before: firstPacket},
		{name: "psk-fail", edit: otherSecret, instead: refused},
	}, quickRetransmit)
}

// quickRetransmit lets a daemon that was early ask again soon.
const quickRetransmit = "retransmit_timeout = 1.0\nretransmit_base = 1.5"

// firstPacket sends to the other site until somebody answers.
func firstPacket(t *testing.T, _ *sites, l *link) {
	if _, err := l.b.control.Child(l.name); err == nil {
		t.Error("there is a tunnel before the first packet")
	}
	awaitPing(t, l)
}

// awaitPing waits until the responder's site is reached from the initiator's, and
// returns how long that took.
func awaitPing(t *testing.T, l *link) time.Duration {
	t.Helper()
	start := time.Now()
	labtest.AwaitPing(t, l.a.hosts, faultTime, "-I", l.a.host, l.b.host)
	return time.Since(start)
}

// otherSecret has the initiator use a key of its own.
func otherSecret(_ *testing.T, _ *sites, l *link, _ *siteFiles) { l.a.secret = "another" }

// refused fails t if the tunnel comes up, or leaves anything behind.
func refused(t *testing.T, _ *sites, l *link) {
	_, err := l.a.control.Call("initiate", "child", l.name, "timeout", "60000")
	if err == nil {
		t.Fatal("the tunnel is up")
	}
	t.Logf("initiate: %v", err)
	awaitGone(t, l)
}
