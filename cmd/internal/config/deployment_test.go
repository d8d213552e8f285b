package config

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

const examples = "../../../examples"

var keyFile = regexp.MustCompile(`(?m)^\s*file = (\S+)$`)

// example loads a file of the examples, with a key in every file that it names.
func example(t *testing.T, name string) *Config {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{name: {Data: text}}
	beside := func(file string, data []byte) {
		fsys[path.Join(path.Dir(name), file)] = &fstest.MapFile{Data: data, Mode: 0o600}
	}
	for i, m := range keyFile.FindAllStringSubmatch(string(text), -1) {
		beside(m[1], fmt.Appendf(nil, "key %d\n", i+1))
	}
	if path.Base(name) == "ipsec.conf" {
		beside("ipsec.secrets", []byte(": PSK \"key\"\n"))
	}
	if bytes.Contains(text, []byte("auth = pubkey")) {
		ca := certify(t, nil, "ca.example.org", nil)
		gateway := certify(t, ca, "gateway.example.org", nil)
		beside("x509ca/ca.pem", []byte(ca.pem()))
		beside("x509/gateway.pem", []byte(gateway.pem()))
		beside("private/gateway.pem", []byte(asPEM("PRIVATE KEY", gateway.pkcs8(t))))
	}
	c, err := LoadFS(fsys, "/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every example loads without a warning, and none brings a key along.
func TestExamples(t *testing.T) {
	found := 0
	err := filepath.WalkDir(examples, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(p), examples+"/")
		switch filepath.Ext(p) {
		case ".conf":
			found++
			if w := example(t, name).Warnings; len(w) > 0 {
				t.Errorf("%s: %v", name, w)
			}
		case ".md":
		default:
			t.Errorf("%s: neither a configuration nor its description", name)
		}
		return nil
	})
	if err != nil || found < 15 {
		t.Errorf("%d examples, %v", found, err)
	}
}

// The addresses are those of the deployment, tunnel by tunnel.
func TestAzureOCI(t *testing.T) {
	c := example(t, "azure-oci/ipsecd.conf")
	table := []struct{ ours, theirs string }{
		{"169.254.21.5/31", "169.254.21.4"}, {"169.254.21.5/30", "169.254.21.6"},
		{"169.254.21.9/31", "169.254.21.8"}, {"169.254.21.9/30", "169.254.21.10"},
		{"169.254.21.13/31", "169.254.21.12"}, {"169.254.21.13/30", "169.254.21.14"},
		{"169.254.21.17/31", "169.254.21.16"}, {"169.254.21.17/30", "169.254.21.18"},
	}
	if len(c.IKE.Connections) != 8 || len(c.Interfaces) != 8 || len(c.BGP.Neighbors) != 9 || len(c.IKE.Secrets) != 8 {
		t.Fatalf("%d connections, %d interfaces, %d neighbours, %d secrets", len(c.IKE.Connections), len(c.Interfaces), len(c.BGP.Neighbors), len(c.IKE.Secrets))
	}
	for i, row := range table {
		name, id := fmt.Sprintf("oci%d", i+1), uint32(i+1)
		headEnd := netip.MustParseAddr(fmt.Sprintf("192.168.1.%d", i+1))
		conn, link, n := c.IKE.Connections[i], c.Interfaces[i], c.BGP.Neighbors[i]

		remote, single := firstSingle(conn.RemoteAddrs)
		local, _ := firstSingle(conn.LocalAddrs)
		if conn.Name != name || !single || remote != headEnd || conn.Remote.ID != auth.FromAddr(headEnd) ||
			local != netip.MustParseAddr("10.30.0.6") || conn.Local.ID != auth.FromAddr(local) || conn.DPDDelay != 10*time.Second {
			t.Errorf("connection %+v", conn)
		}
		if p := conn.Proposals; len(p) != 1 || p[0].String() != "aes256gcm16-prfsha384-ecp384" {
			t.Errorf("%s: proposals %v", name, p)
		}
		child := conn.Children[0]
		everything := selector("0.0.0.0", "255.255.255.255", 0, 0, 65535)
		if child.Interface != name || child.IfIDIn != id || child.IfIDOut != id || child.LocalTS[0] != everything || child.RemoteTS[0] != everything ||
			child.StartAction != ike.ActionStart || child.DPDAction != ike.ActionStart || child.ReplayWindow != 4096 {
			t.Errorf("child %+v", child)
		}
		if p := child.Proposals; len(p) != 1 || p[0].String() != "aes256gcm16-ecp384" {
			t.Errorf("%s: ESP proposals %v", name, p)
		}
		secrets := auth.Lookup(c.IKE.Secrets, conn.Local.ID, conn.Remote.ID)
		if len(secrets) != 1 || string(secrets[0].Key.Bytes()) != fmt.Sprint("key ", i+1) {
			t.Errorf("%s: %d secrets fit", name, len(secrets))
		}

		ours := netip.MustParsePrefix(row.ours)
		if link.Name != name || link.IfID != id || link.MTU != 1400 || len(link.Addresses) != 1 || link.Addresses[0] != ours {
			t.Errorf("interface %+v", link)
		}
		if n.Interface != name || n.Address != netip.MustParseAddr(row.theirs) || n.LocalAddress != ours.Addr() || n.AS != 31898 ||
			fmt.Sprint(n.Import) != "[10.2.0.0/16]" {
			t.Errorf("neighbour %+v", n)
		}
	}
	plain := c.BGP.Neighbors[8]
	if plain.Interface != "wan0" || plain.Address != netip.MustParseAddr("10.30.0.1") || plain.AS != 31898 || plain.LocalAddress.IsValid() || fmt.Sprint(plain.Import) != "[10.3.0.0/16]" {
		t.Errorf("neighbour without a tunnel %+v", plain)
	}
	if c.BGP.AS != 65515 || c.BGP.RouterID != netip.MustParseAddr("10.30.0.6") || fmt.Sprint(c.BGP.Networks) != "[10.1.0.0/16]" || fmt.Sprint(c.Protect) != "[10.2.0.0/16]" {
		t.Errorf("BGP %+v, protected %v", c.BGP, c.Protect)
	}
}

// The same from a disk: keys are found beside the file, and refused while
// others can read them.
func TestLoadFromDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(examples, "azure-oci"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if err := os.WriteFile(filepath.Join(dir, "keys", fmt.Sprintf("oci%d.psk", i+1)), []byte("key\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "ipsecd.conf")
	c, err := Load(file)
	if err != nil || len(c.IKE.Secrets) != 8 || c.Files[0] != file {
		t.Fatalf("%+v, %v", c, err)
	}
	key := filepath.Join(dir, "keys", "oci3.psk")
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), "run: chmod 600 "+key) || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("got %v", err)
	}
}
