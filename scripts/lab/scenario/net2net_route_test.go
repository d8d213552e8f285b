//go:build lab

package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestRouteBased joins the sites by interfaces and routes, in the ways of
// strongSwan's test suite.
func TestRouteBased(t *testing.T) {
	needIpsecd(t)
	runSites(t, newSites(t), []siteScenario{
		{name: "xfrmi", edit: withInterfaces, up: routeOverInterfaces},
		{name: "xfrmi-ike", edit: withSharedIKE, up: secondChild, check: pingSecondNets},
		{name: "xfrmi-netns", edit: withForeignNamespace, up: routeToNamespace},
		{name: "shared-xfrmi", edit: withSharedInterface, up: secondPeer, check: pingSecondPeer},
		{name: "vti", edit: withVTI, up: routeOver("vti")},
		{name: "gre", edit: withGRE, up: routeOver("gre")},
	}, "")
}

// everything makes both selectors 0.0.0.0/0: routes choose what is sent.
func everything(l *link) {
	l.a.net, l.b.net = "0.0.0.0/0", "0.0.0.0/0"
}

func ifIDs(n int) string { return fmt.Sprintf("if_id_in = %[1]d\nif_id_out = %[1]d", n) }

func xfrmi(n int) string { return fmt.Sprintf("x%d", n) }

// addXfrmi makes the interface of tunnel n on a gateway: ipsecd does so itself.
func (s *sites) addXfrmi(t *testing.T, g *siteEnd, n int) {
	t.Helper()
	if g.ns == s.us {
		s.interfaces = append(s.interfaces, tunnelInterface{xfrmi(n), n, []string{fmt.Sprintf("172.20.%d.1/32", n)}, 1400})
		return
	}
	g.ns.IP(t, fmt.Sprintf("link add %s type xfrm dev lo if_id %d", xfrmi(n), n), "link set "+xfrmi(n)+" mtu 1400 up")
}

func withInterfaces(t *testing.T, s *sites, l *link, _ *siteFiles) {
	everything(l)
	for _, g := range []*siteEnd{&l.a, &l.b} {
		g.child = ifIDs(l.n)
		s.addXfrmi(t, g, l.n)
	}
}

func routeOverInterfaces(t *testing.T, _ *sites, l *link) {
	for _, r := range []struct{ from, to siteEnd }{{l.a, l.b}, {l.b, l.a}} {
		r.from.ns.IP(t, fmt.Sprintf("route add %s dev %s", r.to.host, xfrmi(l.n)))
	}
}

// secondNet is where the other nets of tunnel n begin.
const secondNet = 30

// withSharedIKE has the interface in the connection, and two children that inherit it.
func withSharedIKE(t *testing.T, s *sites, l *link, _ *siteFiles) {
	nets := map[string][2]string{
		"us":   {aliceNet(l.n + secondNet), bobNet(l.n + secondNet)},
		"them": {bobNet(l.n + secondNet), aliceNet(l.n + secondNet)},
	}
	for _, g := range []*siteEnd{&l.a, &l.b} {
		g.conn = ifIDs(l.n)
		g.more = fmt.Sprintf("%s-2 {\nlocal_ts = %s\nremote_ts = %s\nesp_proposals = aes128gcm16\n}", l.name, nets[g.ns.Role][0], nets[g.ns.Role][1])
		s.addXfrmi(t, g, l.n)
	}
}

func secondChild(t *testing.T, s *sites, l *link) {
	l.a.control.Initiate(t, l.name+"-2")
	routeOverInterfaces(t, s, l)
	us, them := s.ends(l)
	us.ns.IP(t, fmt.Sprintf("route add %s dev %s", bobNet(l.n+secondNet), xfrmi(l.n)))
	them.ns.IP(t, fmt.Sprintf("route add %s dev %s", aliceNet(l.n+secondNet), xfrmi(l.n)))
}

// pingSecondNets shows that both children serve the one interface.
func pingSecondNets(t *testing.T, s *sites, l *link) {
	labtest.Ping(t, s.alice, 2, "-I", aliceAt(l.n+secondNet), bobAt(l.n+secondNet))
	for _, g := range []siteEnd{l.a, l.b} {
		// The counts may be a moment older than the answer.
		labtest.WaitFor(t, 10*time.Second, g.ns.Role+" has counted both children's packets", func() error {
			return bothCarried(g, l.name)
		})
	}
}

