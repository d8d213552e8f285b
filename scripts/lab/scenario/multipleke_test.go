//go:build lab

package scenario

import (
	"fmt"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// exchangeCase is a tunnel with ML-KEM or with more than one key exchange, as list-sas names them.
type exchangeCase struct {
	name       string
	ike, esp   string
	group      string // of the IKE SA and, after a rekey, of the CHILD_SA
	more1      string
	more2      string
	childGroup string
	childMore1 string
}

var exchangeCases = []exchangeCase{
	{"hybrid", "aes256gcm16-prfsha384-x25519-ke1_mlkem768", "aes256gcm16-x25519-ke1_mlkem768",
		"CURVE_25519", "ML_KEM_768", "", "CURVE_25519", "ML_KEM_768"},
	{"three", "aes256gcm16-prfsha384-ecp384-ke1_mlkem1024-ke2_ecp521", "aes256gcm16-ecp384-ke1_mlkem512",
		"ECP_384", "ML_KEM_1024", "ECP_521", "ECP_384", "ML_KEM_512"},
	{"classic", "aes128-sha256-x25519-ke1_ecp256", "aes128-sha256-x25519-ke1_ecp256",
		"CURVE_25519", "ECP_256", "", "CURVE_25519", "ECP_256"},
	{"alone", "aes128gcm16-prfsha256-mlkem768", "aes128gcm16-mlkem512",
		"ML_KEM_768", "", "", "ML_KEM_512", ""},
}

// TestMultipleKE sets tunnels up with strongSwan 6, from either side, with ML-KEM and several key exchanges, in IKE_INTERMEDIATE
// messages that need fragments; then it rekeys both SAs from either side and from both, under a ping that loses nothing.
func TestMultipleKE(t *testing.T) {
	p := newPair(t)
	var ourConns, theirConns []connection
	var ours, theirs []tunnelInterface
	for i, c := range exchangeCases {
		for _, role := range []string{"initiator", "responder"} {
			n := 2*i + 1
			if role == "responder" {
				n++
			}
			conn := p.tunnel(c.name+"-"+role, n, suite{ike: c.ike, esp: c.esp})
			conn.childOptions = "replay_window = 4096"
			ourConns, theirConns = append(ourConns, conn), append(theirConns, conn.reversed())
			ours, theirs = append(ours, p.usInterface(n)), append(theirs, p.themInterface(n))
		}
	}
	addInterfaces(t, p.them, theirs)
	t.Cleanup(func() { removeInterfaces(t, p.them, theirs) })
	charon := labtest.StartCharon6(t, p.them)
	charon.Load(t, swanctlConf(theirConns))
	us, them := startIpsecd(t, p.us, ourConns, ours, "").Vici, charon.Vici

	for i, c := range exchangeCases {
		for j, initiator := range []labtest.Vici{us, them} {
			conn, n := ourConns[2*i+j], 2*i+j+1
			t.Run(conn.name, func(t *testing.T) {
				initiator.Initiate(t, conn.name)
				awaitChild(t, conn.name, us, them)
				c.checkIKE(t, conn.name, us, them)
				inner := p.themInner(n)
				r := rekeyer{conn: conn.name, pair: p, us: us, them: them, ping: func(t *testing.T) { labtest.Ping(t, p.us, 2, inner) }}
				ping := labtest.StartPing(t, p.us, rekeyPing, inner)
				child := func(v labtest.Vici) error { return v.RekeyChild(conn.name) }
				ike := func(v labtest.Vici) error { return v.RekeyIKE(conn.name) }
				both := []labtest.Vici{us, them}
				r.once(t, child, []labtest.Vici{initiator}, r.childSPI)
				c.checkChild(t, conn.name, us, them)
				r.once(t, ike, []labtest.Vici{initiator}, r.ikeID)
				c.checkIKE(t, conn.name, us, them)
				if i == 0 {
					r.once(t, child, both, r.childSPI)
					r.once(t, ike, both, r.ikeID)
				}
				if result := ping.Stop(t); result.Lost > 0 {
					t.Errorf("ping: %v\nus: %v\nthem: %v", result, labtest.XfrmErrors(t, p.us), labtest.XfrmErrors(t, p.them))
				}
			})
		}
	}
}

func (c exchangeCase) checkIKE(t *testing.T, conn string, sides ...labtest.Vici) {
	t.Helper()
	want := fmt.Sprint(c.group, " ", c.more1, " ", c.more2)
	for _, side := range sides {
		sa, err := side.IKE(conn)
		if got := fmt.Sprint(sa.Group, " ", sa.More1, " ", sa.More2); err != nil || got != want {
			t.Errorf("the IKE SA has the key exchanges %q (%v), want %q", got, err, want)
		}
	}
}

func (c exchangeCase) checkChild(t *testing.T, conn string, sides ...labtest.Vici) {
	t.Helper()
	want := c.childGroup + " " + c.childMore1
	for _, side := range sides {
		sa, err := side.Child(conn)
		if got := sa.Group + " " + sa.More1; err != nil || got != want {
			t.Errorf("the rekeyed CHILD_SA has the key exchanges %q (%v), want %q", got, err, want)
		}
	}
}

// TestMultipleKEOptional: strongSwan 5, which knows one key exchange only, gets a tunnel where the others may be left out.
func TestMultipleKEOptional(t *testing.T) {
	p := newPair(t)
	conn := p.tunnel("optional", 1, suite{ike: "aes256gcm16-prfsha384-x25519-ke1_mlkem768,aes256gcm16-prfsha384-x25519", esp: "aes256gcm16"})
	theirs := conn.reversed()
	theirs.ike = "aes256gcm16-prfsha384-x25519"
	them := startCharon(t, p.them, []connection{theirs}, []tunnelInterface{p.themInterface(1)})
	us := startIpsecd(t, p.us, []connection{conn}, []tunnelInterface{p.usInterface(1)}, "").Vici
	us.Initiate(t, conn.name)
	awaitChild(t, conn.name, us, them.Vici)
	labtest.Ping(t, p.us, 2, p.themInner(1))
}
