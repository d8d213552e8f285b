package iketest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// holder has a certificate and its key.
type holder struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// certKeys makes one key of each kind for all tests.
var certKeys = sync.OnceValue(func() map[string]crypto.Signer {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	all := map[string]crypto.Signer{"rsa": rsaKey, "ed25519": edKey}
	for name, curve := range map[string]elliptic.Curve{"ecdsa256": elliptic.P256(), "ecdsa384": elliptic.P384(), "ecdsa521": elliptic.P521()} {
		if all[name], err = ecdsa.GenerateKey(curve, rand.Reader); err != nil {
			panic(err)
		}
	}
	return all
})

// certify makes a certificate, self-signed without an issuer, that is valid from an hour before the start for a
// year.
func certify(t testing.TB, issuer *holder, name string, key crypto.Signer, edit func(*x509.Certificate)) *holder {
	t.Helper()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(name))), Subject: pkix.Name{Organization: []string{"Test"}, CommonName: name}, DNSNames: []string{name},
		NotBefore: start.Add(-time.Hour), NotAfter: start.Add(365 * 24 * time.Hour), BasicConstraintsValid: true,
	}
	if strings.HasSuffix(name, "CA") {
		c.IsCA, c.KeyUsage, c.DNSNames = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign, nil
	}
	if edit != nil {
		edit(c)
	}
	h := &holder{c, key}
	if issuer == nil {
		issuer = h
	}
	der, err := x509.CreateCertificate(rand.Reader, c, issuer.cert, key.Public(), issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	if h.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return h
}

// certified gives a host public key authentication in both directions: its certificate and key, and the CAs that it
// trusts or passes on.
func certified(t testing.TB, c *ike.Config, own *holder, cas ...*holder) {
	t.Helper()
	key, err := auth.NewPrivateKey("simulated.key", own.key)
	if err != nil {
		t.Fatal(err)
	}
	contents := auth.Contents{Keys: []auth.PrivateKey{key}}
	for _, ca := range cas {
		contents.CAs = append(contents.CAs, ca.cert)
	}
	c.Credentials = auth.NewStore(contents)
	conn := c.Connections[0]
	conn.Local.Method, conn.Remote.Method = ike.AuthPubkey, ike.AuthPubkey
	conn.Local.Terms.Certs = []*x509.Certificate{own.cert}
}

// rule sets what auth says, of ours and of the peer.
func rule(t testing.TB, c *ike.Config, local, remote string) {
	t.Helper()
	var err [2]error
	c.Connections[0].Local.Terms.Rule, err[0] = auth.ParseRule(local)
	c.Connections[0].Remote.Terms.Rule, err[1] = auth.ParseRule(remote)
	if err != [2]error{} {
		t.Fatal(err)
	}
}

// noted returns the texts of a host's notes.
func noted(h *Host) string {
	var texts []string
	for _, n := range h.Notes {
		texts = append(texts, n.Text)
	}
	return strings.Join(texts, "\n")
}

// TestCertificates sets the tunnel up with each kind of key at each end.
func TestCertificates(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	for _, c := range []struct{ a, b, ruleA, asA, asB string }{
		{"rsa", "rsa", "pubkey", "RSA_EMSA_PKCS1_SHA2_256", "RSA_EMSA_PKCS1_SHA2_256"},
		{"rsa", "ecdsa256", "rsa/pss-sha384", "RSA_EMSA_PSS_SHA2_384_SALT_48", "ECDSA_WITH_SHA256_DER"},
		{"ecdsa384", "ecdsa521", "ecdsa", "ECDSA_WITH_SHA384_DER", "ECDSA_WITH_SHA512_DER"},
		{"ed25519", "rsa", "ed25519", "ED25519", "RSA_EMSA_PKCS1_SHA2_256"},
	} {
		t.Run(c.a+" "+c.b, func(t *testing.T) {
			t.Parallel()
			a, b := certify(t, root, EndA.ID, certKeys()[c.a], nil), certify(t, root, EndB.ID, certKeys()[c.b], nil)
			p := established(t, 1, func(ca, cb *ike.Config) {
				certified(t, ca, a, root)
				certified(t, cb, b, root)
				rule(t, ca, c.ruleA, "pubkey")
			})
			if want := "authentication of 'b.example' with " + c.asB + " successful"; !strings.Contains(noted(p.A), want) {
				t.Errorf("A does not say %q", want)
			}
			if want := "authentication of 'a.example' with " + c.asA + " successful"; !strings.Contains(noted(p.B), want) {
				t.Errorf("B does not say %q", want)
			}
		})
	}
}

