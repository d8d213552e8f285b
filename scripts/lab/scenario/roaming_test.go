//go:build lab

package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

const (
	// roamTime is how long a tunnel may take to follow its ends, on a loaded machine.
	roamTime = 60 * time.Second
	// roamPing is the interval of the ping that runs meanwhile.
	roamPing = 100 * time.Millisecond
)

// roaming is two hosts with two links each to a router.
//
//	us one 10.61.1.1 ---+--------+--- one 10.62.1.1 them
//	us two 10.61.2.1 ---+ router +--- two 10.62.2.1 them
type roaming struct {
	us, them, router *labtest.Netns
}

func newRoaming(t *testing.T) *roaming {
	t.Helper()
	r := &roaming{labtest.NewNetns(t, "us"), labtest.NewNetns(t, "them"), labtest.NewNetns(t, "router")}
	r.router.Router(t)
	for i, link := range []string{"one", "two"} {
		for host, net := range map[*labtest.Netns]int{r.us: 61, r.them: 62} {
			labtest.Link(t,
				labtest.End{Netns: host, Device: link, Addresses: []string{fmt.Sprintf("10.%d.%d.1/24", net, i+1)}},
				labtest.End{Netns: r.router, Device: host.Role + link, Addresses: []string{fmt.Sprintf("10.%d.%d.254/24", net, i+1)}})
			host.IP(t, fmt.Sprintf("route add default via 10.%d.%d.254 metric %d", net, i+1, i+1))
		}
	}
	return r
}

// leave takes the address away from a host's first link, and with it the way out; comeBack gives both back, and takes
// away those of the second.
func leave(t *testing.T, n *labtest.Netns, net int) {
	n.IP(t, fmt.Sprintf("addr del 10.%d.1.1/24 dev one", net))
}

func comeBack(t *testing.T, n *labtest.Netns, net int) {
	n.IP(t, fmt.Sprintf("addr add 10.%d.1.1/24 dev one", net), fmt.Sprintf("route add default via 10.%d.1.254 metric 1", net),
		fmt.Sprintf("addr del 10.%d.2.1/24 dev two", net))
}

// roamingTunnel is a connection between any of the addresses; we begin at their first address.
func roamingTunnel(name string) (us, them connection) {
	p := &pair{}
	us = p.tunnel(name, 1, suites[0])
	us.local, us.remote = "%any", "10.62.1.1"
	them = us.reversed()
	them.local, them.remote = "%any", "10.61.1.1"
	us.options, them.options = "mobike = yes", "mobike = yes"
	return us, them
}

// awaitPath waits until both sides, and their kernels, have the tunnel between two addresses.
func (r *roaming) awaitPath(t *testing.T, name string, us, them labtest.Vici, local, remote string) {
	t.Helper()
	labtest.WaitFor(t, roamTime, fmt.Sprintf("%s between %s and %s", name, local, remote), func() error {
		for _, side := range []struct {
			v             labtest.Vici
			n             *labtest.Netns
			local, remote string
		}{{us, r.us, local, remote}, {them, r.them, remote, local}} {
			sa, err := side.v.IKE(name)
			if err != nil {
				return err
			}
			if sa.LocalHost != side.local || sa.RemoteHost != side.remote {
				return fmt.Errorf("%s has the IKE SA between %s and %s", side.n.Role, sa.LocalHost, sa.RemoteHost)
			}
			states := labtest.XfrmStates(t, side.n)
			if len(states) != 2 {
				return fmt.Errorf("%s has %d SAs in the kernel", side.n.Role, len(states))
			}
			for _, s := range states {
				if !(s.Src == local && s.Dst == remote || s.Src == remote && s.Dst == local) {
					return fmt.Errorf("%s has an SA from %s to %s", side.n.Role, s.Src, s.Dst)
				}
			}
		}
		return nil
	})
}

