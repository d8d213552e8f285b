//go:build lab

package scenario

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// The hosts of a network in which everybody may speak to everybody.
const (
	meshMoon = iota
	meshSun
	meshCarol
	meshDave
)

var (
	meshNames = []string{"moon", "sun", "carol", "dave"}
	meshAddr  = []string{"192.168.0.1", "192.168.0.2", "192.168.0.100", "192.168.0.200"}
)

// newMesh joins the hosts by a router.
func newMesh(t *testing.T) (router *labtest.Netns, hosts []*labtest.Netns) {
	t.Helper()
	router = labtest.NewNetns(t, "net")
	router.Router(t)
	for i, name := range meshNames {
		h, via := labtest.NewNetns(t, name), fmt.Sprintf("192.168.1.%d", i)
		labtest.Link(t,
			labtest.End{Netns: h, Device: "net", Addresses: []string{meshAddr[i] + "/32"}},
			labtest.End{Netns: router, Device: name, Addresses: []string{via + "/32"}})
		h.IP(t, "route add "+via+" dev net", "route add 192.168.0.0/24 via "+via)
		router.IP(t, "route add "+meshAddr[i]+" dev "+name)
		hosts = append(hosts, h)
	}
	return router, hosts
}

const meshSecret = "known to all hosts of the network"

// meshConf is swanctl.conf of strongSwan's ikev2/trap-any, with further keys of the child.
func meshConf(child string) string {
	return fmt.Sprintf(`
connections {
    trap-any {
        remote_addrs = %%any
        proposals = %s
        local { auth = psk }
        remote { auth = psk }
        children { trap-any {
            mode = transport
            esp_proposals = %s
            %s
        } }
    }
}
secrets { ike { secret = "%s" } }
`, quickSuite.ike, quickSuite.esp, child, meshSecret)
}

// dave's configuration is the old one, for moon and sun only.
var daveConf = map[string]string{
	"ipsec.conf": fmt.Sprintf(`
conn trap-any
    keyexchange=ikev2
    type=transport
    authby=secret
    left=%%any
    right=%%any
    rightsubnet=192.168.0.0/30
    ike=%s!
    esp=%s!
    auto=route
`, quickSuite.ike, quickSuite.esp),
	"ipsec.secrets": fmt.Sprintf(": PSK \"%s\"\n", meshSecret),
}

// meshPeers lists with whom a host has just one IKE SA and one CHILD_SA, which is in transport mode between the two.
func meshPeers(v labtest.Vici) (peers []string, err error) {
	sas, err := v.SAs()
	if err != nil {
		return nil, err
	}
	for _, sa := range sas {
		if sa.State != "ESTABLISHED" || len(sa.Children) != 1 {
			return nil, fmt.Errorf("%s with %s is %s and has %d CHILD_SAs", sa.Name, sa.RemoteHost, sa.State, len(sa.Children))
		}
		for _, c := range sa.Children {
			got := strings.Join([]string{c.State, c.Mode, strings.Join(c.LocalTS, " "), strings.Join(c.RemoteTS, " ")}, " ")
			if want := fmt.Sprintf("INSTALLED TRANSPORT %s/32 %s/32", sa.LocalHost, sa.RemoteHost); got != want {
				return nil, fmt.Errorf("a CHILD_SA is %s, want %s", got, want)
			}
		}
		peers = append(peers, sa.RemoteHost)
	}
	slices.Sort(peers)
	return peers, nil
}

