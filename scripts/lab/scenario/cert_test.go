//go:build lab

package scenario

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// credential is how one end of a tunnel proves its identity.
type credential struct {
	key  string // kind
	auth string // ours, as the local section says; empty: pubkey
	id   string // empty: the host name
	sub  bool   // issued by an intermediate CA, which the end sends along
}

// certTunnel is a tunnel with certificates.
type certTunnel struct {
	name     string
	us, them credential
	demand   string // what our remote section says; empty: pubkey
	want     string // the name of our signature in charon's log
	wantUs   string // the name of charon's in ours
}

var certTunnels = []certTunnel{
	{"rsa", credential{key: "rsa"}, credential{key: "rsa"}, "", "RSA_EMSA_PKCS1_SHA2_256", "RSA_EMSA_PKCS1_SHA2_256"},
	{"rsa-pss", credential{key: "rsa", auth: "rsa/pss-sha384"}, credential{key: "rsa", auth: "ike:rsa/pss-sha256"}, "ike:rsa/pss-sha256", "RSA_EMSA_PSS_SHA2_384_SALT_48", "RSA_EMSA_PSS_SHA2_256_SALT_32"},
	{"ecdsa256", credential{key: "ecdsa256"}, credential{key: "ecdsa256"}, "", "ECDSA_WITH_SHA256_DER", "ECDSA_WITH_SHA256_DER"},
	{"ecdsa384-521", credential{key: "ecdsa384"}, credential{key: "ecdsa521"}, "", "ECDSA_WITH_SHA384_DER", "ECDSA_WITH_SHA512_DER"},
	{"ed25519", credential{key: "ed25519"}, credential{key: "ed25519"}, "", "ED25519", "ED25519"},
	{"dn", credential{key: "ecdsa256", id: "C=CH, O=Lab, CN=dn.us.example"}, credential{key: "ecdsa256", id: "C=CH, O=Lab, CN=dn.them.example"}, "", "ECDSA_WITH_SHA256_DER", "ECDSA_WITH_SHA256_DER"},
	{"intermediate", credential{key: "ecdsa256", sub: true}, credential{key: "rsa", sub: true}, "", "ECDSA_WITH_SHA256_DER", "RSA_EMSA_PKCS1_SHA2_256"},
}

// oldTunnels are signed as before RFC 7427.
var oldTunnels = []certTunnel{
	{"old-rsa", credential{key: "rsa", auth: "rsa-sha1"}, credential{key: "rsa"}, "rsa-sha1", "RSA signature", "RSA signature"},
	{"old-ecdsa256", credential{key: "ecdsa256"}, credential{key: "ecdsa256"}, "", "ECDSA-256 signature", "ECDSA-256 signature"},
	{"old-ecdsa384", credential{key: "ecdsa384"}, credential{key: "ecdsa521"}, "", "ECDSA-384 signature", "ECDSA-521 signature"},
}

// conf writes the tunnel for one end.
func (c certTunnel) conf(conn connection, local, remote credential, remoteAuth string) string {
	return fmt.Sprintf(`    %[1]s {
        version = 2
        mobike = no
        local_addrs = %[2]s
        remote_addrs = %[3]s
        proposals = aes128gcm16-prfsha256-x25519
        local {
            auth = %[4]s
            certs = %[1]s.pem
            id = "%[5]s"
        }
        remote {
            auth = %[6]s
            id = "%[7]s"
        }
        children {
            %[1]s {
                local_ts = 0.0.0.0/0
                remote_ts = 0.0.0.0/0
                esp_proposals = aes128gcm16
                if_id_in = %[8]d
                if_id_out = %[8]d
            }
        }
    }
`, c.name, conn.local, conn.remote, cmp.Or(local.auth, "pubkey"), cmp.Or(local.id, conn.localID),
		remoteAuth, cmp.Or(remote.id, conn.remoteID), conn.ifID)
}

// authority is a root CA and an intermediate one below it.
type authority struct{ root, sub *holder }

func newAuthority(t *testing.T) authority {
	root := certify(t, nil, "Lab Root", "ecdsa256", nil)
	return authority{root, certify(t, root, "Lab Sub", "ecdsa384", asCA)}
}