// TestMobike moves each end of a tunnel to its other link and back, as initiator and as responder of the IKE SA, under a ping:
// the same SAs follow.
func TestMobike(t *testing.T) {
	for _, initiator := range []string{"us", "them"} {
		t.Run("by-"+initiator, func(t *testing.T) {
			r := newRoaming(t)
			p := &pair{}
			ours, theirs := roamingTunnel("roam")
			them := startCharon(t, r.them, []connection{theirs}, []tunnelInterface{p.themInterface(1)}).Vici
			us := startUs(t, r.us, []connection{ours}, []tunnelInterface{p.usInterface(1)})
			first, sides := us, map[string]labtest.Vici{"us": us, "them": them}
			if initiator == "them" {
				first = them
			}
			first.Initiate(t, "roam")
			awaitChild(t, "roam", us, them)
			before, err := us.Child("roam")
			if err != nil {
				t.Fatal(err)
			}
			ping := labtest.StartPing(t, r.us, roamPing, p.themInner(1))
			path := map[string]string{"us": "10.61.1.1", "them": "10.62.1.1"}
			for _, step := range []struct {
				who  string
				net  int
				move func(*testing.T, *labtest.Netns, int)
				to   string
			}{
				{"us", 61, leave, "10.61.2.1"},
				{"them", 62, leave, "10.62.2.1"},
				{"us", 61, comeBack, "10.61.1.1"},
			} {
				host := map[string]*labtest.Netns{"us": r.us, "them": r.them}[step.who]
				step.move(t, host, step.net)
				path[step.who] = step.to
				r.awaitPath(t, "roam", sides["us"], sides["them"], path["us"], path["them"])
				answered := ping.Result(t).Received
				labtest.WaitFor(t, roamTime, "a ping after the move of "+step.who, func() error {
					if ping.Result(t).Received == answered {
						return fmt.Errorf("none")
					}
					return nil
				})
			}
			t.Logf("ping: %v", ping.Stop(t))
			if after, err := us.Child("roam"); err != nil || after.SPIIn != before.SPIIn {
				t.Errorf("the CHILD_SA was replaced: %+v, %v", after, err)
			}
			labtest.Ping(t, r.them, 2, p.usInner(1))
		})
	}
}

// TestIgnoredInterface: the addresses of an interface of interfaces_ignore are not announced to charon, and it gets no answer there.
func TestIgnoredInterface(t *testing.T) {
	needIpsecd(t)
	for _, ignored := range []bool{false, true} {
		t.Run(fmt.Sprint(ignored), func(t *testing.T) {
			r := newRoaming(t)
			ours, theirs := roamingTunnel("roam")
			second, theirSecond := roamingTunnel("second")
			theirSecond.remote = "10.61.2.1" // on our link two
			second.ifID, theirSecond.ifID = 2, 2
			them := labtest.StartCharon(t, r.them, "retransmit_tries = 2", "retransmit_timeout = 2")
			them.Load(t, swanctlConf([]connection{theirs, theirSecond}))
			sections := ""
			if ignored {
				sections = "charon {\n interfaces_ignore = two\n}\n"
			}
			us := startIpsecd(t, r.us, []connection{ours, second}, nil, sections)
			us.Initiate(t, "roam")
			awaitChild(t, "roam", us.Vici, them.Vici)
			parsed := ""
			for line := range strings.Lines(them.Log()) {
				if strings.Contains(line, "parsed IKE_AUTH request") {
					parsed = line
				}
			}
			if parsed == "" || strings.Contains(parsed, "ADD_4_ADDR") == ignored {
				t.Errorf("charon has got %q", parsed)
			}
			if _, err := them.Call("initiate", "child", "second"); (err != nil) != ignored {
				t.Errorf("charon to our other address: %v", err)
			}
		})
	}
}

// TestRemoteAddrs sets up tunnels whose first remote address is nobody's, the next one being an address or a host name.
func TestRemoteAddrs(t *testing.T) {
	needIpsecd(t)
	r := newRoaming(t)
	p := &pair{}
	hosts := filepath.Join("/etc/netns", r.us.Name)
	if err := os.MkdirAll(hosts, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(hosts) })
	labtest.WriteFile(t, filepath.Join(hosts, "hosts"), "10.62.1.1 them.lab\n")
	addr, theirs := roamingTunnel("addr")
	addr.options += "\n remote_addrs = 10.62.99.1, 10.62.1.1\n keyingtries = 0"
	name, _ := roamingTunnel("name")
	name.localID, name.ifID = "name.us.example", 2
	name.options += "\n remote_addrs = 10.62.99.1, them.lab\n keyingtries = 0"
	_, theirName := roamingTunnel("name")
	theirName.remoteID, theirName.ifID = name.localID, 2
	them := startCharon(t, r.them, []connection{theirs, theirName}, []tunnelInterface{p.themInterface(1), p.themInterface(2)}).Vici
	us := startIpsecd(t, r.us, []connection{addr, name}, []tunnelInterface{p.usInterface(1), p.usInterface(2)},
		"timing {\n retransmit_timeout = 1s\n retransmit_tries = 1\n}\n").Vici
	for i, child := range []string{"addr", "name"} {
		if _, err := us.Call("initiate", "child", child, "timeout", "-1"); err != nil {
			t.Fatal(err)
		}
		awaitChild(t, child, us, them)
		labtest.Ping(t, r.us, 2, p.themInner(i+1))
	}
}

