package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ipsecd/ipsecd/ike"
)

// What strongSwan does and we do not costs the connection, or the child, that asks for it, with a warning, and no other.
func TestLeftOut(t *testing.T) {
	const served = `
connections { other {
  remote_addrs = 192.0.2.9
  local { auth = psk }
  remote { auth = psk }
  children { lan { } }
} }
`
	remote := func(s string) string {
		return strings.Replace(at("", ""), "remote { auth = psk }", "remote { "+s+" }", 1)
	}
	for _, c := range []struct {
		text, want string
		conns      string // with their children
	}{
		{at("version = 1", ""), `6: connections.hq.version = "1": IKEv1 is not supported; connection hq is left out`, "other/lan"},
		{at("version = 1\nnonsense = 1", ""), `6: connections.hq.version = "1": IKEv1 is not supported; connection hq is left out`, "other/lan"},
		{at("local_addrs = gw.example.org", ""), `6: connections.hq.local_addrs = "gw.example.org": the host name gw.example.org cannot be used here; write the address; connection hq is left out`, "other/lan"},
		{at("local-2 { auth = psk }", ""), `6: connections.hq.local-2: several rounds of authentication are not supported; connection hq is left out`, "other/lan"},
		{remote("auth = eap-mschapv2"), `5: connections.hq.remote.auth = "eap-mschapv2": EAP is not supported; connection hq is left out`, "other/lan"},
		{remote("auth = xauth"), `5: connections.hq.remote.auth = "xauth": XAUTH is not supported; connection hq is left out`, "other/lan"},
		{remote("auth = psk\ngroups = sales"), `6: connections.hq.remote.groups = "sales": attribute certificates are not supported; connection hq is left out`, "other/lan"},
		{remote("auth = psk\ncacert1 { handle = 0a\n}"), `6: unable to load certificate: cacert1: certificates on smartcards are not supported; connection hq is left out`, "other/lan"},
		{at("", "mode = beet"), `8: connections.hq.children.net.mode = "beet": not supported; child net is left out`, "hq other/lan"},
		{at("", "}\nsecond { ah_proposals = sha256"), `9: connections.hq.children.second.ah_proposals: AH is not supported; child second is left out`, "hq/net other/lan"},
	} {
		got := load(t, c.text+served)
		if w := warnings(got); !slices.Contains(w, c.want) || len(w) > 2 {
			t.Errorf("%s\n got %q\nwant %q", c.text, w, c.want)
		}
		var conns []string
		for _, conn := range got.IKE.Connections {
			name := conn.Name
			for _, child := range conn.Children {
				name += "/" + child.Name
			}
			conns = append(conns, name)
		}
		slices.Sort(conns)
		if text := strings.Join(conns, " "); text != c.conns {
			t.Errorf("%s\nhas %s, want %s", c.text, text, c.conns)
		}
	}
}

// A client that loads such a connection is told so.
func TestUnsupportedOverVICI(t *testing.T) {
	fsys := fstest.MapFS{"swanctl.conf": &fstest.MapFile{Data: []byte("secrets { ike { secret = x } }")}}
	for key, value := range map[string]string{"version": "1", "local_addrs": "gw.example.org"} {
		s := loadedConn("hq", "192.0.2.7", key, value)
		var none *Loaded
		if _, err := loadBeside(fsys, "/swanctl.conf", none.WithConnection(s)); err == nil || !strings.Contains(err.Error(), "hq."+key) {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
}

// A start action that can do nothing is a warning, and the connection is there for its peers.
func TestStartActionWithoutAddress(t *testing.T) {
	for _, c := range []struct {
		addrs, child, want string
		action             ike.ChildAction
	}{
		{"", "start_action = start", "start_action is without effect: remote_addrs has no single address to connect to; set it, or start_action = none", ike.ActionClear},
		{"", "start_action = trap", "start_action is without effect: a trap in tunnel mode needs a single address in remote_addrs, for its policies; set it, or mode = transport to trap for any peer", ike.ActionClear},
		{"remote_addrs = gw.example.org", "start_action = trap", "start_action is without effect: a trap needs an address in remote_addrs besides host names, for its policies", ike.ActionClear},
		{"remote_addrs = gw.example.org", "start_action = start", "", ike.ActionStart},
		{"", "start_action = trap\n mode = transport", "", ike.ActionTrap},
	} {
		text := fmt.Sprintf("connections { hq {\n %s\n local { auth = psk }\n remote { auth = psk }\n children { net { %s\n } }\n} }\nsecrets { ike { secret = x } }", c.addrs, c.child)
		got := load(t, text)
		var want []string
		if c.want != "" {
			want = []string{"1: connections.hq.children.net: " + c.want}
		}
		if w := warnings(got); !slices.Equal(w, want) {
			t.Errorf("%s %s\n got %q\nwant %q", c.addrs, c.child, w, want)
		}
		conn := got.IKE.Connections[0]
		if a := conn.Children[0].StartAction; a != c.action {
			t.Errorf("%s %s: action %d, want %d", c.addrs, c.child, a, c.action)
		}
		if can, want := NoTrap(conn, conn.Children[0]) == "", c.action == ike.ActionTrap; can != want {
			t.Errorf("%s %s: a trap can be installed: %v", c.addrs, c.child, can)
		}
	}
}

// A reload does not take away what is being served because it asks for more by now.
func TestNoLonger(t *testing.T) {
	anyPeer := func(child string) string { return strings.Replace(at("", child), "remote_addrs = 192.0.2.1", "", 1) }
	for _, c := range []struct{ old, now, want string }{
		{at("", ""), at("version = 1", ""), `IKEv1 is not supported; connection hq is left out; up to now connection hq is served: remove it if it is to go`},
		{at("version = 1", ""), at("version = 1", ""), ""},
		{at("", ""), at("", ""), ""},
		{at("", ""), at("", "mode = beet"), `not supported; child net is left out; up to now child net is served: remove it if it is to go`},
		{at("", ""), at("", "}\nsecond { mode = beet"), ""},
		{at("", "start_action = trap"), anyPeer("start_action = trap"), `set it, or mode = transport to trap for any peer; up to now child net is served: remove it if it is to go`},
		{anyPeer("start_action = trap"), anyPeer("start_action = trap"), ""},
		{anyPeer(""), anyPeer("start_action = trap"), ""},
	} {
		err := load(t, c.now).NoLonger(load(t, c.old))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want) || !strings.HasPrefix(err.Error(), DefaultPath+":")) {
			t.Errorf("%s\nthen %s\n got %v\nwant %s", c.old, c.now, err, c.want)
		}
	}
}
