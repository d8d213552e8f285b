package config

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// TestPoolRange checks which addresses charon's rules give: the first and the last of a network are left out, and a network may
// be written with the address from which on it counts.
func TestPoolRange(t *testing.T) {
	for _, c := range []struct {
		addrs, base string
		size        uint32
	}{
		{"10.3.0.0/24", "10.3.0.1", 254},
		{"10.3.0.0/28", "10.3.0.1", 14},
		{"10.3.0.5/28", "10.3.0.5", 10},
		{"10.3.0.0/31", "10.3.0.0", 2},
		{"10.3.0.1/31", "10.3.0.1", 1},
		{"10.3.0.7/32", "10.3.0.7", 1},
		{"10.3.0.7", "10.3.0.7", 1},
		{"0.0.0.0/0", "0.0.0.1", 1<<31 - 2},
		{"10.3.0.10-10.3.0.20", "10.3.0.10", 11},
		{"10.3.0.255-10.3.1.0", "10.3.0.255", 2},
		{"fec3::/120", "fec3::1", 254},
		{"fec3::/64", "fec3::1", 1<<31 - 2},
		{"fec3::10-fec3::1f", "fec3::10", 16},
		{"%config", "", 0},
	} {
		base, size, err := poolRange(c.addrs)
		if want, _ := netip.ParseAddr(c.base); err != nil || base != want || size != c.size {
			t.Errorf("%s: %d addresses from %v on, %v; expected %d from %s", c.addrs, size, base, err, c.size, c.base)
		}
	}
	for _, bad := range []string{"", "x", "10.3.0.0/33", "10.3.0.9-10.3.0.1", "10.3.0.1-fec3::1", "fec3::-fec4::", "10.3.0.15/28", "10.3.0.0-200.0.0.0"} {
		if base, size, err := poolRange(bad); err == nil {
			t.Errorf("%q is %d addresses from %v on", bad, size, base)
		}
	}
}

// TestPoolAttributes checks the encodings on the wire.
func TestPoolAttributes(t *testing.T) {
	c := load(t, `pools { rw {
  addrs = 10.3.0.0/24
  dns = 10.1.0.53, 2001:db8::53
  subnet = 10.1.0.0/16, 2001:db8::/32
  split_include = 10.2.0.0/15
  25 = corp.example
  28673 = 0x0102
} }`)
	want := []ike.PoolAttribute{
		{Type: 3, Value: "\x0a\x01\x00\x35"}, {Type: 10, Value: string(netip.MustParseAddr("2001:db8::53").AsSlice())},
		{Type: 13, Value: "\x0a\x01\x00\x00\xff\xff\x00\x00"}, {Type: 15, Value: string(netip.MustParseAddr("2001:db8::").AsSlice()) + "\x20"},
		{Type: 28676, Value: "\x0a\x02\x00\x00\xff\xfe\x00\x00"},
		{Type: 25, Value: "corp.example"}, {Type: 28673, Value: "\x01\x02"},
	}
	got := c.IKE.Pools[0].Attributes
	if len(got) != len(want) {
		t.Fatalf("%d attributes: %v", len(got), got)
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no attribute %d %q among %v", w.Type, w.Value, got)
		}
	}
}

// TestPoolMistakes names what is wrong where.
func TestPoolMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"pools { rw { dns = 10.1.0.1 } }", "pools.rw has no addrs"},
		{"pools { rw {\n addrs = 10.3.0.0/24\n dsn = 10.1.0.1\n} }", "unknown key pools.rw.dsn; did you mean dns?"},
		{"pools { rw {\n addrs = 10.3.0.0/24\n dns = here\n} }", `pools.rw.dns = "here": expected an address or a network`},
		{"pools { addrs = 10.3.0.0/24 }", "found the key addrs, expected sections"},
	} {
		_, err := LoadFS(etc(c.text), DefaultPath)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", c.text, err, c.want)
		}
	}
	c := load(t, "pools {\n a { addrs = 10.3.0.0/24 }\n b { addrs = 10.3.0.128/25 }\n}")
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].String(), ":3: pools.b and pools.a have addresses in common") {
		t.Errorf("warnings: %v", c.Warnings)
	}
}

// TestLoadedPools has clients add pools, replace and unload those of the files, until the files are read anew.
func TestLoadedPools(t *testing.T) {
	fsys := etc("pools {\n a { addrs = 10.3.0.0/24 }\n b { addrs = 10.4.0.0/24 }\n}")
	pool := func(name, addrs string) *settings.Section {
		t := settings.NewTree(name, Position{File: LoadedFile, Line: 1})
		t.Set("addrs", settings.Value{Text: addrs, Quoted: true})
		return t.Section()
	}
	show := func(l *Loaded) string {
		t.Helper()
		c, err := loadBeside(fsys, DefaultPath, l)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, p := range c.IKE.Pools {
			out = append(out, p.Name+" "+p.Base.String())
		}
		return strings.Join(out, ", ")
	}
	l := (*Loaded)(nil).WithPool(pool("a", "10.5.0.0/24")).WithPool(pool("c", "10.6.0.0/24")).WithoutPool("b")
	if got, want := show(l), "a 10.5.0.1, c 10.6.0.1"; got != want {
		t.Errorf("loaded: %s, expected %s", got, want)
	}
	c, _ := LoadFS(fsys, DefaultPath)
	if got, want := show(l.After(c)), "a 10.3.0.1, b 10.4.0.1, c 10.6.0.1"; got != want {
		t.Errorf("read anew: %s, expected %s", got, want)
	}
}
