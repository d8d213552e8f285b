package config

import (
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// pfSense is how the operator of a gateway towards pfSense wrote it.
const pfSense = `conn pfsense-ipsec
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

const pfSenseSecrets = "192.168.14.2 192.168.14.1 : PSK \"s3cret\"\n"

// host makes a file system of names without the leading slash, and texts, that
// only their owner may read.
func host(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1]), Mode: 0o600}
	}
	return fsys
}

// loadHost reads the installed files of a host with the address 192.168.14.2.
func loadHost(fsys fstest.MapFS) (*Config, error) {
	return loadFrom(source{fsys: fsys, files: installed(fsys), local: func(a netip.Addr) bool { return a.String() == "192.168.14.2" }})
}

func TestIpsecConf(t *testing.T) {
	c, err := loadHost(host("etc/ipsec.conf", pfSense, "etc/ipsec.secrets", pfSenseSecrets))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.IKE.Connections) != 1 || len(c.IKE.Connections[0].Children) != 1 {
		t.Fatalf("%+v", c.IKE.Connections)
	}
	conn := c.IKE.Connections[0]
	child := conn.Children[0]
	us, them := netip.MustParseAddr("192.168.14.2"), netip.MustParseAddr("192.168.14.1")
	if conn.Name != "pfsense-ipsec" || conn.Source != "/etc/ipsec.conf:1" || child.Name != conn.Name ||
		!conn.LocalAddrs[0].Prefix.Contains(us) || !conn.RemoteAddrs[0].Prefix.Contains(them) ||
		conn.Local.Method != ike.AuthPSK || conn.Local.ID != auth.FromAddr(us) || conn.Remote.ID != auth.FromAddr(them) ||
		conn.RekeyTime != 0 || conn.ReauthTime != 31140*time.Second || conn.KeyingTries != 3 || conn.Unique != ike.UniqueReplace {
		t.Errorf("%+v", conn)
	}
	if child.StartAction != ike.ActionStart || child.Mode != ike.ModeTunnel || child.LifeTime != 31680*time.Second || child.RekeyTime != 31140*time.Second ||
		child.LocalTS[0].Start.String() != "192.168.15.0" || child.RemoteTS[0].End.String() != "192.168.14.255" {
		t.Errorf("%+v", child)
	}
	if conn.Proposals[0].String() != "aes256-sha256-prfsha256-modp2048" || len(conn.Proposals) < 2 ||
		child.Proposals[0].String() != "aes256gcm16-modp2048" || len(child.Proposals) < 2 {
		t.Errorf("%v, %v", conn.Proposals, child.Proposals)
	}
	if keys := auth.Lookup(c.IKE.Secrets, conn.Local.ID, conn.Remote.ID); len(keys) != 1 || string(keys[0].Key.Bytes()) != "s3cret" {
		t.Errorf("pre-shared keys: %v", keys)
	}
}

// Seen from the other end the same files say the same.
func TestIpsecConfFromTheOtherEnd(t *testing.T) {
	turned := strings.NewReplacer("left", "right", "right", "left").Replace(pfSense)
	here, err := loadHost(host("etc/ipsec.conf", pfSense, "etc/ipsec.secrets", pfSenseSecrets))
	if err != nil {
		t.Fatal(err)
	}
	there, err := loadHost(host("etc/ipsec.conf", turned, "etc/ipsec.secrets", pfSenseSecrets))
	if err != nil {
		t.Fatal(err)
	}
	if p := Diff(here, there); !p.Empty() {
		t.Error(p)
	}
	there, err = loadHost(host("etc/ipsec.conf", turned, "etc/ipsec.secrets", pfSenseSecrets,
		"etc/strongswan.conf", "charon {\n plugins {\n  stroke {\n   allow_swap = no\n} } }\n"))
	if err != nil {
		t.Fatal(err)
	}
	if Diff(here, there).Empty() {
		t.Error("allow_swap = no is not honoured")
	}
}

// All installed files count, each once.
func TestInstalledFiles(t *testing.T) {
	fsys := host(
		"etc/ipsecd/ipsecd.conf", "include /etc/strongswan.conf\ninclude /etc/swanctl/swanctl.conf\ninclude /etc/ipsec.conf\nrouting { metric = 7\n}\n",
		"etc/strongswan.conf", "charon {\n port = 501\n}\n",
		"etc/swanctl/swanctl.conf", strings.ReplaceAll(minimal, "%s", "")+"include conf.d/*.conf\n",
		"etc/swanctl/conf.d/a.conf", "connections { more : connections.hq { } }\n",
		"etc/ipsec.conf", pfSense+"        reauth=no\nconn hq\n auto=start\n", "etc/ipsec.secrets", pfSenseSecrets,
	)
	c, err := loadHost(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, conn := range c.IKE.Connections {
		names = append(names, conn.Name)
	}
	if got := strings.Join(names, " "); got != "hq more pfsense-ipsec" || c.Ports.IKE != 501 || c.Routing.Metric != 7 || len(c.IKE.Secrets) != 2 {
		t.Errorf("connections %s, port %d, metric %d, secrets %d", got, c.Ports.IKE, c.Routing.Metric, len(c.IKE.Secrets))
	}
	want := "/etc/strongswan.conf /etc/swanctl/swanctl.conf /etc/swanctl/conf.d/a.conf /etc/ipsecd/ipsecd.conf /etc/ipsec.conf /etc/ipsec.secrets"
	if got := strings.Join(c.Files, " "); got != want {
		t.Errorf("files %s\nwant  %s", got, want)
	}
	if len(c.Warnings) != 1 || c.Warnings[0].String() != "/etc/ipsec.conf:18: conn hq is skipped: swanctl.conf has a connection of that name" {
		t.Errorf("warnings: %v", c.Warnings)
	}
	if _, err := loadHost(host()); err == nil || !strings.Contains(err.Error(), "/etc/ipsec.conf") {
		t.Errorf("without any file: %v", err)
	}
}

// An error names the file, the line and the parameter as they are written there.
func TestIpsecConfErrors(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"etc/ipsec.conf", "esp=aes256gcm16", "esp=aes257gcm16", `/etc/ipsec.conf:13: conn pfsense-ipsec: esp = "aes257gcm16-modp2048,default": ESP proposal "aes257gcm16-modp2048": unknown algorithm "aes257gcm16"`},
		{"etc/ipsec.conf", "leftsubnet=192.168.15.0/24", "leftsubnet=192.168.15.0/33", `/etc/ipsec.conf:5: conn pfsense-ipsec: leftsubnet = "192.168.15.0/33": "192.168.15.0/33": expected a subnet such as 10.1.0.0/16, a range, or dynamic; then optionally [protocol/port]`},
		{"etc/ipsec.conf", "  keyexchange", "keyexchange=ikev2\n  #", `/etc/ipsec.conf:3: found "keyexchange" at the beginning of a line`},
		{"etc/ipsec.conf", "auto=start", "auto=begin", `/etc/ipsec.conf:16: conn pfsense-ipsec: auto = "begin": expected one of add, ignore, route, start`},
		{"etc/ipsec.secrets", " : PSK", " PSK", "/etc/ipsec.secrets:1: found no ' : ' between the identities and the kind of secret"},
		{"etc/ipsec.secrets", "192.168.14.2 192.168.14.1", "@other", "/etc/ipsec.conf:1: connections.pfsense-ipsec has no pre-shared key"},
	} {
		fsys := host("etc/ipsec.conf", pfSense, "etc/ipsec.secrets", pfSenseSecrets)
		fsys[c.file].Data = []byte(strings.Replace(string(fsys[c.file].Data), c.old, c.new, 1))
		if c.file == "etc/ipsec.conf" && c.new[0] == 'k' {
			fsys[c.file].Data = []byte(strings.Replace(pfSense, "        keyexchange", "keyexchange", 1))
		}
		_, err := loadHost(fsys)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s:\ngot  %v\nwant %s", c.new, err, c.want)
		}
	}
}

// A line that moved is no difference; one connection that changed is one.
func TestReloadOfIpsecConf(t *testing.T) {
	const more = "conn other\n auto=add\n authby=psk\n right=198.51.100.1\n"
	read := func(conf, secrets string) *Config {
		t.Helper()
		c, err := loadHost(host("etc/ipsec.conf", conf, "etc/ipsec.secrets", secrets))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	secrets := pfSenseSecrets + ": PSK \"other\"\n"
	old := read(pfSense+more, secrets)
	if p := Diff(old, read("# moved\n\n"+more+pfSense, "# moved\n: PSK \"other\"\n"+pfSenseSecrets)); !p.Empty() {
		t.Errorf("after a mere move:\n%v", p)
	}
	p := Diff(old, read(pfSense+strings.Replace(more, "198.51.100.1", "198.51.100.2", 1), secrets))
	if got := strings.Split(p.String(), "\n")[0]; len(p.Changes) != 1 || got != "replace  connection other: remote_addrs, remote" {
		t.Errorf("one connection changed:\n%v", p)
	}
}

// A section that exempts traffic needs no peer.
func TestShuntOfIpsecConf(t *testing.T) {
	c, err := loadHost(host("etc/ipsec.conf", "conn lan\n type=passthrough\n authby=never\n leftsubnet=10.1.0.0/16\n rightsubnet=10.1.0.0/16\n auto=route\n"))
	if err != nil {
		t.Fatal(err)
	}
	child := c.IKE.Connections[0].Children[0]
	if len(c.Warnings) > 0 || child.Mode != ike.ModePass || child.StartAction != ike.ActionTrap {
		t.Errorf("%v, %+v", c.Warnings, child)
	}
}
