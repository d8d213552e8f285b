//go:build lab

package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestGeneratedNumbers: marks and if_ids of %unique are those that charon gives with the same configuration, in list-sas, in the
// kernel and for updown scripts, before and after rekeys, and packets with them get through.
func TestGeneratedNumbers(t *testing.T) {
	needIpsecd(t)
	both := func(key, value string) string { return key + "_in = " + value + "\n" + key + "_out = " + value + "\n" }
	for _, c := range []struct {
		name, conn, child string
		weInitiate        bool
		ping              func(t *testing.T, r *roadwarrior)
	}{
		{"if_id of the IKE SA", both("if_id", "%unique"), "", true, pingOverInterface},
		{"marks", "", both("mark", "%unique") + "set_mark_in = %same\nmark_in_sa = no\n", false, pingWithMark},
		{"for each direction", both("if_id", "%unique-dir"), both("mark", "%unique-dir/0xff") + "set_mark_in = %same/0x0f\nset_mark_out = %same\n", false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoadwarrior(t)
			conf := func(local, remote, localTS, remoteTS, end string) string {
				return rwConf(local, remote, c.conn, "local_ts = "+localTS+"\nremote_ts = "+remoteTS+"\n"+c.child+r.updown(end), "")
			}
			client := conf("192.0.2.2", "192.0.2.1", "10.2.0.1/32", "10.1.0.0/16", "client")
			gateway := conf("192.0.2.1", "192.0.2.2", "10.1.0.0/16", "10.2.0.1/32", "gateway")
			r.clientNS.IP(t, "addr add 10.2.0.1/32 dev lo")
			ours, theirs, ourNS, theirNS := client, gateway, r.clientNS, r.gatewayNS
			if !c.weInitiate {
				ours, theirs, ourNS, theirNS = theirs, ours, theirNS, ourNS
			}
			them := labtest.StartCharon(t, theirNS, charonRW...)
			them.Load(t, theirs)
			us := labtest.StartIpsecd(t, ourNS, ours, nil)
			initiator := them.Vici
			if c.weInitiate {
				initiator = us.Vici
			}
			initiator.Initiate(t, rwName)
			awaitChild(t, rwName, us.Vici, them.Vici)
			check := func(when string) {
				t.Helper()
				a, b := numbersOf(t, us.Vici, ourNS), numbersOf(t, them.Vici, theirNS)
				if !slices.Equal(a, b) || len(a) == 0 {
					t.Errorf("%s: we have\n%s\ncharon has\n%s", when, strings.Join(a, "\n"), strings.Join(b, "\n"))
				}
				if c.ping != nil {
					c.ping(t, r)
				}
			}
			check("at first")
			for _, side := range []labtest.Vici{us.Vici, them.Vici} {
				rekeyBoth(t, us.Vici, them.Vici, side)
				check("after a rekey")
			}
			told := regexp.MustCompile(`(?m)^PLUTO_(MARK|IF_ID)_.*$`)
			a := told.FindAllString(strings.Join(r.environments("client"), "\n"), -1)
			b := told.FindAllString(strings.Join(r.environments("gateway"), "\n"), -1)
			if !slices.Equal(a, b) || len(a) < 2 {
				t.Errorf("the client's script was told %v, the gateway's %v", a, b)
			}
		})
	}
}

// rekeyBoth has one side rekey the IKE SA and the CHILD_SA.
func rekeyBoth(t *testing.T, us, them, side labtest.Vici) {
	t.Helper()
	old, err := us.IKE(rwName)
	if err != nil {
		t.Fatal(err)
	}
	if err := side.RekeyIKE(rwName); err != nil {
		t.Fatal(err)
	}
	settled := func(done func(a, b labtest.IKESA) bool) {
		labtest.WaitFor(t, setupTime, "the rekey", func() error {
			a, errA := us.IKE(rwName)
			b, errB := them.IKE(rwName)
			if errA != nil || errB != nil || a.SPIInitiator != b.SPIInitiator || len(a.Children) != 1 || len(b.Children) != 1 || !done(a, b) {
				return fmt.Errorf("%+v, %+v, %v, %v", a, b, errA, errB)
			}
			return nil
		})
	}
	settled(func(a, _ labtest.IKESA) bool { return a.SPIInitiator != old.SPIInitiator })
	spi := onlyChild(old).SPIIn
	if err := side.RekeyChild(rwName); err != nil {
		t.Fatal(err)
	}
	settled(func(a, b labtest.IKESA) bool {
		return onlyChild(a).SPIIn != spi && onlyChild(a).SPIIn == onlyChild(b).SPIOut && onlyChild(b).State == "INSTALLED"
	})
}

func onlyChild(sa labtest.IKESA) labtest.ChildSA {
	for _, c := range sa.Children {
		return c
	}
	return labtest.ChildSA{}
}

// numbersOf lists the numbers that the daemon tells of its SAs, and those in the kernel, as ip writes them.
func numbersOf(t *testing.T, v labtest.Vici, n *labtest.Netns) []string {
	t.Helper()
	sa, err := v.IKE(rwName)
	if err != nil {
		t.Fatal(err)
	}
	c := onlyChild(sa)
	list := []string{fmt.Sprintf("ike if_id %s %s child if_id %s %s mark %s/%s %s/%s", sa.IfIDIn, sa.IfIDOut, c.IfIDIn, c.IfIDOut,
		c.MarkIn, c.MarkMaskIn, c.MarkOut, c.MarkMaskOut)}
	number := regexp.MustCompile(`(?m)^\s*((mark|output-mark|if_id) .*|.*\bdir \S+.*)$`)
	for _, what := range []string{"state", "policy"} {
		found := number.FindAllString(n.Run(t, "ip", "xfrm", what), -1)
		for i := range found {
			found[i] = what + strings.Join(strings.Fields(regexp.MustCompile(`priority \d+|ptype \S+`).ReplaceAllString(found[i], "")), " ")
		}
		slices.Sort(found)
		list = append(list, found...)
	}
	return list
}

// pingOverInterface makes the interfaces that an updown script would make, at first.
func pingOverInterface(t *testing.T, r *roadwarrior) {
	t.Helper()
	for n, other := range map[*labtest.Netns]string{r.clientNS: "10.1.0.0/16", r.gatewayNS: "10.2.0.1/32"} {
		if _, err := n.Try("ip", "link", "show", "x1"); err != nil {
			n.IP(t, "link add x1 type xfrm if_id 1", "link set x1 up", "route add "+other+" dev x1")
		}
	}
	labtest.Ping(t, r.clientNS, 2, "-I", "10.2.0.1", rwInside4)
}

// pingWithMark sends packets with the mark, and has the answers get it too.
func pingWithMark(t *testing.T, r *roadwarrior) {
	t.Helper()
	r.gatewayNS.Sysctl(t, "net.ipv4.fwmark_reflect=1")
	r.clientNS.Run(t, "ip", "route", "replace", "10.1.0.0/16", "via", "192.0.2.1")
	r.gatewayNS.Run(t, "ip", "route", "replace", "10.2.0.1", "via", "192.0.2.2")
	labtest.Ping(t, r.clientNS, 2, "-m", "1", "-I", "10.2.0.1", rwInside4)
}