// TestOldSignatures has one end that does not know RFC 7427, as initiator and as responder.
func TestOldSignatures(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	for _, c := range []struct{ key, rule, as, fails string }{
		{"ecdsa256", "pubkey", "ECDSA-256 signature", ""},
		{"ecdsa384", "pubkey", "ECDSA-384 signature", ""},
		{"ecdsa521", "pubkey", "ECDSA-521 signature", ""},
		{"rsa", "rsa-sha1", "RSA signature", ""},
		{"rsa", "pubkey", "", "only RSA with SHA-1 is left: enable signature authentication there, use an ECDSA key, or allow SHA-1 by auth = rsa-sha1"},
		{"ed25519", "pubkey", "", "the peer does not know RFC 7427, which our key needs"},
	} {
		for _, old := range []string{"A", "B"} {
			a, b := certify(t, root, EndA.ID, certKeys()[c.key], nil), certify(t, root, EndB.ID, certKeys()[c.key], nil)
			p := NewPair(1, func(ca, cb *ike.Config) {
				certified(t, ca, a, root)
				certified(t, cb, b, root)
				ca.OldSignatures, cb.OldSignatures = old == "A", old == "B"
				rule(t, ca, c.rule, c.rule)
				rule(t, cb, c.rule, c.rule)
			})
			p.A.Initiate()
			p.RunFor(settleTime)
			if c.fails != "" {
				empty(t, p.Net)
				if got := strings.Join(p.A.Failures(), "\n"); !strings.Contains(got, c.fails) {
					t.Errorf("%s, %s is old: A says %q", c.key, old, got)
				}
				continue
			}
			agree(t, p)
			if !p.Up() || !strings.Contains(noted(p.A), "'b.example' with "+c.as) || !strings.Contains(noted(p.B), "'a.example' with "+c.as) {
				failRun(t, p.Net, "%s, %s is old: not up by %s", c.key, old, c.as)
			}
		}
	}
}

// TestCertificatesWithEverySingleFault loses, repeats and delays each message of a set-up with
// certificates, which goes in fragments.
func TestCertificatesWithEverySingleFault(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	sub := certify(t, root, "Sub CA", certKeys()["ecdsa384"], nil)
	a, b := certify(t, sub, EndA.ID, certKeys()["rsa"], nil), certify(t, root, EndB.ID, certKeys()["ecdsa521"], nil)
	s := scenario{name: "certificates", setUp: true, a: events(initiate), edit: func(ca, cb *ike.Config) {
		persist(ca, cb)
		certified(t, ca, a, root, sub)
		certified(t, cb, b, root)
	}}
	s.enumerate(t)
}

// TestCertificatesAtOnce has both ends begin at the same moment.
func TestCertificatesAtOnce(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	a, b := certify(t, root, EndA.ID, certKeys()["ecdsa384"], nil), certify(t, root, EndB.ID, certKeys()["ecdsa521"], nil)
	for seed := range uint64(20) {
		p := NewPair(seed, func(ca, cb *ike.Config) {
			certified(t, ca, a, root)
			certified(t, cb, b, root)
		})
		p.A.ComputeTime, p.B.ComputeTime = 50*time.Millisecond, 50*time.Millisecond
		p.A.Initiate()
		p.B.Initiate()
		p.RunFor(settleTime)
		agree(t, p)
		if !p.Up() {
			failRun(t, p.Net, "seed %d: the tunnel is not up", seed)
		}
	}
}