// TestTrapAny is strongSwan's ikev2/trap-any: hosts whose policies wait for traffic to anybody. moon is ipsecd, sun and
// carol are charon, carol without a trap; dave is ipsecd again, with ipsec.conf, and traps for moon and sun alone.
func TestTrapAny(t *testing.T) {
	needIpsecd(t)
	router, hosts := newMesh(t)
	const trap = "start_action = trap"
	us := labtest.StartIpsecd(t, hosts[meshMoon], "include swanctl.conf\n", map[string]string{"swanctl.conf": meshConf(trap)})
	charon, quiet := labtest.StartCharon(t, hosts[meshSun]), labtest.StartCharon(t, hosts[meshCarol])
	old := labtest.StartIpsecd(t, hosts[meshDave], "include ipsec.conf\n", daveConf)
	quiet.Load(t, meshConf(""))
	charon.Load(t, meshConf(trap))

	conf := labtest.WriteFile(t, filepath.Join(labtest.RunDir(t), "strongswan.conf"), "swanctl { load = "+labtest.SwanctlPlugins+" }\n")
	if ours, charons := trapsOf(t, conf, us.Vici), trapsOf(t, conf, charon.Vici); ours != charons || !strings.Contains(ours, "TRANSPORT") {
		t.Errorf("swanctl --list-pols: of ipsecd\n%s\nof charon\n%s", ours, charons)
	}
	if _, err := us.Call("initiate", "child", "trap-any", "timeout", "5000"); err == nil {
		t.Error("a connection for anybody was initiated without a word about whom to")
	}

	capture := labtest.StartCapture(t, router, "any")
	speakers := [][2]int{{meshMoon, meshSun}, {meshMoon, meshCarol}, {meshSun, meshCarol}, {meshDave, meshMoon}, {meshSun, meshDave}} // who begins, to whom
	for _, p := range speakers {
		pingUntil(t, hosts[p[0]], meshAddr[p[1]])
		labtest.Ping(t, hosts[p[1]], 3, meshAddr[p[0]])
	}
	labtest.Ping(t, hosts[meshDave], 2, meshAddr[meshCarol]) // in the clear: carol traps for nobody, and dave not for carol
	for i, v := range []labtest.Vici{us.Vici, charon.Vici, quiet.Vici, old.Vici} {
		var want []string
		for _, p := range speakers {
			switch i {
			case p[0]:
				want = append(want, meshAddr[p[1]])
			case p[1]:
				want = append(want, meshAddr[p[0]])
			}
		}
		slices.Sort(want)
		labtest.WaitFor(t, setupTime, meshNames[i]+"'s peers", func() error {
			got, err := meshPeers(v)
			if err == nil && !slices.Equal(got, want) {
				err = fmt.Errorf("they are %v, want %v", got, want)
			}
			return err
		})
	}

	// One peer goes, and the next packet brings it up again; the others stay.
	sas, err := us.SAs()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(sas, func(sa labtest.IKESA) bool { return sa.RemoteHost == meshAddr[meshSun] })
	if _, err := us.Call("terminate", "ike-id", sas[i].UniqueID, "timeout", "30000"); err != nil {
		t.Fatal(err)
	}
	labtest.WaitFor(t, setupTime, "two peers of moon", func() error {
		got, err := meshPeers(us.Vici)
		if err == nil && len(got) != 2 {
			err = errors.New(strings.Join(got, " "))
		}
		return err
	})
	pingUntil(t, hosts[meshMoon], meshAddr[meshSun])
	if got, err := meshPeers(us.Vici); err != nil || len(got) != 3 {
		t.Errorf("moon's peers are %v: %v", got, err)
	}

	capture.Finish(t)
	between := func(a, b int) string { return fmt.Sprintf("host %s and host %s", meshAddr[a], meshAddr[b]) }
	if clear := "icmp and not (" + between(meshCarol, meshDave) + ")"; capture.Count(t, clear) > 0 {
		t.Errorf("packets crossed in the clear:\n%s", capture.Print(t, clear, 5))
	}
	for _, p := range speakers {
		if n := capture.Count(t, "esp and "+between(p[0], p[1])); n < 8 {
			t.Errorf("%d packets of ESP between %s and %s", n, meshNames[p[0]], meshNames[p[1]])
		}
	}
}

// pingUntil pings until the first answer. What the kernel cannot send yet, it drops.
func pingUntil(t *testing.T, n *labtest.Netns, addr string) {
	t.Helper()
	n.Run(t, "ping", "-q", "-c", "1", "-i", "0.2", "-w", "60", addr)
}

// trapsOf returns what the stock swanctl prints of a daemon's traps.
func trapsOf(t *testing.T, conf string, v labtest.Vici) string {
	t.Helper()
	cmd := exec.Command("swanctl", "--list-pols", "--trap", "--uri", "unix://"+v.Path)
	cmd.Env = append(os.Environ(), "STRONGSWAN_CONF="+conf)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("swanctl --list-pols: %v\n%s", err, out)
	}
	return string(out)
}
