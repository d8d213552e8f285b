//go:build lab

package scenario

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// exampleGateway is where all of the examples are that are shown here.
const (
	exampleGateway = "192.0.2.1"
	exampleHost    = "10.1.0.1" // in the network behind it
)

// TestExamples has all examples of one gateway in one daemon, as they are, and charon as
// every other end.
func TestExamples(t *testing.T) {
	needIpsecd(t)
	us, them := labtest.NewNetns(t, "us"), labtest.NewNetns(t, "them")
	outer := []string{"192.0.2.254/24", carol + "/32"}
	for _, v := range vendors {
		if addr := v.addr + "/32"; !slices.Contains(outer, addr) {
			outer = append(outer, addr)
		}
	}
	labtest.Link(t, labtest.End{Netns: us, Device: "wan", Addresses: []string{exampleGateway + "/24"}},
		labtest.End{Netns: them, Device: "wan", Addresses: outer})
	us.IP(t, "address add "+exampleHost+"/32 dev lo", "route add default via 192.0.2.254",
		"link add gre1 type gre local 192.0.2.1 remote 198.51.100.90", "address add "+greInner+"/30 dev gre1", "link set gre1 mtu 1400 up")
	them.IP(t, "route add default via "+exampleGateway,
		"link add gre1 type gre local 198.51.100.90 remote 192.0.2.1", "address add "+greInnerThem+"/30 dev gre1", "link set gre1 mtu 1400 up")

	var conns, secrets string
	var interfaces []tunnelInterface
	keys := map[string]string{}
	for i, v := range vendors {
		conn, secret := v.conf(i + 1)
		conns, secrets = conns+conn, secrets+secret
		keys[v.name] = v.key()
		if v.inside != "" {
			interfaces = append(interfaces, tunnelInterface{xfrmi(i + 1), i + 1, []string{v.inside + "/30"}, 1400})
		}
		for _, s := range v.selectors {
			them.IP(t, "address add "+s+".1/32 dev lo")
		}
	}
	addInterfaces(t, them, interfaces)
	t.Cleanup(func() { removeInterfaces(t, them, interfaces) })
	conf, ours, theirFiles := exampleFiles(t, keys)
	peer := labtest.StartCharon(t, them, "install_virtual_ip = yes")
	peer.Files(t, theirFiles)
	peer.Load(t, "connections {\n"+conns+carolConf+"}\nsecrets {\n"+secrets+"}\n")
	capture := labtest.StartCapture(t, us, "wan")
	gw := labtest.StartIpsecd(t, us, conf, ours)
	for _, v := range vendors {
		t.Run(v.name, func(t *testing.T) { v.check(t, us, them, gw.Vici, peer.Vici) })
	}
	t.Run("roadwarriors", func(t *testing.T) { checkCarol(t, us, them, gw.Vici, peer.Vici) })
	capture.Finish(t)
	clear := "src host " + exampleGateway + " and proto 47 or icmp and (src host " + exampleHost + " or net 169.254.0.0/16)"
	if n := capture.Count(t, clear); n > 0 {
		t.Errorf("%d packets were sent in the clear, the first of them:\n%s", n, capture.Print(t, clear, 5))
	}
}

// check uses the tunnel before and after a rekey: only that shows whether both have the
// same key exchange for CHILD_SAs.
func (v vendor) check(t *testing.T, us, them *labtest.Netns, gw, peer labtest.Vici) {
	from, to := v.hosts()
	if v.inside != "" {
		awaitChild(t, v.name, gw, peer) // before, its inner addresses are as any other
	}
	for _, host := range to {
		labtest.AwaitPing(t, us, setupTime, "-I", from, host)
	}
	if v.name == "hub" {
		v.narrowed(t, gw)
		return
	}
	awaitChild(t, v.name, gw, peer)
	if v.want == "" {
		return
	}
	old, err := gw.Child(v.name)
	if err != nil {
		t.Fatal(err)
	}
	if err := gw.RekeyChild(v.name); err != nil {
		t.Fatal(err)
	}
	labtest.WaitFor(t, setupTime, "a new CHILD_SA", func() error {
		now, err := gw.Child(v.name)
		if err != nil {
			return err
		}
		if now.SPIIn == old.SPIIn {
			return fmt.Errorf("still the old one")
		}
		if got := now.Encryption + "/" + now.KeySize + "/" + now.Group; got != v.want {
			t.Fatalf("keys are %s, want %s", got, v.want)
		}
		return nil
	})
	for _, host := range to {
		labtest.Ping(t, us, 2, "-I", from, host)
		labtest.Ping(t, them, 2, "-I", host, from)
	}
}

// checkCarol has a host ask for an address, and use it.
func checkCarol(t *testing.T, us, them *labtest.Netns, gw, peer labtest.Vici) {
	peer.Initiate(t, "roadwarriors")
	awaitChild(t, "roadwarriors", gw, peer)
	child, err := gw.Child("roadwarriors")
	if err != nil {
		t.Fatal(err)
	}
	ts := strings.Join(child.RemoteTS, " ")
	addr, single := strings.CutSuffix(ts, "/32")
	if !single || !strings.HasPrefix(addr, "10.1.250.") {
		t.Fatalf("the host has %s, want an address of the pool", ts)
	}
	labtest.AwaitPing(t, them, setupTime, "-I", addr, exampleHost)
	labtest.Ping(t, us, 2, "-I", exampleHost, addr)
}

// narrowed wants a CHILD_SA for each of the hub's networks.
func (v vendor) narrowed(t *testing.T, gw labtest.Vici) {
	ike, err := gw.IKE(v.name)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range ike.Children {
		got = append(got, strings.Join(c.RemoteTS, " "))
	}
	slices.Sort(got)
	if strings.Join(got, ", ") != "10.80.1.0/24, 10.80.2.0/24" {
		t.Errorf("CHILD_SAs for %v, want one for each network of the hub", got)
	}
}

// exampleFiles reads the examples of the gateway, and makes keys and certificates for them.
// The configuration includes them all.
func exampleFiles(t *testing.T, keys map[string]string) (conf string, ours, theirs files) {
	t.Helper()
	ours, theirs = files{}, files{}
	root := os.DirFS(filepath.Join(labtest.SourceRoot(), "examples"))
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".conf" {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err == nil && strings.Contains(string(text), exampleGateway) && !strings.HasPrefix(name, "site-to-site/") {
			ours[name] = string(text)
			conf += "include " + name + "\n"
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range maps.Clone(ours) {
		for connection, key := range keys {
			if file := "keys/" + connection + ".psk"; strings.Contains(text, "file = "+file+"\n") {
				ours[path.Join(path.Dir(name), file)] = key + "\n"
			}
		}
	}
	ours["cisco/ipsec.secrets"] = fmt.Sprintf("%s 198.51.100.50 : PSK \"%s\"\n", exampleGateway, keys["asa-lan"])
	ca, own := newAuthority(t), files{}
	ca.issue(t, own, "gateway", "gateway.example.org", credential{key: "ecdsa256"}, nil)
	ca.issue(t, theirs, "branch", "branch.example.net", credential{key: "ecdsa256"}, nil)
	ca.issue(t, theirs, "carol", "carol.hosts.example.org", credential{key: "ecdsa256"}, nil)
	for name, text := range own {
		for _, example := range []string{"certificates", "roadwarrior"} {
			ours[path.Join(example, strings.Replace(name, "x509ca/root", "x509ca/ca", 1))] = text
		}
	}
	return conf, ours, theirs
}