// TestMixedAuthentication has each end prove itself in its own way.
func TestMixedAuthentication(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	b := certify(t, root, EndB.ID, certKeys()["ed25519"], nil)
	for _, initiator := range []string{"A", "B"} {
		p := NewPair(1, func(ca, cb *ike.Config) { // A by pre-shared key, B by certificate
			certified(t, cb, b)
			cb.Connections[0].Remote.Method = ike.AuthPSK
			certified(t, ca, b, root)
			ca.Connections[0].Local = ike.AuthConfig{Method: ike.AuthPSK, ID: Identity(EndA.ID)}
		})
		map[string]*Host{"A": p.A, "B": p.B}[initiator].Initiate()
		p.RunFor(time.Minute)
		agree(t, p)
		if !p.Up() || !strings.Contains(noted(p.A), "'b.example' with ED25519") || !strings.Contains(noted(p.B), "'a.example' with pre-shared key") {
			failRun(t, p.Net, "from %s: not up as configured", initiator)
		}
	}
}

// TestRawPublicKeys has no certificates at all (RFC 7670).
func TestRawPublicKeys(t *testing.T) {
	a, b := certify(t, nil, "A", certKeys()["ecdsa256"], nil), certify(t, nil, "B", certKeys()["ed25519"], nil)
	raw := func(c *ike.Config, own, peer *holder) {
		certified(t, c, own)
		c.Connections[0].Local.Terms = auth.Terms{Pubkeys: []crypto.PublicKey{own.key.Public()}}
		c.Connections[0].Remote.Terms = auth.Terms{Pubkeys: []crypto.PublicKey{peer.key.Public()}}
	}
	established(t, 1, func(ca, cb *ike.Config) {
		raw(ca, a, b)
		raw(cb, b, a)
	})
	p := NewPair(2, func(ca, cb *ike.Config) {
		raw(ca, a, b)
		raw(cb, b, b)
	})
	p.A.Initiate()
	p.RunFor(time.Minute)
	empty(t, p.Net)
	if got := strings.Join(p.B.Failures(), "\n"); !strings.Contains(got, "the peer signs with ECDSA_WITH_SHA256_DER, and its key is Ed25519") {
		failRun(t, p.Net, "another key: B says %q", got)
	}
}

