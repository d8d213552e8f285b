//go:build lab

package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestTrap: a ping brings the tunnel up by whichever end has the trap; we propose its selectors first (RFC 7296
// section 2.9), so that charon, of two children that fit in part, keeps that of the packet. Another packet of the trap
// gets a CHILD_SA of its own.
func TestTrap(t *testing.T) {
	p := newPair(t)
	ours1 := p.policyTunnel("ours", 1, "")
	ours1.childOptions = "start_action = trap"
	charons := p.policyTunnel("charons", 2, "")
	them := ours1.reversed()
	them.childOptions, them.localTS = "", theirs(1, 0)+"/25"
	them.children = fmt.Sprintf("upper {\n local_ts = %s/25\n remote_ts = %s/24\n esp_proposals = aes128gcm16\n }", theirs(1, 128), ours(1, 0))
	theirTrap := charons.reversed()
	theirTrap.childOptions = "start_action = trap"
	p.subnets(t, 1, 1, 200)
	p.subnets(t, 2, 1)
	e := startEnds(t, p, []connection{ours1, charons}, []connection{them, theirTrap})

	awaitEcho(t, p.us, "-I", ours(1, 1), theirs(1, 200))
	wantTS(t, e.us, ours1.name, "10.60.1.0/24", "10.61.1.128/25")
	awaitEcho(t, p.us, "-I", ours(1, 1), theirs(1, 1))
	labtest.Ping(t, p.us, 3, "-I", ours(1, 1), theirs(1, 200))
	sa, err := e.us.IKE(ours1.name)
	if err != nil || len(sa.Children) != 2 {
		t.Errorf("want two CHILD_SAs for the two parts of the network: %v %+v", err, sa.Children)
	}

	awaitEcho(t, p.them, "-I", theirs(2, 1), ours(2, 1))
	wantTS(t, e.us, charons.name, "10.60.2.0/24", "10.61.2.0/24")
}

// awaitEcho waits until an echo request is answered: the kernel drops what it cannot send yet.
func awaitEcho(t *testing.T, n *labtest.Netns, args ...string) {
	t.Helper()
	labtest.WaitFor(t, setupTime, "an answer to ping "+strings.Join(args, " "), func() error {
		_, err := n.Try("ping", append([]string{"-q", "-c", "1", "-W", "2"}, args...)...)
		return err
	})
}

// TestCloseTrap: after the peer has closed the CHILD_SA, close_action = trap holds the traffic, which brings it up
// again.
func TestCloseTrap(t *testing.T) {
	p := newPair(t)
	c := p.policyTunnel("close", 1, "close_action = trap")
	them := c.reversed()
	them.childOptions = ""
	p.subnets(t, 1, 1)
	e := startEnds(t, p, []connection{c}, []connection{them})
	capture := labtest.StartCapture(t, p.us, "direct")
	e.us.Initiate(t, c.name)
	labtest.Ping(t, p.us, 2, "-I", ours(1, 1), theirs(1, 1))
	for range 2 {
		if _, err := e.them.Call("terminate", "child", c.name, "timeout", "30000"); err != nil {
			t.Fatal(err)
		}
		awaitEcho(t, p.us, "-I", ours(1, 1), theirs(1, 1))
		awaitChild(t, c.name, e.us, e.them)
	}
	capture.WaitCount(t, setupTime, "esp", 6)
	capture.Finish(t)
	sent := "icmp and src " + ours(1, 1) // what arrives is seen once more when it is decrypted
	if leaked := capture.Count(t, sent); leaked > 0 {
		t.Errorf("%d packets went in the clear:\n%s", leaked, capture.Print(t, sent, 5))
	}
}

// TestInactivity: an idle CHILD_SA is closed by the end that is configured so; the IKE SA stays.
func TestInactivity(t *testing.T) {
	p := newPair(t)
	a := p.policyTunnel("idle-us", 1, "inactivity = 3s")
	b := p.policyTunnel("idle-charon", 2, "")
	aThem, bThem := a.reversed(), b.reversed()
	aThem.childOptions, bThem.childOptions = "", "inactivity = 3s"
	e := startEnds(t, p, []connection{a, b}, []connection{aThem, bThem})
	for _, c := range []connection{a, b} {
		e.us.Initiate(t, c.name)
		for _, side := range []labtest.Vici{e.us, e.them} {
			labtest.WaitFor(t, setupTime, c.name+" closed", func() error {
				sa, err := side.IKE(c.name)
				if err == nil && len(sa.Children) != 0 {
					err = fmt.Errorf("%d CHILD_SAs", len(sa.Children))
				}
				return err
			})
		}
	}
}

// TestVolumeRekey: rekey_bytes of ours and rekey_packets, whichever direction counts, replace the CHILD_SA without loss.
func TestVolumeRekey(t *testing.T) {
	p := newPair(t)
	p.subnets(t, 1, 1)
	p.subnets(t, 2, 1)
	bytes := p.policyTunnel("bytes", 1, "rekey_bytes = 12000\n rand_bytes = 0\n life_bytes = 1m")
	packets := p.policyTunnel("packets", 2, "rekey_packets = 12\n rand_packets = 0\n life_packets = 1000")
	bytesThem, packetsThem := bytes.reversed(), packets.reversed()
	bytesThem.childOptions, packetsThem.childOptions = "", ""
	e := startEnds(t, p, []connection{bytes, packets}, []connection{bytesThem, packetsThem})
	for n, c := range map[int]connection{1: bytes, 2: packets} {
		e.us.Initiate(t, c.name)
		old, err := e.us.Child(c.name)
		if err != nil {
			t.Fatal(err)
		}
		labtest.Ping(t, p.us, 20, "-s", "1000", "-I", ours(n, 1), theirs(n, 1))
		labtest.WaitFor(t, setupTime, "a new CHILD_SA of "+c.name, func() error {
			now, err := e.us.Child(c.name)
			if err == nil && now.SPIIn == old.SPIIn {
				err = errors.New("still the old one")
			}
			return err
		})
		labtest.Ping(t, p.us, 3, "-I", ours(n, 1), theirs(n, 1))
	}
}

// TestPassShunt: a shunt takes one host out of a protected network, by the priorities that charon gives shunts.
func TestPassShunt(t *testing.T) {
	needIpsecd(t)
	p := newPair(t)
	c := p.policyTunnel("net", 1, "")
	them := c.reversed()
	c.children = shunt("pass", "10.60.1.0/24", "10.61.1.9/32") + shunt("drop", "10.60.1.0/24", "10.61.0.0/16")
	them.children = shunt("pass", "10.61.1.9/32", "10.60.1.0/24") + shunt("drop", "10.61.0.0/16", "10.60.1.0/24")
	p.subnets(t, 1, 1, 9)
	startCharon(t, p.them, []connection{them}, nil)
	us := startIpsecd(t, p.us, []connection{c}, nil, "protect = 10.61.0.0/16\n")
	capture := labtest.StartCapture(t, p.us, "direct")

	labtest.Unreachable(t, p.us, "-I", ours(1, 1), theirs(1, 1))
	labtest.Ping(t, p.us, 2, "-I", ours(1, 1), theirs(1, 9))
	us.Initiate(t, c.name)
	labtest.Ping(t, p.us, 2, "-I", ours(1, 1), theirs(1, 1))
	labtest.Ping(t, p.us, 2, "-I", ours(1, 1), theirs(1, 9))
	capture.WaitCount(t, setupTime, "icmp and host "+theirs(1, 9), 8)
	capture.WaitCount(t, setupTime, "esp", 4)
	capture.Finish(t)
	sent := "icmp and dst " + theirs(1, 1) // what arrives is seen once more when it is decrypted
	if n := capture.Count(t, sent); n != 0 {
		t.Errorf("%d packets to the protected network in the clear:\n%s", n, capture.Print(t, sent, 5))
	}
	for _, shunt := range []string{"10.61.1.9/32", "10.61.0.0/16"} {
		ours := priority(t, p.us, "out", "10.60.1.0/24", shunt)
		if theirs := priority(t, p.them, "out", shunt, "10.60.1.0/24"); ours != theirs {
			t.Errorf("shunt for %s: our priority is %s, charon's %s", shunt, ours, theirs)
		}
	}
}

func shunt(mode, local, remote string) string {
	return fmt.Sprintf("%[1]s {\n mode = %[1]s\n start_action = trap\n local_ts = %[2]s\n remote_ts = %[3]s\n }\n", mode, local, remote)
}

// priority returns that of a policy as ip-xfrm(8) prints it.
func priority(t *testing.T, n *labtest.Netns, dir, src, dst string) string {
	t.Helper()
	out := n.Run(t, "ip", "xfrm", "policy", "list", "src", src, "dst", dst, "dir", dir)
	m := regexp.MustCompile(`priority (\d+)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("%s has no policy %s -> %s:\n%s", n.Role, src, dst, out)
	}
	return m[1]
}
