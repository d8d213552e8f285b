package config

import (
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// loadedConn is a connection as a client loads it, with further keys and values.
func loadedConn(name, remote string, kv ...string) *settings.Section {
	at := settings.Position{File: LoadedFile, Line: 1}
	set := func(t *settings.Tree, key, text string) {
		t.Set(key, settings.Value{Position: at, Text: text, Quoted: true})
	}
	t := settings.NewTree(name, at)
	set(t, "remote_addrs", remote)
	for i := 0; i < len(kv); i += 2 {
		set(t, kv[i], kv[i+1])
	}
	set(t.Sub("local", at), "auth", "psk")
	set(t.Sub("remote", at), "auth", "psk")
	t.Sub("children", at).Sub("net", at)
	return t.Section()
}

// What a client loads stands in the place of the files' connection of that name, until
// they are read anew.
func TestLoadedBesideFiles(t *testing.T) {
	fsys := fstest.MapFS{"swanctl.conf": &fstest.MapFile{Data: []byte(`
connections { a { remote_addrs = 192.0.2.1
    local { auth = psk }
    remote { auth = psk }
    children { net { } } } }
secrets { ike { secret = x } }`)}}
	load := func(l *Loaded) *Config {
		t.Helper()
		c, err := loadBeside(fsys, "/swanctl.conf", l)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	remotes := func(c *Config) (out []string) {
		for _, k := range c.IKE.Connections {
			out = append(out, k.Name+" "+k.RemoteAddrs[0].Prefix.Addr().String())
		}
		return out
	}
	var none *Loaded
	l := none.WithConnection(loadedConn("a", "192.0.2.7")).WithConnection(loadedConn("b", "192.0.2.8"))
	if got := remotes(load(l)); !slices.Equal(got, []string{"a 192.0.2.7", "b 192.0.2.8"}) {
		t.Errorf("loaded: %v", got)
	}
	gone := l.WithoutConnection("a")
	if got := remotes(load(gone)); !slices.Equal(got, []string{"b 192.0.2.8"}) {
		t.Errorf("unloaded: %v", got)
	}
	for _, l := range []*Loaded{l, gone} {
		if got := remotes(load(l.After(load(nil)))); !slices.Equal(got, []string{"a 192.0.2.1", "b 192.0.2.8"}) {
			t.Errorf("after the files were read anew: %v", got)
		}
	}
	for _, c := range load(l).IKE.Connections {
		if !Swanctl(c) {
			t.Errorf("%s, which %s has, is not swanctl's", c.Name, c.Source)
		}
	}
}

// A trap that a client has installed or uninstalled stays so, until the file says otherwise about it.
func TestLoadedPolicies(t *testing.T) {
	load := func(action string, l *Loaded) *Config {
		t.Helper()
		fsys := fstest.MapFS{"swanctl.conf": &fstest.MapFile{Data: []byte(`
connections { a { remote_addrs = 192.0.2.1
    local { auth = psk }
    remote { auth = psk }
    children {
        net { start_action = ` + action + ` }
        open { mode = pass
               local_ts = 10.0.0.0/8 } } } }
secrets { ike { secret = x } }`)}}
		c, err := loadBeside(fsys, "/swanctl.conf", l)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	actions := func(c *Config) [2]ike.ChildAction {
		children := c.IKE.Connections[0].Children
		return [2]ike.ChildAction{children[0].StartAction, children[1].StartAction}
	}
	var none *Loaded
	for _, tt := range []struct {
		action    string
		on        bool
		want      ike.ChildAction
		open      ike.ChildAction
		newAction string
		then      ike.ChildAction
	}{
		{"none", true, ike.ActionTrap, ike.ActionTrap, "start", ike.ActionStart},
		{"start", true, ike.ActionTrapStart, ike.ActionTrap, "start", ike.ActionTrapStart},
		{"trap", false, ike.ActionClear, ike.ActionClear, "trap", ike.ActionClear},
		{"trap|start", false, ike.ActionStart, ike.ActionClear, "none", ike.ActionClear},
		{"trap", true, ike.ActionTrap, ike.ActionTrap, "none", ike.ActionClear},
	} {
		c := load(tt.action, none)
		l := none.WithPolicy(c, "a", "net", tt.on).WithPolicy(c, "a", "open", tt.on)
		if got := actions(load(tt.action, l)); got != [2]ike.ChildAction{tt.want, tt.open} {
			t.Errorf("%s, %v: %v", tt.action, tt.on, got)
		}
		back := l.WithPolicy(load(tt.action, l), "a", "net", !tt.on)
		if got, want := actions(load(tt.action, back))[0], tt.want.WithTrap(!tt.on); got != want {
			t.Errorf("%s, %v and back: %v, want %v", tt.action, tt.on, got, want)
		}
		if got := actions(load(tt.newAction, l.After(load(tt.newAction, none))))[0]; got != tt.then {
			t.Errorf("%s, %v, and then the file says %s: %v", tt.action, tt.on, tt.newAction, got)
		}
	}
}

// A connection that was read before is the same the next time, whatever was done with it meanwhile; one that is loaded again
// changes nothing.
func TestLoadedConnectionsAreRemembered(t *testing.T) {
	fsys := fstest.MapFS{"x.conf": &fstest.MapFile{Data: []byte("interfaces { x1 { if_id = 7 } }")}, "y.conf": &fstest.MapFile{Data: []byte("ports { ike = 501 }")}}
	read := func(file string) *Files {
		t.Helper()
		f, err := ReadFS(fsys, file)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	beside := func(f *Files, l *Loaded) *Config {
		t.Helper()
		c, err := f.Beside(l)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := func() *settings.Section {
		at := settings.Position{File: LoadedFile, Line: 1}
		tree := settings.NewTree("a", at)
		for _, kv := range [][2]string{{"if_id_in", "7"}, {"if_id_out", "7"}, {"remote_addrs", "192.0.2.7"}, {"vips", "0.0.0.0"}} {
			tree.Set(kv[0], settings.Value{Position: at, Text: kv[1], Quoted: true})
		}
		for _, side := range []string{"local", "remote"} {
			tree.Sub(side, at).Set("auth", settings.Value{Position: at, Text: "psk", Quoted: true})
		}
		tree.Sub("children", at).Sub("net", at)
		return tree.Section()
	}
	var none *Loaded
	l := none.WithConnection(a())
	x := read("/x.conf")
	first := beside(x, l)
	trapped := beside(x, l.WithPolicy(first, "a", "net", true))
	l = l.WithConnection(loadedConn("b", "192.0.2.8"))
	for name, f := range map[string]*Files{"/x.conf": x, "/y.conf": read("/y.conf")} {
		for range 2 {
			if got, want := beside(f, l), beside(read(name), l); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: remembered\n%+v\nread\n%+v", name, got.IKE.Connections[0], want.IKE.Connections[0])
			}
		}
	}
	if again := beside(x, l); again.IKE.Connections[0] != first.IKE.Connections[0] {
		t.Error("loading another connection read the first one again")
	}
	if trapped.IKE.Connections[0].Children[0].StartAction != ike.ActionTrap || first.IKE.Connections[0].Children[0].Interface != "x1" {
		t.Error("the trap, or the interface, is not there: nothing was tested")
	}
	if l.WithConnection(a()) != l {
		t.Error("the same connection once more is a change")
	}
}

func loadBeside(fsys fs.FS, path string, l *Loaded) (*Config, error) {
	f, err := ReadFS(fsys, path)
	if err != nil {
		return nil, err
	}
	return f.Beside(l)
}

// TestLoadedWithoutCertificate: an authority without a CA is refused in charon's words, and so is a certificate on a smartcard: the client
// would think that it is used.
func TestLoadedWithoutCertificate(t *testing.T) {
	fsys := fstest.MapFS{"swanctl.conf": &fstest.MapFile{Data: []byte("secrets { ike { secret = x\n} }")}}
	at := settings.Position{File: LoadedFile, Line: 1}
	handle := settings.Value{Position: at, Text: "0a0b", Quoted: true}
	var none *Loaded
	authority := settings.NewTree("a", at)
	authority.Set("handle", handle)
	conn := settings.NewTree("c", at)
	conn.Sub("local", at).Sub("cert1", at).Set("handle", handle)
	conn.Sub("remote", at)
	for want, l := range map[string]*Loaded{
		"VICI:1: CA certificate missing: a":           none.WithAuthority(authority.Section()),
		"VICI:1: unable to load certificate: cert1: ": none.WithConnection(conn.Section()),
	} {
		if _, err := loadBeside(fsys, "/swanctl.conf", l); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
