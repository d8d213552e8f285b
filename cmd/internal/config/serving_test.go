package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// aConn is a connection with a key of its own.
func aConn(name, key string) string {
	return "connections { " + name + " {\n remote_addrs = 192.0.2.1\n local { auth = psk }\n remote { auth = psk }\n " + key + "\n children { net { } }\n} }\n"
}

// A daemon that starts serves the connections without mistakes, as charon does, and the mistakes are told. Mistakes elsewhere, or in all connections,
// leave nothing to start with.
func TestServing(t *testing.T) {
	const secrets = "secrets { ike { secret = x } }\n"
	for _, c := range []struct {
		name, text string
		conns      []string // nil: an error
		mistakes   []string // parts of them
	}{
		{"none", secrets + aConn("a", "") + aConn("b", ""), []string{"a", "b"}, nil},
		{"a key", secrets + aConn("a", "rekeytime = 4h") + aConn("b", ""), []string{"b"}, []string{"unknown key connections.a.rekeytime"}},
		{"two of one", secrets + aConn("a", "rekeytime = 4h\nencap = maybe") + aConn("b", ""), []string{"b"}, []string{"rekeytime", "encap"}},
		{"of two", secrets + aConn("a", "rekeytime = 4h") + aConn("b", "encap = maybe") + aConn("c", ""), []string{"c"}, []string{"a.rekeytime", "b.encap"}},
		{"no secret", "secrets { ike { id = 192.0.2.9\n secret = x } }\n" + aConn("a", "local_addrs = 10.0.0.1") + aConn("b", ""), []string{"b"}, []string{"connections.a has no pre-shared key"}},
		{"a file", secrets + strings.Replace(aConn("a", ""), "remote { auth = psk }", "remote { auth = pubkey\n cacerts = gone.pem\n }", 1) + aConn("b", ""), []string{"b"}, []string{"gone.pem"}},
		{"a secret", secrets + "secrets { private-x { file = gone.key } }\n" + aConn("a", ""), []string{"a"}, []string{"gone.key"}},
		{"a secret that is needed", "secrets { ike { secret = \"\" } }\n" + aConn("a", ""), nil, nil},
		{"all", secrets + aConn("a", "rekeytime = 4h") + aConn("b", "encap = maybe"), nil, nil},
		{"elsewhere", secrets + "metrics { lisen = x }\n" + aConn("a", "rekeytime = 4h") + aConn("b", ""), nil, nil},
	} {
		f, err := ReadFS(etc(c.text), DefaultPath)
		if err != nil {
			t.Fatal(err)
		}
		_, strictErr := f.Beside(nil)
		got, mistakes, err := f.Serving()
		if c.conns == nil {
			if err == nil || got != nil || !strings.HasPrefix(err.Error(), strictErr.Error()) {
				t.Errorf("%s: %v\nwant %v", c.name, err, strictErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if text := errors.Join(mistakes...); (strictErr == nil) != (text == nil) || text != nil && text.Error() != strictErr.Error() {
			t.Errorf("%s: mistakes %v\nwant %v", c.name, text, strictErr)
		}
		for _, m := range c.mistakes {
			if !strings.Contains(fmt.Sprint(mistakes), m) {
				t.Errorf("%s: mistakes %v lack %s", c.name, mistakes, m)
			}
		}
		names := connNames(got)
		if !slices.Equal(names, c.conns) {
			t.Errorf("%s: serves %v, want %v", c.name, names, c.conns)
		}
		if again, err := f.Beside(nil); err != nil || !slices.Equal(connNames(again), c.conns) {
			t.Errorf("%s: a client's edit fails: %v", c.name, err)
		}
	}
}

func connNames(c *Config) (names []string) {
	for _, conn := range c.IKE.Connections {
		names = append(names, conn.Name)
	}
	return names
}