// issue adds a certificate for one end, and what goes with it, to its folders.
func (a authority) issue(t *testing.T, f files, name, host string, c credential, edit func(*x509.Certificate)) *holder {
	t.Helper()
	issuer := a.root
	if c.sub {
		issuer = a.sub
		f.cert("x509ca", "sub", a.sub)
	}
	h := certify(t, issuer, host, c.key, edit)
	f.cert("x509", name, h)
	f.cert("x509ca", "root", a.root)
	f.key(t, name, h)
	return h
}

// startCertified starts both daemons with a configuration each, and the folders of swanctl.
func startCertified(t *testing.T, p *pair, ours, theirs string, ourFiles, theirFiles files, interfaces int, sections string) (*labtest.Ipsecd, *labtest.Charon) {
	t.Helper()
	them := labtest.StartCharon(t, p.them)
	return startCertifiedWith(t, p, them, ours, theirs, ourFiles, theirFiles, interfaces, sections), them
}

// startCertifiedWith is startCertified with a peer that runs already.
func startCertifiedWith(t *testing.T, p *pair, them *labtest.Charon, ours, theirs string, ourFiles, theirFiles files, interfaces int, sections string) *labtest.Ipsecd {
	t.Helper()
	var ourInterfaces, theirInterfaces []tunnelInterface
	for n := 1; n <= interfaces; n++ {
		ourInterfaces, theirInterfaces = append(ourInterfaces, p.usInterface(n)), append(theirInterfaces, p.themInterface(n))
	}
	addInterfaces(t, p.them, theirInterfaces)
	t.Cleanup(func() { removeInterfaces(t, p.them, theirInterfaces) })
	them.Files(t, theirFiles)
	them.Load(t, "connections {\n"+theirs+"}\n")

	all := map[string]string{"swanctl.conf": "connections {\n" + ours + "}\n"}
	maps.Copy(all, ourFiles)
	return labtest.StartIpsecd(t, p.us, "include swanctl.conf\n"+interfacesConf(ourInterfaces)+sections, all)
}

// setUpCertified sets up every tunnel by each side in turn, sends pings through it, and
// checks by what each side has proved itself.
func setUpCertified(t *testing.T, tunnels []certTunnel, sections string) {
	p, ca := newPair(t), newAuthority(t)
	ourFiles, theirFiles := files{}, files{}
	var ours, theirs string
	for i, c := range tunnels {
		conn := p.tunnel(c.name, i+1, suite{})
		ca.issue(t, ourFiles, c.name, conn.localID, c.us, nil)
		ca.issue(t, theirFiles, c.name, conn.remoteID, c.them, nil)
		ours += c.conf(conn, c.us, c.them, cmp.Or(c.demand, "pubkey"))
		theirs += c.conf(conn.reversed(), c.them, c.us, "pubkey")
	}
	us, them := startCertified(t, p, ours, theirs, ourFiles, theirFiles, len(tunnels), sections)
	for i, c := range tunnels {
		for _, role := range []string{"initiator", "responder"} {
			t.Run(c.name+"-"+role, func(t *testing.T) {
				first := them.Vici
				if role == "initiator" {
					first = us.Vici
				}
				first.Initiate(t, c.name)
				awaitChild(t, c.name, us.Vici, them.Vici)
				labtest.Ping(t, p.us, 2, p.themInner(i+1))
				labtest.Ping(t, p.them, 2, p.usInner(i+1))
				if err := first.Terminate(c.name); err != nil {
					t.Fatal(err)
				}
				labtest.WaitFor(t, time.Minute, c.name+" gone", func() error { return goneAt(c.name, us.Vici, them.Vici) })
			})
		}
		// Twice: once in each role.
		theirID, ourID := cmp.Or(c.them.id, c.name+".them.example"), cmp.Or(c.us.id, c.name+".us.example")
		for log, want := range map[string]string{
			us.Log():   fmt.Sprintf("authentication of '%s' with %s successful", theirID, c.wantUs),
			them.Log(): fmt.Sprintf("authentication of '%s' with %s successful", ourID, c.want),
		} {
			if n := strings.Count(log, want); n != 2 {
				t.Errorf("%d times %q, want 2", n, want)
			}
		}
	}
}

func goneAt(name string, sides ...labtest.Vici) error {
	for _, s := range sides {
		if _, err := s.Child(name); err == nil {
			return fmt.Errorf("%s is still there", name)
		}
	}
	return nil
}