// bothCarried returns an error unless the connection has two CHILD_SAs, and both
// have carried packets in both directions.
func bothCarried(g siteEnd, name string) error {
	ike, err := g.control.IKE(name)
	if err != nil {
		return err
	}
	if len(ike.Children) != 2 {
		return fmt.Errorf("%d CHILD_SAs, want 2 of one IKE SA", len(ike.Children))
	}
	for _, c := range ike.Children {
		if c.PacketsIn == 0 || c.PacketsOut == 0 {
			return fmt.Errorf("%s carried %d packets in, %d out", c.Name, c.PacketsIn, c.PacketsOut)
		}
	}
	return nil
}

// withForeignNamespace has the initiator's interface in a namespace that has
// nothing else: what it sends can only be encrypted.
func withForeignNamespace(t *testing.T, s *sites, l *link, _ *siteFiles) {
	everything(l)
	inside := labtest.NewNetns(t, "inside-"+l.a.ns.Role)
	l.a.ns.IP(t, fmt.Sprintf("link add %s type xfrm dev out if_id %d", xfrmi(l.n), l.n),
		fmt.Sprintf("link set %s netns %s", xfrmi(l.n), inside.Name))
	inside.IP(t, "link set "+xfrmi(l.n)+" mtu 1400 up", fmt.Sprintf("addr add %s/32 dev %s", l.a.host, xfrmi(l.n)),
		"route add default dev "+xfrmi(l.n))
	l.a.hosts = inside
	s.addXfrmi(t, &l.b, l.n)
	l.a.child, l.b.child = ifIDs(l.n), ifIDs(l.n)
}

func routeToNamespace(t *testing.T, _ *sites, l *link) {
	l.b.ns.IP(t, fmt.Sprintf("route add %s dev %s", l.a.host, xfrmi(l.n)))
}

// withSharedInterface has two peers behind the responder's one interface.
func withSharedInterface(t *testing.T, s *sites, l *link, _ *siteFiles) {
	l.second = s.link(l.name+"-2", l.n+secondNet, l.a.ns == s.us)
	s.addXfrmi(t, &l.b, l.n)
	l.b.child, l.second.b.child = ifIDs(l.n), ifIDs(l.n)
}

func secondPeer(t *testing.T, _ *sites, l *link) {
	l.second.a.control.Initiate(t, l.second.name)
	awaitChild(t, l.second.name, l.second.a.control, l.second.b.control)
	for _, to := range []string{l.a.host, l.second.a.host} {
		l.b.ns.IP(t, fmt.Sprintf("route add %s dev %s", to, xfrmi(l.n)))
	}
}

func pingSecondPeer(t *testing.T, _ *sites, l *link) {
	pingBothWays(t, l.second)
	checkStates(t, l.second, false)
	if err := l.second.a.control.Terminate(l.second.name); err != nil {
		t.Error(err)
	}
	// The other peer's tunnel, and the interface, stay.
	labtest.Ping(t, l.b.hosts, 2, "-I", l.b.host, l.a.host)
}

// device is the name of an interface of a kind for tunnel n.
func device(kind string, n int) string { return fmt.Sprintf("%s-%d", kind, n) }

// withVTI has an interface that marks its packets, and a child for that mark.
func withVTI(t *testing.T, _ *sites, l *link, _ *siteFiles) {
	everything(l)
	for _, g := range []struct{ me, other *siteEnd }{{&l.a, &l.b}, {&l.b, &l.a}} {
		g.me.child = fmt.Sprintf("mark_in = %[1]d\nmark_out = %[1]d", l.n)
		name := device("vti", l.n)
		g.me.ns.IP(t, fmt.Sprintf("link add %s type vti local %s remote %s key %d", name, g.me.addr, g.other.addr, l.n),
			fmt.Sprintf("link set %s mtu 1400 up", name))
		g.me.ns.Sysctl(t, "net.ipv4.conf."+name+".disable_policy=1")
	}
}

// withGRE encrypts a GRE tunnel between the gateways, in transport mode.
func withGRE(t *testing.T, _ *sites, l *link, _ *siteFiles) {
	for _, g := range []struct{ me, other *siteEnd }{{&l.a, &l.b}, {&l.b, &l.a}} {
		g.me.net = "dynamic[gre]"
		g.me.child = "mode = transport"
		name := device("gre", l.n)
		g.me.ns.IP(t, fmt.Sprintf("link add %s type gre local %s remote %s", name, g.me.addr, g.other.addr),
			fmt.Sprintf("link set %s mtu 1400 up", name))
	}
}

func routeOver(kind string) func(*testing.T, *sites, *link) {
	return func(t *testing.T, _ *sites, l *link) {
		l.a.ns.IP(t, fmt.Sprintf("route add %s dev %s", l.b.host, device(kind, l.n)))
		l.b.ns.IP(t, fmt.Sprintf("route add %s dev %s", l.a.host, device(kind, l.n)))
	}
}
