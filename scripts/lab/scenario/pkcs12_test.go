//go:build lab

package scenario

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestPKCS12 has our key, certificate and CA in a container that OpenSSL made.
func TestPKCS12(t *testing.T) {
	needIpsecd(t)
	p, ca := newPair(t), newAuthority(t)
	tunnel := certTunnel{name: "container"}
	conn := p.tunnel(tunnel.name, 1, suite{})
	loose, ourFiles, theirFiles := files{}, files{}, files{}
	ca.issue(t, loose, tunnel.name, conn.localID, credential{key: "ecdsa256"}, nil)
	ca.issue(t, theirFiles, tunnel.name, conn.remoteID, credential{key: "ecdsa256"}, nil)

	dir := t.TempDir()
	for name, content := range loose {
		if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("openssl", "pkcs12", "-export", "-in", "x509-container.pem", "-inkey", "private-container.pem",
		"-certfile", "x509ca-root.pem", "-passout", "pass:open sesame", "-out", "out")
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("openssl pkcs12: %v\n%s", err, text)
	}
	p12, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	ourFiles["pkcs12/container.p12"] = string(p12)

	ours := strings.Replace(tunnel.conf(conn, credential{}, credential{}, "pubkey"), "certs = container.pem", "", 1)
	theirs := tunnel.conf(conn.reversed(), credential{}, credential{}, "pubkey")
	us, them := startCertified(t, p, ours, theirs, ourFiles, theirFiles, 1,
		"secrets {\n pkcs12-container {\n file = container.p12\n secret = \"open sesame\"\n }\n}\n")
	us.Vici.Initiate(t, tunnel.name)
	awaitChild(t, tunnel.name, us.Vici, them.Vici)
	labtest.Ping(t, p.us, 2, p.themInner(1))
}