// TestRedirect lets each side send the other, which has initiated, to its second address (RFC 5685).
func TestRedirect(t *testing.T) {
	needIpsecd(t)
	for _, gateway := range []string{"them", "us"} {
		t.Run("by-"+gateway, func(t *testing.T) {
			r := newRoaming(t)
			p := &pair{}
			ours, theirs := roamingTunnel("red")
			theirs.remote = "10.61.1.1, 10.61.2.1"
			ours.childOptions, theirs.childOptions = "close_action = none", "close_action = none"
			them := startCharon(t, r.them, []connection{theirs}, []tunnelInterface{p.themInterface(1)}).Vici
			us := startUs(t, r.us, []connection{ours}, []tunnelInterface{p.usInterface(1)})
			from, to, local, remote := us, them, "10.61.1.1", "10.62.2.1"
			if gateway == "us" {
				from, to, local, remote = them, us, "10.61.2.1", "10.62.1.1"
			}
			from.Initiate(t, "red")
			awaitChild(t, "red", us, them)
			target := map[string]string{"them": remote, "us": local}[gateway]
			if _, err := to.Call("redirect", "ike", "red", "gateway", target); err != nil {
				t.Fatal(err)
			}
			r.awaitPath(t, "red", us, them, local, remote)
			labtest.Ping(t, r.us, 2, p.themInner(1))
		})
	}
}

// TestRebinding lets the NAT between the two ends forget its mappings, under a ping, and give out other ports: whoever is not behind
// it follows, with MOBIKE and without.
func TestRebinding(t *testing.T) {
	for _, tt := range []struct {
		name      string
		initiator string
		mobike    string
	}{
		{"us-behind-mobike", "us", "yes"},
		{"them-behind-mobike", "them", "yes"},
		{"them-behind", "them", "no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPair(t)
			ours := p.tunnel("nat", 1, suites[0])
			ours.local, ours.remote = "10.51.0.1", "10.52.0.1"
			ours.options = "mobike = " + tt.mobike + "\n dpd_delay = 30s"
			theirs := ours.reversed()
			theirs.options = ours.options
			if tt.initiator == "us" {
				theirs.remote = "%any"
			} else {
				ours.remote = "%any"
			}
			them := startCharon(t, p.them, []connection{theirs}, []tunnelInterface{p.themInterface(1)}).Vici
			us := startUs(t, p.us, []connection{ours}, []tunnelInterface{p.usInterface(1)})
			initiator, behind, inner, follower := us, p.us, p.themInner(1), p.them
			if tt.initiator == "them" {
				initiator, behind, inner, follower = them, p.them, p.usInner(1), p.us
			}
			initiator.Initiate(t, "nat")
			awaitChild(t, "nat", us, them)
			before, err := us.Child("nat")
			if err != nil {
				t.Fatal(err)
			}
			ping := labtest.StartPing(t, behind, roamPing, inner)
			p.nat.Nft(t, `
flush chain ip nat postrouting
add rule ip nat postrouting meta l4proto udp masquerade to :40000-50000
`)
			// Masquerading forgets what went out over a link that goes down.
			out := map[string]string{"us": "them", "them": "us"}[tt.initiator]
			p.nat.IP(t, "link set "+out+" down", "link set "+out+" up")
			answered := ping.Result(t).Received
			labtest.WaitFor(t, roamTime, "pings through the NAT's new mapping", func() error {
				if ping.Result(t).Received < answered+10 {
					return fmt.Errorf("%d answers", ping.Result(t).Received-answered)
				}
				return nil
			})
			t.Logf("ping: %v", ping.Stop(t))
			if after, err := us.Child("nat"); err != nil || after.SPIIn != before.SPIIn {
				t.Errorf("the CHILD_SA was replaced: %+v, %v", after, err)
			}
			checkPort(t, follower)
		})
	}
}

// checkPort fails t unless the kernel's SAs have a port that the NAT gives out after it has forgotten.
func checkPort(t *testing.T, n *labtest.Netns) {
	t.Helper()
	out := n.Run(t, "ip", "xfrm", "state")
	var sport, dport, ports int
	for line := range strings.Lines(out) {
		if _, err := fmt.Sscanf(line, " encap type espinudp sport %d dport %d", &sport, &dport); err == nil && max(sport, dport) >= 40000 {
			ports++
		}
	}
	if ports != 2 {
		t.Errorf("%s: %d SAs have the new port of the NAT:\n%s", n.Role, ports, out)
	}
}
