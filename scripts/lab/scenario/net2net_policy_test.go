//go:build lab

package scenario

import (
	"crypto/x509"
	"fmt"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestNet2Net joins the sites by policies, in the ways of strongSwan's test suite.
func TestNet2Net(t *testing.T) {
	needIpsecd(t)
	runSites(t, newSites(t), []siteScenario{
		{name: "psk"},
		{name: "pubkey", edit: withRawKeys},
		{name: "esn", edit: withESN, check: checkESN},
		{name: "rekey", check: rekeyInSteps},
		{name: "childless", edit: withoutChild, check: hasOwnExchange},
		{name: "ip6-in-ip6", edit: func(t *testing.T, s *sites, l *link, f *siteFiles) { outside6(s, l); inside6(s, l) }},
		{name: "force-encap", encap: true, edit: func(t *testing.T, s *sites, l *link, f *siteFiles) { l.a.conn = "encap = yes" }},
		{name: "frags", edit: withCertificates("rsa", manyNames), wire: seesFragments("udp[24]")},
		{name: "frags6", edit: func(t *testing.T, s *sites, l *link, f *siteFiles) {
			withCertificates("rsa", manyNames)(t, s, l, f)
			outside6(s, l)
		}, wire: seesFragments("ip6[64]")},
	}, "")
}

// withoutChild sets the IKE SA up alone: the CHILD_SA comes by CREATE_CHILD_SA, with a key exchange of its own.
func withoutChild(_ *testing.T, _ *sites, l *link, _ *siteFiles) {
	l.a.conn, l.b.conn = "childless = force", "childless = force"
	l.esp = "aes128gcm16-x25519"
}

// hasOwnExchange fails t unless both daemons say that the first CHILD_SA had a key exchange.
func hasOwnExchange(t *testing.T, _ *sites, l *link) {
	for _, g := range []siteEnd{l.a, l.b} {
		if child, err := g.control.Child(l.name); err != nil || child.Group != "CURVE_25519" {
			t.Errorf("%s: the CHILD_SA has the key exchange %q %v", g.ns.Role, child.Group, err)
		}
	}
}

func outside6(s *sites, l *link) {
	us, them := s.ends(l)
	us.addr, them.addr = usOuter6(l.n), themOuter6(l.n)
}

func inside6(s *sites, l *link) {
	us, them := s.ends(l)
	us.net, us.host = aliceNet6(l.n), aliceAt6(l.n)
	them.net, them.host = bobNet6(l.n), bobAt6(l.n)
}

// withCertificates gives both ends a certificate of a kind.
func withCertificates(kind string, edit func(*x509.Certificate)) func(*testing.T, *sites, *link, *siteFiles) {
	return func(t *testing.T, s *sites, l *link, f *siteFiles) {
		us, them := s.ends(l)
		f.ca.issue(t, f.ours, l.name, us.id, credential{key: kind}, edit)
		f.ca.issue(t, f.theirs, l.name, them.id, credential{key: kind}, edit)
		for _, g := range []*siteEnd{us, them} {
			g.local, g.remote = fmt.Sprintf("auth = pubkey\ncerts = %s.pem", l.name), "auth = pubkey"
		}
	}
}

// manyNames makes a certificate too long for one datagram.
func manyNames(c *x509.Certificate) {
	for i := range 60 {
		c.DNSNames = append(c.DNSNames, fmt.Sprintf("another-name-%d.of-this-gateway.example", i))
	}
}

// seesFragments fails t unless the IKE_AUTH messages of both ends crossed as
// fragments. The octet is where a message says which payload comes first: 53, the
// Encrypted Fragment of RFC 7383.
func seesFragments(octet string) func(*testing.T, *labtest.Capture, *link) {
	return func(t *testing.T, c *labtest.Capture, l *link) {
		for _, g := range []siteEnd{l.a, l.b} {
			filter := fmt.Sprintf("udp port 500 and src host %s and %s = 53", g.addr, octet)
			if n := c.Count(t, filter); n < 2 {
				t.Errorf("%s: %d fragments from %s, want 2 at least", l.name, n, g.addr)
			}
		}
	}
}

// withRawKeys gives both ends the other's public key, and no certificate.
func withRawKeys(t *testing.T, s *sites, l *link, f *siteFiles) {
	withRawKeysOf(t, s, l, f, "ecdsa256")
}

func withRawKeysOf(t *testing.T, s *sites, l *link, f *siteFiles, kind string) {
	us, them := s.ends(l)
	for _, own := range []struct {
		side, other  *siteEnd
		files, peers files
		name         string
	}{{us, them, f.ours, f.theirs, l.name + "-our"}, {them, us, f.theirs, f.ours, l.name + "-their"}} {
		key := newKey(t, kind)
		der, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		own.files.key(t, own.name, &holder{key: key})
		own.files.add("pubkey/"+own.name+".pem", "PUBLIC KEY", der)
		own.peers.add("pubkey/"+own.name+".pem", "PUBLIC KEY", der)
		own.side.local = fmt.Sprintf("auth = pubkey\npubkeys = %s.pem", own.name)
		own.other.remote = fmt.Sprintf("auth = pubkey\npubkeys = %s.pem", own.name)
	}
}

func withESN(_ *testing.T, _ *sites, l *link, _ *siteFiles) {
	l.esp = "aes128gcm16-esn"
}

func checkESN(t *testing.T, _ *sites, l *link) {
	for _, g := range []siteEnd{l.a, l.b} {
		for _, sa := range statesOf(t, l, g) {
			if !sa.ESN {
				t.Errorf("%s: SA %08x is without extended sequence numbers", g.ns.Role, sa.SPI)
			}
		}
	}
}

// statesOf returns the gateway's SAs between the addresses of the tunnel.
func statesOf(t *testing.T, l *link, g siteEnd) []labtest.XfrmState {
	t.Helper()
	var out []labtest.XfrmState
	for _, sa := range labtest.XfrmStates(t, g.ns) {
		if sa.Src == l.a.addr && sa.Dst == l.b.addr || sa.Src == l.b.addr && sa.Dst == l.a.addr {
			out = append(out, sa)
		}
	}
	if len(out) == 0 {
		t.Errorf("%s: no SA of %s", g.ns.Role, l.name)
	}
	return out
}

// rekeyInSteps replaces the CHILD_SA: its outbound half goes at once, the inbound
// one stays for packets under way.
func rekeyInSteps(t *testing.T, s *sites, l *link) {
	old, err := l.a.control.Child(l.name)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.a.control.RekeyChild(l.name); err != nil {
		t.Fatal(err)
	}
	labtest.WaitFor(t, setupTime, "the new CHILD_SA", func() error {
		now, err := l.a.control.Child(l.name)
		if err == nil && now.SPIIn == old.SPIIn {
			err = fmt.Errorf("still the old one")
		}
		return err
	})
	var spis []string
	for _, sa := range statesOf(t, l, l.a) {
		spis = append(spis, fmt.Sprintf("%08x", sa.SPI))
	}
	has := strings.Join(spis, " ")
	if strings.Contains(has, old.SPIOut) {
		t.Errorf("the old outbound SA %s is still there: %s", old.SPIOut, has)
	}
	if !strings.Contains(has, old.SPIIn) {
		t.Errorf("the old inbound SA %s is gone already: %s", old.SPIIn, has)
	}
	labtest.Ping(t, l.a.hosts, 2, "-I", l.a.host, l.b.host)
	checkStates(t, l, false)
	labtest.WaitFor(t, setupTime, "the end of the old inbound SA", func() error {
		if n := len(statesOf(t, l, l.a)); n != 2 {
			return fmt.Errorf("%d SAs", n)
		}
		return nil
	})
}
