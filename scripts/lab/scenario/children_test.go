//go:build lab

package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// quickSuite is the least work in emulation.
var quickSuite = suite{ike: "aes128gcm16-prfsha256-x25519", esp: "aes128gcm16"}

// subnets gives both ends of a pair a network behind them for each tunnel n, 10.60.n.0/24 and 10.61.n.0/24, of
// which some addresses are the hosts' own.
func (p *pair) subnets(t *testing.T, n int, hosts ...int) {
	t.Helper()
	for _, h := range hosts {
		p.us.IP(t, fmt.Sprintf("addr add 10.60.%d.%d/32 dev lo", n, h))
		p.them.IP(t, fmt.Sprintf("addr add 10.61.%d.%d/32 dev lo", n, h))
	}
	p.us.IP(t, fmt.Sprintf("route add 10.61.%d.0/24 via 10.50.1.%d", n, n))
	p.them.IP(t, fmt.Sprintf("route add 10.60.%d.0/24 via 10.50.0.%d", n, n))
}

func ours(n, host int) string   { return fmt.Sprintf("10.60.%d.%d", n, host) }
func theirs(n, host int) string { return fmt.Sprintf("10.61.%d.%d", n, host) }

// policyTunnel is a tunnel between the networks of subnets, without an interface.
func (p *pair) policyTunnel(name string, n int, childOptions string) connection {
	c := p.tunnel(name, n, quickSuite)
	c.ifID, c.start = 0, false
	c.localTS, c.remoteTS = ours(n, 0)+"/24", theirs(n, 0)+"/24"
	c.childOptions = childOptions
	return c
}

// pair of daemons with connections of their own.
type ends struct {
	*pair
	us, them labtest.Vici
}

func startEnds(t *testing.T, p *pair, us, them []connection) ends {
	t.Helper()
	peer := startCharon(t, p.them, them, nil)
	return ends{p, startUs(t, p.us, us, nil), peer.Vici}
}

// carried returns the packets of the SAs with a peer's address, in and out.
func carried(t *testing.T, n *labtest.Netns, peer string) (in, out uint64) {
	t.Helper()
	for _, s := range labtest.XfrmStates(t, n) {
		switch peer {
		case s.Src:
			in += s.Packets
		case s.Dst:
			out += s.Packets
		}
	}
	return in, out
}

// wantTS fails t unless an end has a CHILD_SA with these selectors.
func wantTS(t *testing.T, v labtest.Vici, child, local, remote string) {
	t.Helper()
	labtest.WaitFor(t, setupTime, child+" with "+local+" === "+remote, func() error {
		c, err := v.Child(child)
		if err != nil {
			return err
		}
		if got := strings.Join(c.LocalTS, " ") + " === " + strings.Join(c.RemoteTS, " "); got != local+" === "+remote {
			return errors.New("it is " + got)
		}
		return nil
	})
}

