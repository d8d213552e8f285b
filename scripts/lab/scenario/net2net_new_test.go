//go:build lab

package scenario

import (
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// innerRouters are what ICMP errors come from, by the role of the namespace: no selectors have them.
var innerRouters = map[string]string{"alice": "192.0.2.6", "bob": "192.0.2.7"}

// TestNewKernelSites are scenarios that Debian 12's kernel is too old for, with strongSwan 6 as peer.
func TestNewKernelSites(t *testing.T) {
	needIpsecd(t)
	labtest.NeedKernel(t, 6, 13)
	s := newSites(t)
	s.charon = labtest.StartCharon6
	for _, n := range []*labtest.Netns{s.alice, s.bob} {
		router := innerRouters[n.Role]
		n.Router(t)
		n.IP(t, "addr add "+router+"/32 dev out", "link add narrow type dummy", "link set narrow mtu 600 up")
		gateway := strings.Fields(n.Run(t, "ip", "route", "show", "default"))[2]
		n.IP(t, "route replace default via "+gateway+" src "+router)
	}
	runSites(t, s, []siteScenario{
		{name: "icmp-forward", edit: withICMPErrors, check: icmpErrors},
		{name: "per-cpu", edit: withPerCPU, instead: eachCPU},
	}, "")
}

func withICMPErrors(_ *testing.T, _ *sites, l *link, _ *siteFiles) {
	l.a.child, l.b.child = "icmp = yes", "icmp = yes"
}

// icmpErrors has hosts learn from routers behind the other gateway why a packet does not arrive, though no traffic selectors have
// those routers' addresses: with icmp = yes, the gateways take an error for what it is about. Either site asks for a host that the
// other one cannot reach, and for one that large packets do not reach.
func icmpErrors(t *testing.T, _ *sites, l *link) {
	for _, way := range []struct{ from, to siteEnd }{{l.a, l.b}, {l.b, l.a}} {
		net := strings.TrimSuffix(way.to.net, "0/24")
		gone, narrow := net+"66", net+"77"
		way.to.ns.IP(t, "route add "+gone+" via "+way.to.host, "route add "+narrow+" via "+way.to.host)
		way.to.hosts.IP(t, "route add unreachable "+gone, "route add "+narrow+" dev narrow")
		wantError(t, way.from, way.to, gone, "Destination Host Unreachable")
		wantError(t, way.from, way.to, narrow, "Frag needed and DF set (mtu = 600)", "-M", "do", "-s", "1000")
	}
}

// wantError pings a host, and fails t unless the other site's router says why there is no answer.
func wantError(t *testing.T, from, to siteEnd, host, why string, options ...string) {
	t.Helper()
	out, _ := from.hosts.Try("ping", append(options, "-c", "2", "-W", "10", "-I", from.host, host)...)
	if want := "From " + innerRouters[to.hosts.Role] + " icmp_seq=1 " + why; !strings.Contains(out, want) {
		t.Errorf("ping %s from %s: want %q, got\n%s", host, from.hosts.Role, want, out)
	}
}