// TestCertificates authenticates both ends by certificates of every kind, in both roles.
func TestCertificates(t *testing.T) {
	needIpsecd(t)
	setUpCertified(t, certTunnels, "")
}

// TestOldSignatures does so with a peer that may not use RFC 7427.
func TestOldSignatures(t *testing.T) {
	needIpsecd(t)
	setUpCertified(t, oldTunnels, "charon {\n signature_authentication = no\n}\n")
}

// badCertificate is one that must not do, and what our log has to say about it.
type badCertificate struct {
	name  string
	spoil func(t *testing.T, name string, ca authority, ours, theirs files)
	want  string
}

var badCertificates = []badCertificate{
	{"expired", func(t *testing.T, name string, ca authority, _, theirs files) {
		ca.issue(t, theirs, name, name+".them.example", credential{key: "ecdsa256"}, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	}, `the certificate of 'C=CH, O=Lab, CN=expired\.them\.example' expired on .*\(connections\.expired\.remote, .*swanctl\.conf:\d+\)`},
	{"stranger", func(t *testing.T, name string, _ authority, _, theirs files) {
		newAuthority(t).issue(t, theirs, name, name+".them.example", credential{key: "ecdsa256"}, nil)
		delete(theirs, "x509ca/root.pem")
	}, `no configured CA has issued it \(issuer 'C=CH, O=Lab, CN=Lab Root'\)`},
	{"revoked", func(t *testing.T, name string, ca authority, ours, theirs files) {
		h := ca.issue(t, theirs, name, name+".them.example", credential{key: "ecdsa256"}, nil)
		ours.crl(t, "root", ca.root, h)
	}, `the certificate of 'C=CH, O=Lab, CN=revoked\.them\.example' is revoked: by the CRL of 'C=CH, O=Lab, CN=Lab Root' since`},
	{"impostor", func(t *testing.T, name string, ca authority, _, theirs files) {
		ca.issue(t, theirs, name, "somebody.else.example", credential{key: "ecdsa256"}, func(c *x509.Certificate) { c.DNSNames = nil })
	}, `'C=CH, O=Lab, CN=somebody\.else\.example' does not confirm the identity 'impostor\.them\.example' that the peer claims`},
}

// TestBadCertificates refuses charon's certificate in both roles, and says why.
func TestBadCertificates(t *testing.T) {
	needIpsecd(t)
	p, ca := newPair(t), newAuthority(t)
	ourFiles, theirFiles := files{}, files{}
	var ours, theirs string
	for i, b := range badCertificates {
		c := certTunnel{name: b.name}
		conn := p.tunnel(b.name, i+1, suite{})
		ca.issue(t, ourFiles, b.name, conn.localID, credential{key: "ecdsa256"}, nil)
		b.spoil(t, b.name, ca, ourFiles, theirFiles)
		ours += c.conf(conn, credential{}, credential{}, "pubkey")
		theirs += c.conf(conn.reversed(), credential{}, credential{}, "pubkey")
	}
	theirFiles.cert("x509ca", "root", ca.root)
	us, them := startCertified(t, p, ours, theirs, ourFiles, theirFiles, len(badCertificates), quickDPD)
	for _, b := range badCertificates {
		t.Run(b.name, func(t *testing.T) {
			if _, err := us.Call("initiate", "child", b.name, "timeout", "60000"); err == nil {
				t.Error("we have set it up")
			}
			if _, err := them.Call("initiate", "child", b.name, "timeout", "60000"); err == nil {
				t.Error("charon has set it up")
			}
			if err := goneAt(b.name, us.Vici); err != nil {
				t.Error(err)
			}
			awaitComplaints(t, us, b.name, b.want)
		})
	}
	if !us.Running() {
		t.Error("ipsecd ended")
	}
}

// awaitComplaints waits until our log complains about a connection twice, once in each role: a line may come a moment after
// the peer has its answer.
func awaitComplaints(t *testing.T, us *labtest.Ipsecd, name, want string) {
	t.Helper()
	pattern := regexp.MustCompile(want)
	labtest.WaitFor(t, setupTime, "a complaint about "+name+" in each role", func() error {
		n := 0
		for line := range strings.Lines(us.Log()) {
			if isComplaint(line) && strings.Contains(line, name) && pattern.MatchString(line) {
				n++
			}
		}
		if n != 2 {
			return fmt.Errorf("%d lines like %s", n, want)
		}
		return nil
	})
}
