//go:build lab

package scenario

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// siteEnd is one end of a tunnel between sites, as it is configured. The texts are
// swanctl.conf's; a later line replaces an earlier one.
type siteEnd struct {
	addr    string // outer
	peer    string // the other's outer address as this end knows it; empty: the other's addr
	net     string // traffic selectors of this side
	host    string // inside net, that sends and answers
	id      string
	secret  string // pre-shared key; empty: the tunnel's
	secrets string // lines of ipsec.secrets; empty: the pre-shared key
	swapped bool   // in ipsec.conf, right is this end
	conn    string // further lines of the connection
	local   string // of its section local
	remote  string // of its section remote
	child   string // of its child
	more    string // further children
	alone   bool   // without the first child, only those
	ns      *labtest.Netns
	hosts   *labtest.Netns // the namespace that has host
	control labtest.Vici
}

// link is one tunnel; a plays the part of strongSwan's "moon" and sets it up.
type link struct {
	name string // of the connection and its first child
	n    int
	a, b siteEnd
	esp  string

	second *link // that the scenario needs too; nobody sets it up unasked
}

// link returns tunnel n with nothing special about it, between pre-shared keys.
func (s *sites) link(name string, n int, weInitiate bool) *link {
	us := siteEnd{addr: usOuter(n), net: aliceNet(n), host: aliceAt(n), id: name + ".us.example", ns: s.us, hosts: s.alice}
	them := siteEnd{addr: themOuter(n), net: bobNet(n), host: bobAt(n), id: name + ".them.example", ns: s.them, hosts: s.bob}
	l := &link{name: name, n: n, a: us, b: them, esp: "aes128gcm16"}
	if !weInitiate {
		l.a, l.b = them, us
	}
	return l
}

// ends returns our end and theirs.
func (s *sites) ends(l *link) (us, them *siteEnd) {
	if l.a.ns == s.us {
		return &l.a, &l.b
	}
	return &l.b, &l.a
}

// conf writes the connection for one end.
func (l *link) conf(me, other *siteEnd) string {
	return fmt.Sprintf(`    %[1]s {
        version = 2
        mobike = no
        local_addrs = %[2]s
        remote_addrs = %[3]s
        proposals = aes128gcm16-prfsha256-x25519
        %[4]s
        local {
            auth = psk
            id = %[5]s
            %[6]s
        }
        remote {
            auth = psk
            id = %[7]s
            %[8]s
        }
        children {
            %[9]s
        }
    }
`, l.name, me.addr, cmp.Or(me.peer, other.addr), me.conn, me.id, me.local, other.id, me.remote, l.children(me, other))
}

func (l *link) children(me, other *siteEnd) string {
	if me.alone {
		return me.more
	}
	return fmt.Sprintf(`%s {
                local_ts = %s
                remote_ts = %s
                esp_proposals = %s
                %s
            }
            %s`, l.name, me.net, other.net, l.esp, me.child, me.more)
}

// secrets writes the pre-shared key of one end.
func (l *link) secrets(me *siteEnd) string {
	return fmt.Sprintf("    ike-%s {\n        id-a = %s\n        id-b = %s\n        secret = \"%s\"\n    }\n",
		l.name, l.a.id, l.b.id, cmp.Or(me.secret, "psk of "+l.name))
}

// conf writes the configurations of both daemons.
func (s *sites) conf(links []*link) (ours, theirs string) {
	var us, them struct{ conns, secrets strings.Builder }
	for _, l := range links {
		our, their := s.ends(l)
		us.conns.WriteString(l.conf(our, their))
		us.secrets.WriteString(l.secrets(our))
		them.conns.WriteString(l.conf(their, our))
		them.secrets.WriteString(l.secrets(their))
	}
	wrap := func(conns, secrets *strings.Builder) string {
		return "connections {\n" + conns.String() + "}\nsecrets {\n" + secrets.String() + "}\n"
	}
	return wrap(&us.conns, &us.secrets), wrap(&them.conns, &them.secrets)
}