// TestTransportMode: host to host, set up and rekeyed by either end, with and without a NAT in between, which
// changes the addresses that the selectors are for (RFC 7296 section 2.23.1).
func TestTransportMode(t *testing.T) {
	p := newPair(t)
	const n = 1 // the addresses that the kernel takes by itself
	host := func(name, local, remote string) connection {
		c := p.tunnel(name, n, quickSuite)
		c.ifID, c.local, c.remote, c.localTS, c.remoteTS = 0, local, remote, "dynamic", "dynamic"
		c.childOptions = "mode = transport"
		return c
	}
	cases := []struct {
		name        string
		us, them    connection
		byUs        bool
		ping        [2]string // from us or them, to whom
		nat         bool
		usTS, theTS string
	}{
		{name: "plain-by-us", byUs: true, us: host("plain-by-us", "10.50.0.1", "10.50.1.1"), ping: [2]string{"10.50.0.1", "10.50.1.1"}},
		{name: "plain-by-charon", us: host("plain-by-charon", "10.50.0.2", "10.50.1.2"), ping: [2]string{"10.50.1.2", "10.50.0.2"}},
		{name: "nat-by-us", byUs: true, nat: true, us: host("nat-by-us", "10.51.0.1", "10.52.0.1"), ping: [2]string{"10.51.0.1", "10.52.0.1"}},
		{name: "nat-by-charon", nat: true, us: host("nat-by-charon", "10.51.0.2", "10.52.0.2"), ping: [2]string{"10.52.0.2", "10.51.0.2"}},
	}
	var usConns, themConns []connection
	for i := range cases {
		c := &cases[i]
		c.them = c.us.reversed()
		switch {
		case c.nat && c.byUs:
			c.them.remote = "%any"
		case c.nat:
			c.us.remote = "%any"
		}
		usConns, themConns = append(usConns, c.us), append(themConns, c.them)
	}
	e := startEnds(t, p, usConns, themConns)
	labtest.IperfServers(t, p.us, firstPort)
	labtest.IperfServers(t, p.them, firstPort)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			initiator, from, peer := e.them, p.them, c.us.local
			if c.byUs {
				initiator, from, peer = e.us, p.us, c.us.remote
			}
			initiator.Initiate(t, c.name)
			awaitChild(t, c.name, e.us, e.them)
			for round, rekey := range []labtest.Vici{e.us, e.them, {}} {
				labtest.Ping(t, from, 2, "-I", c.ping[0], c.ping[1])
				if rekey.Path == "" {
					break
				}
				old, err := e.us.Child(c.name)
				if err != nil {
					t.Fatal(err)
				}
				if err := rekey.RekeyChild(c.name); err != nil {
					t.Fatal(err)
				}
				labtest.WaitFor(t, setupTime, "a new CHILD_SA", func() error {
					a, errA := e.us.Child(c.name)
					b, errB := e.them.Child(c.name)
					if err := errors.Join(errA, errB); err != nil {
						return err
					}
					if a.SPIIn == old.SPIIn || a.SPIIn != b.SPIOut || a.SPIOut != b.SPIIn {
						return fmt.Errorf("round %d: %s/%s and %s/%s", round, a.SPIIn, a.SPIOut, b.SPIIn, b.SPIOut)
					}
					return nil
				})
			}
			got := labtest.RunFlows(t, labtest.Flow{From: from, Bind: c.ping[0], To: c.ping[1], Port: firstPort, Bytes: 50_000})
			if got[0].Bytes == 0 {
				t.Error("TCP moved nothing")
			}
			modes := 0
			for _, s := range labtest.XfrmStates(t, from) {
				if s.Src != peer && s.Dst != peer {
					continue
				}
				modes++
				if s.Mode != "transport" || s.Encap != c.nat {
					t.Errorf("SA %08x: mode %s, in UDP: %v", s.SPI, s.Mode, s.Encap)
				}
			}
			if modes < 2 {
				t.Errorf("%d SAs with %s", modes, peer)
			}
			if in, out := carried(t, from, peer); in < 2 || out < 2 {
				t.Errorf("%d packets in, %d out: it went unprotected", in, out)
			}
			if err := e.us.Terminate(c.name); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNarrowing: what the responder narrows is what both ends have, whoever that is, also after a rekey by either
// (RFC 7296 section 2.9).
func TestNarrowing(t *testing.T) {
	p := newPair(t)
	narrow := func(name string, n int) (wide, narrow connection) {
		wide = p.policyTunnel(name, n, "")
		narrow = wide.reversed()
		return wide, narrow
	}
	a, aThem := narrow("charon-narrows", 1)
	aThem.localTS = theirs(1, 0) + "/25"
	b, bThem := narrow("we-narrow", 2)
	b.localTS, b.remoteTS = ours(2, 0)+"/25", theirs(2, 0)+"/24[tcp], "+theirs(2, 16)+"/28"
	bThem.localTS, bThem.remoteTS = "10.61.0.0/16", "10.60.0.0/16"
	e := startEnds(t, p, []connection{a, b}, []connection{aThem, bThem})

	e.us.Initiate(t, a.name)
	e.them.Initiate(t, b.name)
	check := func() {
		t.Helper()
		wantTS(t, e.us, a.name, "10.60.1.0/24", "10.61.1.0/25")
		wantTS(t, e.them, a.name, "10.61.1.0/25", "10.60.1.0/24")
		wantTS(t, e.us, b.name, "10.60.2.0/25", "10.61.2.0/24[tcp] 10.61.2.16/28")
		wantTS(t, e.them, b.name, "10.61.2.0/24[tcp] 10.61.2.16/28", "10.60.2.0/25")
	}
	check()
	for _, by := range []labtest.Vici{e.us, e.them} {
		for _, c := range []string{a.name, b.name} {
			old, err := e.us.Child(c)
			if err != nil {
				t.Fatal(err)
			}
			if err := by.RekeyChild(c); err != nil {
				t.Fatal(err)
			}
			labtest.WaitFor(t, setupTime, "a new "+c, func() error {
				now, err := e.us.Child(c)
				if err == nil && now.SPIIn == old.SPIIn {
					err = errors.New("still the old one")
				}
				return err
			})
		}
		check()
	}
}

// TestPortSelectors: what the selectors are not for does not go through the CHILD_SA: TCP on a range of ports,
// and of ICMP the echo requests, but not the replies.
func TestPortSelectors(t *testing.T) {
	p := newPair(t)
	ports := p.policyTunnel("ports", 1, "")
	ports.remoteTS = fmt.Sprintf("%s/24[tcp/%d-%d]", theirs(1, 0), firstPort-1, firstPort+1)
	ports.localTS = ours(1, 0) + "/24[tcp]"
	icmp := p.policyTunnel("icmp", 2, "")
	icmp.localTS, icmp.remoteTS = ours(2, 0)+"/24[icmp/8]", theirs(2, 0)+"/24[icmp/8]"
	p.subnets(t, 1, 1)
	p.subnets(t, 2, 1)
	e := startEnds(t, p, []connection{ports, icmp}, reversed([]connection{ports, icmp}))
	// Far away: the kernel's policies have masks in place of ranges, and charon takes one that covers all of its.
	const other = firstPort + 100
	labtest.IperfServers(t, p.them, firstPort, other)
	for _, by := range []labtest.Vici{e.us, e.them} {
		by.Initiate(t, ports.name)
		by.Initiate(t, icmp.name)
		awaitChild(t, ports.name, e.us, e.them)
		awaitChild(t, icmp.name, e.us, e.them)
		flow := func(port int) (in, out uint64) {
			in0, out0 := carried(t, p.us, ports.remote)
			labtest.RunFlows(t, labtest.Flow{From: p.us, Bind: ours(1, 1), To: theirs(1, 1), Port: port, Bytes: 20_000})
			in, out = carried(t, p.us, ports.remote)
			return in - in0, out - out0
		}
		if in, out := flow(firstPort); in < 5 || out < 5 {
			t.Errorf("the port of the selectors: %d packets in, %d out", in, out)
		}
		if in, out := flow(other); in != 0 || out != 0 {
			t.Errorf("another port: %d packets in, %d out", in, out)
		}
		labtest.Ping(t, p.us, 3, "-I", ours(2, 1), theirs(2, 1))
		if in, out := carried(t, p.us, icmp.remote); in != 0 || out != 3 {
			t.Errorf("echo requests: %d packets in, %d out; want 0, 3", in, out)
		}
		for _, c := range []connection{ports, icmp} {
			if err := e.us.Terminate(c.name); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTwoChildren: two children of one connection live on one IKE SA, each with selectors and a rekey of its own.
func TestTwoChildren(t *testing.T) {
	p := newPair(t)
	c := p.policyTunnel("first", 1, "")
	second := func(local, remote string) string {
		return fmt.Sprintf("second {\n local_ts = %s\n remote_ts = %s\n esp_proposals = aes128gcm16-x25519\n }", local, remote)
	}
	them := c.reversed()
	c.children = second(ours(2, 0)+"/24", theirs(2, 0)+"/24")
	them.children = second(theirs(2, 0)+"/24", ours(2, 0)+"/24")
	p.subnets(t, 1, 1)
	p.subnets(t, 2, 1)
	e := startEnds(t, p, []connection{c}, []connection{them})
	for _, by := range []labtest.Vici{e.us, e.them} {
		by.Initiate(t, "first")
		by.Initiate(t, "second")
		for _, side := range []labtest.Vici{e.us, e.them} {
			labtest.WaitFor(t, setupTime, "both children on one IKE SA", func() error {
				sa, err := side.IKE("first")
				if err != nil {
					return err
				}
				var names []string
				for _, ch := range sa.Children {
					names = append(names, ch.Name+" "+ch.State)
				}
				slices.Sort(names)
				if got := strings.Join(names, ", "); got != "first INSTALLED, second INSTALLED" {
					return errors.New(got)
				}
				return nil
			})
		}
		for n := 1; n <= 2; n++ {
			labtest.Ping(t, p.us, 2, "-I", ours(n, 1), theirs(n, 1))
		}
		if in, out := carried(t, p.us, c.remote); in != 4 || out != 4 {
			t.Errorf("%d packets in, %d out; want 4, 4", in, out)
		}
		if err := e.us.Terminate("first"); err != nil {
			t.Fatal(err)
		}
	}
}