// TestWhoIsAsked checks what is on the wire: certificates only if they are asked for, and requests only if
// certificates are wanted.
func TestWhoIsAsked(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	sub := certify(t, root, "Sub CA", certKeys()["ecdsa384"], nil)
	a, b := certify(t, sub, EndA.ID, certKeys()["ecdsa256"], nil), certify(t, root, EndB.ID, certKeys()["ecdsa521"], nil)
	for _, c := range []struct {
		name string
		edit func(a, b *ike.Connection)
		up   bool
	}{
		{"asked", func(a, b *ike.Connection) {}, true},
		{"not asked", func(a, b *ike.Connection) { b.SendCertReq = false }, false},
		{"not asked, sent always", func(a, b *ike.Connection) { b.SendCertReq, a.SendCert = false, ike.SendCertAlways }, true},
		{"asked, never sent", func(a, b *ike.Connection) { a.SendCert = ike.SendCertNever }, false},
	} {
		p := NewPair(1, func(ca, cb *ike.Config) {
			certified(t, ca, a, root, sub)
			certified(t, cb, b, root)
			c.edit(ca.Connections[0], cb.Connections[0])
		})
		p.Record()
		p.A.Initiate()
		p.RunFor(30 * time.Second)
		noViolation(t, p.Net)
		if p.Up() != c.up {
			failRun(t, p.Net, "%s: up %v, want %v; B: %q", c.name, p.Up(), c.up, p.B.Failures())
		}
		if !c.up && !strings.Contains(strings.Join(p.B.Failures(), ""), "the peer sent no certificate") {
			t.Errorf("%s: B says %q", c.name, p.B.Failures())
		}
		response, err := wire.ParseMessage(p.Recorded()[1].Data, wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r, asked := wire.First[*wire.CertificateRequest](response.Payloads)
		if want := !strings.HasPrefix(c.name, "not"); asked != want || asked && len(r.Authority) != 20 {
			t.Errorf("%s: CERTREQ in the answer: %v %+v", c.name, asked, r)
		}
		if n := wire.FirstNotify(response.Payloads, wire.NotifySignatureHashAlgorithms); n == nil || string(n.Data) != "\x00\x02\x00\x03\x00\x04\x00\x05" {
			t.Errorf("%s: the answer announces %+v", c.name, n)
		}
	}
}

// TestCertificateMismatches are refused, and both ends say something that helps.
func TestCertificateMismatches(t *testing.T) {
	root, other := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil), certify(t, nil, "Other CA", certKeys()["ecdsa384"], nil)
	a, b := certify(t, root, EndA.ID, certKeys()["ecdsa256"], nil), certify(t, root, EndB.ID, certKeys()["ecdsa521"], nil)
	old := certify(t, root, EndA.ID, certKeys()["ecdsa256"], func(c *x509.Certificate) { c.NotAfter = start.Add(-time.Minute) })
	oldB := certify(t, root, EndB.ID, certKeys()["ecdsa521"], func(c *x509.Certificate) { c.NotAfter = start.Add(-time.Minute) })
	const rejected = "received AUTHENTICATION_FAILED notify error: peer 192.0.2.2 rejects our certificate, our signature or our identity 'a.example'"
	for _, c := range []struct {
		name       string
		edit       func(a, b *ike.Config)
		sayA, sayB string // empty: anything
	}{
		{"B does not know the CA", func(ca, cb *ike.Config) { certified(t, cb, b, other) },
			rejected, "peer 'a.example' is not authenticated: the certificate of 'O=Test, CN=a.example' is not trusted: no configured CA has issued it (issuer 'O=Test, CN=Root CA')"},
		{"A's certificate has expired", func(ca, cb *ike.Config) { certified(t, ca, old, root) },
			rejected, "the certificate of 'O=Test, CN=a.example' expired on 2025-12-31 23:59:00 UTC (connections.site.remote, simulated.conf:10)"},
		{"B's certificate has expired", func(ca, cb *ike.Config) { certified(t, cb, oldB, root) },
			"peer 'b.example' is not authenticated: the certificate of 'O=Test, CN=b.example' expired on 2025-12-31 23:59:00 UTC (connections.site.remote, simulated.conf:10)", ""},
		{"A has no key", func(ca, cb *ike.Config) {
			ca.Credentials = nil
		}, "there is no private key for the certificate of 'O=Test, CN=a.example': add one to the folder private (connections.site.local, simulated.conf:10)", ""},
		{"B has no key", func(ca, cb *ike.Config) {
			c := auth.Contents{CAs: []*x509.Certificate{root.cert}}
			cb.Credentials = auth.NewStore(c)
		}, rejected, "there is no private key for the certificate of 'O=Test, CN=b.example'"},
		{"B wants a pre-shared key", func(ca, cb *ike.Config) { cb.Connections[0].Remote.Method = ike.AuthPSK },
			rejected, "peer 'a.example' authenticates by Digital Signature, and we expect a pre-shared key (connections.site.remote.auth, simulated.conf:10)"},
		{"A wants a pre-shared key", func(ca, cb *ike.Config) { ca.Connections[0].Remote.Method = ike.AuthPSK },
			"peer 'b.example' authenticates by Digital Signature, and we expect a pre-shared key", ""},
		{"B wants RSA", func(ca, cb *ike.Config) { rule(t, cb, "pubkey", "rsa") },
			rejected, "its key is ECDSA, and auth = rsa is demanded"},
		{"A asks B for somebody else", func(ca, cb *ike.Config) {
			ca.Connections[0].Remote.ID, cb.Connections[0].Local.ID = Identity("x.example"), auth.Identity{}
		}, "peer is 'O=Test, CN=b.example', and we expect 'x.example' (connections.site.remote.id, simulated.conf:10)", ""},
		{"A claims to be somebody else", func(ca, cb *ike.Config) {
			cb.Connections[0].Remote.ID = Identity("O=Test, CN=x.example")
			ca.Connections[0].Local.ID = Identity("O=Test, CN=x.example")
		}, "rejects our certificate", "the certificate of 'O=Test, CN=a.example' does not confirm the identity 'O=Test, CN=x.example' that the peer claims, it confirms 'O=Test, CN=a.example', 'a.example'"},
	} {
		p := NewPair(1, func(ca, cb *ike.Config) {
			certified(t, ca, a, root)
			certified(t, cb, b, root)
			c.edit(ca, cb)
		})
		p.A.Initiate()
		p.RunFor(settleTime)
		empty(t, p.Net)
		for h, say := range map[*Host]string{p.A: c.sayA, p.B: c.sayB} {
			got := strings.Join(h.Failures(), "\n")
			if say != "" && !strings.Contains(got, say) {
				t.Errorf("%s: %s says %q, want %q", c.name, h.Name, got, say)
			}
			if n := len(h.Failures()); n > 1 || say != "" && n != 1 {
				t.Errorf("%s: %s reports %d failures instead of one: %q", c.name, h.Name, n, got)
			}
		}
	}
}

