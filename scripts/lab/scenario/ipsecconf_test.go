//go:build lab

package scenario

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// pfSenseConf is an ipsec.conf as the operator of a strongSwan host wrote it, who joins
// the network behind it to one behind a pfSense.
const pfSenseConf = `conn pfsense-ipsec
        type=tunnel
        keyexchange=ikev2
        left=192.168.14.2
        leftsubnet=192.168.15.0/24
        leftid=192.168.14.2
        leftauth=psk
        right=192.168.14.1
        rightsubnet=192.168.14.128/25
        rightid=192.168.14.1
        rightauth=psk
        ike=aes256-sha256-modp2048
        esp=aes256gcm16-modp2048
        ikelifetime=31680s
        lifetime=31680s
        auto=start
`

// pfSensePeer is the other end: AES-256-GCM with a tag of 128 bits, and PFS with group 14.
const pfSensePeer = `connections {
    us {
        version = 2
        local_addrs = 192.168.14.1
        remote_addrs = 192.168.14.2
        proposals = aes256-sha256-modp2048
        local {
            auth = psk
            id = 192.168.14.1
        }
        remote {
            auth = psk
            id = 192.168.14.2
        }
        children {
            us {
                local_ts = 192.168.14.128/25
                remote_ts = 192.168.15.0/24
                esp_proposals = aes256gcm16-modp2048
            }
        }
    }
}
secrets {
    ike-us {
        id-us = 192.168.14.2
        id-them = 192.168.14.1
        secret = "a key: with # and blanks"
    }
}
`

// TestIpsecConf reads /etc/ipsec.conf and /etc/ipsec.secrets as they are, by itself. The gateway itself
// speaks to the remote network, from its address in the local one.
func TestIpsecConf(t *testing.T) {
	us, them := labtest.NewNetns(t, "us"), labtest.NewNetns(t, "them")
	labtest.Link(t,
		labtest.End{Netns: us, Device: "wan", Addresses: []string{"192.168.14.2/25"}},
		labtest.End{Netns: them, Device: "wan", Addresses: []string{"192.168.14.1/25"}})
	us.IP(t, "address add 192.168.15.1/32 dev lo", "route add default via 192.168.14.1")
	them.IP(t, "address add 192.168.14.129/25 dev lo", "route add default via 192.168.14.2")
	peer := labtest.StartCharon(t, them)
	peer.Load(t, pfSensePeer)
	gw := labtest.StartInstalledIpsecd(t, us, map[string]string{
		"ipsec.conf":    pfSenseConf,
		"ipsec.secrets": "192.168.14.2 192.168.14.1 : PSK \"a key: with # and blanks\"\n",
	})
	const name = "pfsense-ipsec"
	waitUp := func() {
		labtest.WaitFor(t, time.Minute, "the tunnel", func() error {
			_, err := gw.Child(name)
			return err
		})
	}
	waitUp()
	checkPolicies(t, us)
	labtest.WaitFor(t, time.Minute, "the source route", sourceRoute(us, true))
	labtest.Ping(t, us, 3, "192.168.14.129")
	labtest.IperfServers(t, them, 5201)
	flow := labtest.RunFlows(t, labtest.Flow{From: us, To: "192.168.14.129", Port: 5201, Bytes: 256 << 10})
	if flow[0].BitsPerSecond == 0 {
		t.Error("no TCP through the tunnel")
	}
	for _, s := range labtest.XfrmStates(t, us) {
		if s.Algorithm != "rfc4106(gcm(aes))" || s.Packets == 0 {
			t.Errorf("an SA carried nothing, or not with AES-GCM: %+v", s)
		}
	}

	// PFS with group 14 is what only a rekeying shows.
	if err := gw.RekeyChild(name); err != nil {
		t.Fatal(err)
	}
	waitUp()
	labtest.Ping(t, us, 3, "192.168.14.129")

	gw.Stop(t)
	labtest.WaitFor(t, time.Minute, "the end of the source route", sourceRoute(us, false))
	if states, policies := labtest.StateCount(t, us); states+policies > 0 {
		t.Errorf("left in the kernel: %d SAs, %d policies", states, policies)
	}
}

// checkPolicies wants the three policies that strongSwan has, with its priority and
// with one reqid.
func checkPolicies(t *testing.T, us *labtest.Netns) {
	t.Helper()
	out := strings.Join(strings.Fields(us.Run(t, "ip", "xfrm", "policy")), " ")
	const there, back = "src 192.168.15.0/24 dst 192.168.14.128/25", "src 192.168.14.128/25 dst 192.168.15.0/24"
	const wayThere, wayBack = "src 192.168.14.2 dst 192.168.14.1", "src 192.168.14.1 dst 192.168.14.2"
	reqids := map[string]bool{}
	for _, p := range []struct{ dir, selector, way string }{{"out", there, wayThere}, {"fwd", back, wayBack}, {"in", back, wayBack}} {
		re := regexp.MustCompile(fmt.Sprintf(`%s dir %s priority 374911 (?:ptype main )?tmpl %s proto esp (?:spi 0x[0-9a-f]+ )?reqid (\d+)[( ]?\S* ?mode tunnel`, p.selector, p.dir, p.way))
		m := re.FindStringSubmatch(out)
		if m == nil {
			t.Errorf("no policy %s, dir %s, priority 374911 in:\n%s", p.selector, p.dir, out)
			continue
		}
		reqids[m[1]] = true
	}
	if len(reqids) != 1 {
		t.Errorf("the policies have the reqids %v, want one", reqids)
	}
}

// sourceRoute wants the route and its rule to be there, or both to be gone.
func sourceRoute(us *labtest.Netns, there bool) func() error {
	return func() error {
		rules, err := us.Try("ip", "rule", "show")
		if err != nil {
			return err
		}
		routes, _ := us.Try("ip", "route", "show", "table", "220") // fails where the table is empty
		rule := strings.Contains(rules, "220:\tfrom all lookup 220")
		route := strings.Contains(routes, "192.168.14.128/25 via 192.168.14.1 dev wan proto static src 192.168.15.1")
		if rule != there || route != there {
			return fmt.Errorf("rules:\n%s\ntable 220:\n%s", rules, routes)
		}
		return nil
	}
}
