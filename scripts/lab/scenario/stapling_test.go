//go:build lab

package scenario

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// stapled is a tunnel between ends that can ask nobody about the other's certificate.
type stapled struct {
	name         string
	ours, theirs string // ocsp
	strict       bool   // we insist on an OCSP response, too
	up           bool
}

var stapledTunnels = []stapled{
	{"reply", "reply", "request", false, true},
	{"both", "both", "both", true, true},
	{"never", "never", "request", false, false},
}

// TestOCSPInIKE has strongSwan 6 insist on an OCSP response about our certificate, which we show in IKE (RFC 4806) unless ocsp = never, and
// ourselves on one about its own. Each end reaches its own responder only.
func TestOCSPInIKE(t *testing.T) {
	needIpsecd(t)
	p, ca := newPair(t), newAuthority(t)
	server := &authorityServer{t: t, ca: ca.root, dir: t.TempDir()}
	withResponder := func(n *labtest.Netns, port string) func(*x509.Certificate) {
		url := labtest.ServeHTTP(t, n, "127.0.0.1:"+port, server)
		return func(c *x509.Certificate) { c.OCSPServer = []string{url + "/ocsp"} }
	}
	atUs, atThem := withResponder(p.us, "8080"), withResponder(p.them, "8081")
	ourFiles, theirFiles := files{}, files{}
	all := map[*holder]bool{}
	var ours, theirs string
	for i, c := range stapledTunnels {
		tunnel, conn := certTunnel{name: c.name}, p.tunnel(c.name, i+1, suite{})
		all[ca.issue(t, ourFiles, c.name, conn.localID, credential{key: "ecdsa256"}, atUs)] = false
		all[ca.issue(t, theirFiles, c.name, conn.remoteID, credential{key: "ecdsa256"}, atThem)] = false
		const strict = "pubkey\n            revocation = strict"
		demand := "pubkey"
		if c.strict {
			demand = strict
		}
		with := func(conf, value string) string {
			return strings.Replace(conf, "mobike = no", "mobike = no\n        ocsp = "+value, 1)
		}
		ours += with(tunnel.conf(conn, credential{}, credential{}, demand), c.ours)
		theirs += with(tunnel.conf(conn.reversed(), credential{}, credential{}, strict), c.theirs)
	}
	server.issued(all)
	charon := labtest.StartCharon6(t, p.them, "load = "+labtest.CharonPlugins+" revocation curl")
	us, them := startCertifiedWith(t, p, charon, ours, theirs, ourFiles, theirFiles, len(stapledTunnels), "").Vici, charon.Vici
	for i, c := range stapledTunnels {
		for role, first := range map[string]labtest.Vici{"initiator": us, "responder": them} {
			t.Run(c.name+"-"+role, func(t *testing.T) {
				if !c.up {
					if _, err := first.Call("initiate", "child", c.name, "timeout", "60000"); err == nil {
						t.Error("strongSwan does without an OCSP response, so that this test shows nothing")
					}
					return
				}
				first.Initiate(t, c.name)
				awaitChild(t, c.name, us, them)
				labtest.Ping(t, p.us, 1, p.themInner(i+1))
				if err := first.Terminate(c.name); err != nil {
					t.Fatal(err)
				}
				labtest.WaitFor(t, time.Minute, c.name+" gone", func() error { return goneAt(c.name, us, them) })
			})
		}
	}
}