// TestRenewedCertificate hands a new certificate to an end whose tunnel is up: it stays up, and the
// next set-up uses the new one.
func TestRenewedCertificate(t *testing.T) {
	root := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil)
	a, b := certify(t, root, EndA.ID, certKeys()["ecdsa384"], nil), certify(t, root, EndB.ID, certKeys()["ecdsa521"], nil)
	p := established(t, 1, func(ca, cb *ike.Config) {
		certified(t, ca, a, root)
		certified(t, cb, b, root)
	})
	before := only(t, p.A)
	renewed := Connect(EndA, EndB)
	certified(t, renewed, certify(t, root, EndA.ID, certKeys()["ed25519"], nil), root)
	p.A.Do(ike.Reconfigure{Config: renewed})
	p.RunFor(settleTime)
	agree(t, p)
	if after := only(t, p.A); after.ID != before.ID {
		failRun(t, p.Net, "IKE SA %d is gone, %d is there", before.ID, after.ID)
	}
	p.A.Do(ike.Terminate{Connection: ConnectionName})
	p.RunFor(time.Minute)
	establish(t, p)
	if !strings.Contains(noted(p.B), "authentication of 'a.example' with ED25519 successful") {
		failRun(t, p.Net, "the new certificate is not used")
	}
}

// TestConnectionByCA has two connections that differ by the CA of the peer alone.
func TestConnectionByCA(t *testing.T) {
	root, other := certify(t, nil, "Root CA", certKeys()["ecdsa256"], nil), certify(t, nil, "Other CA", certKeys()["ecdsa384"], nil)
	a, b := certify(t, root, EndA.ID, certKeys()["ecdsa256"], nil), certify(t, root, EndB.ID, certKeys()["ecdsa521"], nil)
	p := NewPair(1, func(ca, cb *ike.Config) {
		certified(t, ca, a, root)
		certified(t, cb, b, root, other)
		second := *cb.Connections[0]
		second.Name = "second"
		second.Remote.Terms.CACerts = []*x509.Certificate{root.cert}
		second.Remote.ID = Identity("*.example")
		cb.Connections[0].Remote.Terms.CACerts = []*x509.Certificate{other.cert}
		cb.Connections[0].Remote.ID = Identity("*.example")
		cb.Connections = append(cb.Connections, &second)
	})
	p.A.Initiate()
	p.RunFor(time.Minute)
	noViolation(t, p.Net)
	if !p.A.Up(ConnectionName, ChildName) || !p.B.Up("second", ChildName) {
		failRun(t, p.Net, "the connection of the right CA is not up")
	}
}
