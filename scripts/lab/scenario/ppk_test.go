//go:build lab

package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// ppkEnd is what one end has: a key under a name, and whether it insists.
type ppkEnd struct {
	key      string
	required bool
}

// ppkCase is a tunnel whose ends may mix in a post-quantum pre-shared key (RFC 8784).
type ppkCase struct {
	name         string
	ours, theirs ppkEnd
	up, used     bool
	why          string // in our log, where it does not come up and we know
}

var ppkCases = []ppkCase{
	{name: "required", ours: ppkEnd{"very random", true}, theirs: ppkEnd{"very random", true}, up: true, used: true},
	{name: "optional", ours: ppkEnd{"very random", false}, theirs: ppkEnd{"very random", false}, up: true, used: true},
	{name: "lacks-optional", ours: ppkEnd{"very random", false}, up: true},
	{name: "lacks-required", ours: ppkEnd{"very random", true}, why: "PPK"},
	{name: "wrong", ours: ppkEnd{"very random", true}, theirs: ppkEnd{"other", true}, why: "PPK"},
}

// TestPPK sets tunnels up with PPKs, from either side: the same key, none at the peer, and another one.
func TestPPK(t *testing.T) {
	p := newPair(t)
	var ourConns, theirConns []connection
	var ourSecrets, theirSecrets strings.Builder
	var ours, theirs []tunnelInterface
	for i, c := range ppkCases {
		for j, role := range []string{"initiator", "responder"} {
			n := 2*i + j + 1
			conn := p.tunnel(c.name+"-"+role, n, suites[0])
			them := conn.reversed()
			conn.options = c.ours.options(conn.name)
			them.options = c.theirs.options(conn.name)
			ourConns, theirConns = append(ourConns, conn), append(theirConns, them)
			ours, theirs = append(ours, p.usInterface(n)), append(theirs, p.themInterface(n))
			c.ours.secret(&ourSecrets, conn.name)
			c.theirs.secret(&theirSecrets, conn.name)
		}
	}
	addInterfaces(t, p.them, theirs)
	t.Cleanup(func() { removeInterfaces(t, p.them, theirs) })
	charon := labtest.StartCharon(t, p.them)
	charon.Load(t, swanctlConf(theirConns)+"secrets {\n"+theirSecrets.String()+"}\n")
	us := labtest.StartIpsecd(t, p.us, "include swanctl.conf\n"+interfacesConf(ours),
		map[string]string{"swanctl.conf": swanctlConf(ourConns) + "secrets {\n" + ourSecrets.String() + "}\n"})

	for i, c := range ppkCases {
		for j, initiator := range []labtest.Vici{us.Vici, charon.Vici} {
			conn, n := ourConns[2*i+j], 2*i+j+1
			t.Run(conn.name, func(t *testing.T) {
				_, err := initiator.Call("initiate", "child", conn.name, "timeout", "60000")
				if !c.up {
					if err == nil {
						t.Error("it came up")
					}
					labtest.WaitFor(t, setupTime, "our log to say why", func() error {
						if !logs(us.Log(), conn.name, c.why) {
							return fmt.Errorf("no line about %s names %q", conn.name, c.why)
						}
						return nil
					})
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				awaitChild(t, conn.name, us.Vici, charon.Vici)
				labtest.Ping(t, p.us, 2, p.themInner(n))
				for _, side := range []labtest.Vici{us.Vici, charon.Vici} {
					if sa, err := side.IKE(conn.name); err != nil || (sa.PPK == "yes") != c.used {
						t.Errorf("PPK used: %q (%v), want %v", sa.PPK, err, c.used)
					}
				}
			})
		}
	}
}

func (e ppkEnd) options(name string) string {
	if e.key == "" {
		return ""
	}
	required := "no"
	if e.required {
		required = "yes"
	}
	return fmt.Sprintf("ppk_id = ppk-%s\n ppk_required = %s", name, required)
}

func (e ppkEnd) secret(b *strings.Builder, name string) {
	if e.key != "" {
		fmt.Fprintf(b, "ppk-%s { id = ppk-%s\n secret = \"%s, and %s\" }\n", name, name, e.key, name)
	}
}

// logs reports whether a line of a log has both words.
func logs(log, a, b string) bool {
	for line := range strings.Lines(log) {
		if strings.Contains(line, a) && strings.Contains(line, b) {
			return true
		}
	}
	return false
}
