//go:build lab

package scenario

import (
	"fmt"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// sites are two networks, each behind a gateway, and the routers' world between
// the gateways. Our daemon runs on one gateway, the peer's on the other.
//
//	alice ------- us ------- transit ------- them ------- bob
//	    10.60/16     10.50/16        10.52/16     10.70/16
//	    fd60::/64    fd50::/64       fd52::/64    fd70::/64
//
// Tunnel n has addresses of its own everywhere, so that all tunnels of a test live
// side by side between one pair of daemons. Without a tunnel, what alice sends to
// bob comes to transit in the clear, and is seen there.
type sites struct {
	alice, us, transit, them, bob *labtest.Netns

	interfaces []tunnelInterface // that ipsecd makes
	charon     func(testing.TB, *labtest.Netns, ...string) *labtest.Charon
	tap        *labtest.Capture // of a run's scenarios
}

func newSites(t *testing.T) *sites {
	t.Helper()
	s := &sites{
		alice:   labtest.NewNetns(t, "alice"),
		us:      labtest.NewNetns(t, "us"),
		transit: labtest.NewNetns(t, "transit"),
		them:    labtest.NewNetns(t, "them"),
		bob:     labtest.NewNetns(t, "bob"),
		charon:  labtest.StartCharon,
	}
	for _, router := range []*labtest.Netns{s.us, s.transit, s.them} {
		router.Router(t)
	}
	s.join(t, s.alice, s.us, 60)
	s.join(t, s.bob, s.them, 70)
	s.join(t, s.us, s.transit, 50)
	s.join(t, s.them, s.transit, 52)
	return s
}

// join connects a namespace to its router by network 10.net.0.0/16, and gives it
// the address of every tunnel. The router's device is called as the namespace.
func (s *sites) join(t *testing.T, n, router *labtest.Netns, net int) {
	t.Helper()
	four := fmt.Sprintf("10.%d.0.%%d/16", net)
	if router != s.transit {
		four = fmt.Sprintf("10.%d.%%d.10/16", net)
	}
	gateway, gateway6 := fmt.Sprintf("10.%d.255.254", net), fmt.Sprintf("fd%d::ffff:1", net)
	labtest.Link(t,
		labtest.End{Netns: n, Device: "out", Addresses: hosts(four, fmt.Sprintf("fd%d::%%d:a/64", net))},
		labtest.End{Netns: router, Device: n.Role, Addresses: []string{gateway + "/16", gateway6 + "/64"}})
	n.IP(t, "route add default via "+gateway, "route add ::/0 via "+gateway6)
}

// The addresses of tunnel n.
func usOuter(n int) string   { return fmt.Sprintf("10.50.0.%d", n) }
func themOuter(n int) string { return fmt.Sprintf("10.52.0.%d", n) }
func aliceAt(n int) string   { return fmt.Sprintf("10.60.%d.10", n) }
func bobAt(n int) string     { return fmt.Sprintf("10.70.%d.10", n) }
func aliceNet(n int) string  { return fmt.Sprintf("10.60.%d.0/24", n) }
func bobNet(n int) string    { return fmt.Sprintf("10.70.%d.0/24", n) }

// And those of IPv6.
func usOuter6(n int) string   { return fmt.Sprintf("fd50::%d:a", n) }
func themOuter6(n int) string { return fmt.Sprintf("fd52::%d:a", n) }
func aliceAt6(n int) string   { return fmt.Sprintf("fd60::%d:a", n) }
func bobAt6(n int) string     { return fmt.Sprintf("fd70::%d:a", n) }
func aliceNet6(n int) string  { return fmt.Sprintf("fd60::%d:0/112", n) }
func bobNet6(n int) string    { return fmt.Sprintf("fd70::%d:0/112", n) }

// clearSites matches what the gateways should never have let out.
const clearSites = "net 10.60.0.0/16 or net 10.70.0.0/16 or net fd60::/64 or net fd70::/64"

// clearAlice matches what alice's gateway should never have let out, if bob's has nothing that keeps his packets in
// while it has no tunnel.
const clearAlice = "src net 10.60.0.0/16 or src net fd60::/64"

// capture records what comes to transit and what leaves it: there nothing has been
// decrypted.
func (s *sites) capture(t *testing.T) *labtest.Capture {
	t.Helper()
	return labtest.StartCapture(t, s.transit, "any")
}
