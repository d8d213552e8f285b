package vici

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// swanctlDir is a directory as /etc/swanctl is.
type swanctlDir struct {
	path, uri string
}

func newSwanctlDir(t *testing.T, ctl *statustest.Control) swanctlDir {
	t.Helper()
	return swanctlDir{t.TempDir(), "unix://" + listenOn(t, ctl)}
}

func (d swanctlDir) write(t *testing.T, name string, content []byte) {
	t.Helper()
	full := filepath.Join(d.path, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// loadAll has the stock swanctl load everything in the directory.
func (d swanctlDir) loadAll(t *testing.T) string {
	t.Helper()
	return d.run(t, "--load-all", "--noprompt", "--file", filepath.Join(d.path, "swanctl.conf"))
}

// run runs the stock swanctl and returns its standard output.
func (d swanctlDir) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("swanctl", append(args, "--uri", d.uri)...)
	cmd.Env = append(os.Environ(), "SWANCTL_DIR="+d.path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("swanctl %v: %v\n%s%s", args, err, out, &stderr)
	}
	return string(out)
}

const loadedConf = `
connections {
    gw {
        local_addrs = 192.0.2.1
        remote_addrs = 192.0.2.2, 192.0.2.3
        proposals = aes128gcm16-prfsha256-x25519
        ppk_id = quantum
        ppk_required = yes
        local { auth = psk
            id = a.example.org }
        remote { auth = psk
            id = b.example.org }
        children { net { local_ts = 10.1.0.0/16, 10.2.0.0/16
            start_action = trap } }
    }
    certs {
        remote_addrs = 192.0.2.9
        local { certs = gw.pem }
        remote { cacerts = ca.pem }
        children { net2 { } }
    }
}
secrets { ike-gw { id = b.example.org
    secret = 0x0102 }
    ppk-gw { id = quantum
    secret = 0x0304 } }
authorities { lab { cacert = ca.pem
    ocsp_uris = http://ocsp.example.org
    cert_uri_base = http://certs.example.org/
    crl_uris = http://crl.example.org/lab.crl } }
`

// TestSwanctlLoadAll: what the stock swanctl loads is the configuration, and what its file has
// no more is gone at the next time.
func TestSwanctlLoadAll(t *testing.T) {
	ctl := statustest.NewControl(statustest.New())
	d := newSwanctlDir(t, ctl)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ca, caKey := issue(t, caTemplate(), nil, nil)
	gw, _ := issue(t, gwTemplate(), nil, key)
	d.write(t, "swanctl.conf", []byte(loadedConf))
	d.write(t, "x509ca/ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw}))
	d.write(t, "x509/gw.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: gw.Raw}))
	d.write(t, "rsa/gw.pem", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	d.write(t, "x509crl/lab.crl", revocationList(t, ca, caKey, 1))
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	d.write(t, "pubkey/gw.pub", public)
	d.loadAll(t)
	d.loadAll(t) // once more makes nothing two

	c := ctl.Status().Config
	if got := connectionNames(c.IKE.Connections); !slices.Equal(got, []string{"gw", "certs"}) {
		t.Fatalf("connections %v", got)
	}
	conn := c.IKE.Connections[0]
	if len(conn.RemoteAddrs) != 2 || conn.Children[0].StartAction != ike.ActionTrap || len(conn.Children[0].LocalTS) != 2 {
		t.Errorf("connection %+v", conn)
	}
	a, _ := auth.Parse("a.example.org")
	b, _ := auth.Parse("b.example.org")
	if found := auth.Lookup(c.IKE.Secrets, a, b); len(found) != 1 || string(found[0].Key.Bytes()) != "\x01\x02" {
		t.Errorf("%d secrets for gw", len(found))
	}
	if len(c.IKE.PPKs) != 1 || string(c.IKE.PPKs[0].Key.Bytes()) != "\x03\x04" || c.IKE.PPKs[0].Owners[0].String() != "quantum" || !conn.PPKRequired {
		t.Errorf("%d PPKs for gw", len(c.IKE.PPKs))
	}
	checkLists(t, d)
	terms := c.IKE.Connections[1]
	if len(terms.Local.Terms.Certs) != 1 || !c.IKE.Credentials.HasKey(terms.Local.Terms.Certs[0]) || len(terms.Remote.Terms.CACerts) != 1 {
		t.Error("the certificates of connection certs are not complete")
	}
	if got := ctl.Status().Loaded.Authorities(); !slices.Equal(got, []string{"lab"}) {
		t.Errorf("authorities %v", got)
	}

	// The second time without gw, its secret, and the authority.
	second := loadedConf[:strings.Index(loadedConf, "    gw {")] + loadedConf[strings.Index(loadedConf, "    certs {"):strings.Index(loadedConf, "secrets {")]
	d.write(t, "swanctl.conf", []byte(second))
	d.loadAll(t)
	st := ctl.Status()
	if got := connectionNames(st.Config.IKE.Connections); !slices.Equal(got, []string{"certs"}) {
		t.Errorf("connections %v after the second time", got)
	}
	if len(st.Config.IKE.PPKs) != 0 {
		t.Error("the PPK stays after the second time")
	}
	if len(st.Loaded.SecretNames()) != 0 || len(st.Loaded.Authorities()) != 0 {
		t.Errorf("secrets %v, authorities %v after the second time", st.Loaded.SecretNames(), st.Loaded.Authorities())
	}
}

// checkLists has the stock swanctl list what it has loaded.
func checkLists(t *testing.T, d swanctlDir) {
	t.Helper()
	if got := d.run(t, "--list-authorities"); got != swanctlAuthorities {
		t.Errorf("--list-authorities:\n%s", got)
	}
	got := d.run(t, "--list-certs", "--raw")
	var kinds []string
	for _, m := range regexp.MustCompile(`type=(\w+)(?: flag=(\w+))?( has_privkey=yes)?`).FindAllStringSubmatch(got, -1) {
		kinds = append(kinds, m[1]+m[2]+m[3])
	}
	if want := []string{"PUBKEY has_privkey=yes", "X509NONE has_privkey=yes", "X509CA", "X509_CRL"}; !slices.Equal(kinds, want) {
		t.Errorf("--list-certs lists %v, want %v", kinds, want)
	}
	if got := d.run(t, "--list-certs", "--type", "x509_crl"); !strings.Contains(got, "List of X.509 CRLs") || !strings.Contains(got, "CN=Lab CA") {
		t.Errorf("--list-certs of CRLs:\n%s", got)
	}
}

const swanctlAuthorities = `lab:
  cacert: CN=Lab CA
  crl_uris:  http://crl.example.org/lab.crl
  ocsp_uris: http://ocsp.example.org
  cert_uri_base: http://certs.example.org/
`

// revocationList is an empty CRL, in DER.
func revocationList(t *testing.T, ca *x509.Certificate, key crypto.Signer, number int64) []byte {
	t.Helper()
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: big.NewInt(number), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(time.Hour),
	}, ca, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// What was fetched is listed, and flushed by its type.
func TestFlushCerts(t *testing.T) {
	ca, key := issue(t, caTemplate(), nil, nil)
	ctl := statustest.NewControl(statustest.New())
	ctl.FetchedData = status.Fetched{CRLs: [][]byte{revocationList(t, ca, key, 7)}, OCSP: [][]byte{{0x30, 0}}}
	c := dial(t, listenOn(t, ctl))
	c.register("list-cert")
	for _, tt := range []struct {
		flush string
		want  []string
	}{{"x509", []string{"X509_CRL", "OCSP_RESPONSE"}}, {"x509_crl", []string{"OCSP_RESPONSE"}}, {"", nil}} {
		if _, reply := c.call("flush-certs", "type", tt.flush); reply != "success=yes" {
			t.Errorf("flush-certs %s: %s", tt.flush, reply)
		}
		events, _ := c.call("list-certs")
		var got []string
		for _, e := range events {
			kind, _, _ := strings.Cut(strings.TrimPrefix(e, "type="), " ")
			got = append(got, kind)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("after flush-certs type=%s: %v, want %v", tt.flush, got, tt.want)
		}
	}
}

func connectionNames(list []*ike.Connection) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

// What is wrong is told, and nothing changes.
func TestLoadErrors(t *testing.T) {
	ctl := statustest.NewControl(statustest.New())
	c := dial(t, listenOn(t, ctl))
	before := ctl.Status()
	for _, tt := range []struct {
		command   string
		keyValues []string
		want      string
	}{
		{"load-conn", nil, "one section with a connection is expected, not 0"},
		{"unload-conn", []string{"name", "nosuch"}, "unload: connection 'nosuch' not found"},
		{"unload-conn", nil, "unload: missing connection name"},
		{"load-key", []string{"type", "rsa"}, "key data missing"},
		{"load-key", []string{"type", "rsa", "data", "junk"}, "parsing RSA private key failed: it holds no private key"},
		{"load-key", []string{"type", "nosuch", "data", "junk"}, "invalid key type: nosuch"},
		{"load-cert", []string{"type", "X509", "data", "junk"}, "parsing X509 certificate failed: it holds no X.509 certificate"},
		{"load-cert", []string{"type", "nosuch", "data", "junk"}, "invalid certificate type 'nosuch'"},
		{"load-cert", []string{"type", "pubkey", "data", "junk"}, "parsing PUBKEY certificate failed"},
		{"load-cert", []string{"type", "x509", "flag", "AA", "data", "junk"}, "parsing X509 certificate failed"},
		{"load-cert", []string{"type", "x509", "flag", "CRL", "data", "junk"}, "invalid certificate flag 'CRL'"},
		{"load-cert", []string{"type", "x509_ac", "data", "junk"}, "ipsecd uses X509"},
		{"load-shared", []string{"type", "IKE"}, "shared key data missing"},
		{"load-token", []string{"handle", "0a", "slot", "1", "pin", "1234"}, "loading private key from token failed"},
		{"unload-authority", []string{"name", "nosuch"}, "authority 'nosuch' not found"},
		{"load-pool", nil, "one section with a pool is expected, not 0"},
		{"unload-pool", nil, "missing pool name to unload"},
		{"unload-pool", []string{"name", "nosuch"}, "nosuch not found"},
		{"load-token", nil, "keyid missing"},
		{"load-token", []string{"handle", "01"}, "keys in files only"},
		{"load-shared", []string{"type", "nosuch", "data", "x"}, "invalid shared key type: nosuch"},
		{"unload-key", []string{"id", "00"}, "key not found"},
		{"flush-certs", []string{"type", "nosuch"}, "invalid certificate type 'nosuch'"},
		{"terminate", nil, "missing terminate selector"},
		{"rekey", []string{"ike", "nosuch"}, "matches=0 errmsg=no matching SAs to rekey found"},
		{"terminate", []string{"ike", "nosuch"}, "matches=0 terminated=0 errmsg=no matching SAs to terminate found"},
		{"redirect", []string{"gateway", "192.0.2.1"}, "missing redirect selector"},
		{"redirect", []string{"gateway", "192.0.2.1", "peer-ip", "junk"}, "invalid peer IP selector"},
	} {
		_, reply := c.call(tt.command, tt.keyValues...)
		if !strings.Contains(reply, "success=no") || !strings.Contains(reply, tt.want) {
			t.Errorf("%s %v: %s, want %q", tt.command, tt.keyValues, reply, tt.want)
		}
	}
	if ctl.Status() != before {
		t.Error("a request in error changed the configuration")
	}
}
