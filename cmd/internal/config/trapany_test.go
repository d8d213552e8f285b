package config

import (
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/ike"
)

// A trap needs no address of a peer in transport mode, in either file, for all or for those of a subnet or range.
func TestTrapForAnyPeer(t *testing.T) {
	swanctl := `connections { mesh {
 remote_addrs = REMOTE
 local { auth = psk }
 remote { auth = psk }
 children { host { mode = transport
  start_action = trap } }
} }
secrets { ike { secret = x } }
`
	for remote, want := range map[string]string{
		"%any": "0.0.0.0/0", "%any6": "::/0", "192.0.2.0/24": "192.0.2.0/24",
		"192.0.2.0-192.0.2.2, 10.0.0.0/8": "192.0.2.0/31 192.0.2.2/32 10.0.0.0/8",
	} {
		c := loadFiles(t, map[string]string{"etc/swanctl/swanctl.conf": strings.Replace(swanctl, "REMOTE", remote, 1)})
		wantTrap(t, c, want)
	}
	c, err := loadHost(host("etc/ipsec.conf", "conn mesh\n type=transport\n authby=secret\n keyexchange=ikev2\n left=%defaultroute\n right=%any\n auto=route\n", "etc/ipsec.secrets", ": PSK \"x\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	wantTrap(t, c, "0.0.0.0/0")
}

// Of two traps for the same packets only one can have them.
func TestTrapsForAnyPeerMeet(t *testing.T) {
	one := "NAME { local { auth = psk }\n remote { auth = psk }\n children { host { mode = transport\n start_action = trap } } }\n"
	text := "connections {\n" + strings.Replace(one, "NAME", "a", 1) + strings.Replace(one, "NAME", "b", 1) + "}\nsecrets { ike { secret = x } }\n"
	c := loadFiles(t, map[string]string{"etc/swanctl/swanctl.conf": text})
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].String(), "connections.b.children.host has the selectors") {
		t.Errorf("warnings: %v", c.Warnings)
	}
}

func wantTrap(t *testing.T, c *Config, want string) {
	t.Helper()
	conn := c.IKE.Connections[0]
	_, remote, ok := conn.AnyPeerTrap(conn.Children[0])
	var got []string
	for _, ts := range remote {
		got = append(got, ts.String())
	}
	if !ok || strings.Join(got, " ") != want || conn.Children[0].StartAction != ike.ActionTrap {
		t.Errorf("the trap is for %v, want %s: %v, %v", got, want, conn.RemoteAddrs, ok)
	}
}
