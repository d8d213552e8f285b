package config

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/youmark/pkcs8"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// person has a certificate and a key.
type person struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// certify makes a certificate that is good for an hour, self-signed without an issuer.
func certify(t *testing.T, issuer *person, cn string, edit func(*x509.Certificate)) *person {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{Organization: []string{"Test"}, CommonName: cn}, DNSNames: []string{cn},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true,
	}
	if issuer == nil {
		c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	}
	if edit != nil {
		edit(c)
	}
	p := &person{c, key}
	if issuer == nil {
		issuer = p
	}
	der, err := x509.CreateCertificate(rand.Reader, c, issuer.cert, &key.PublicKey, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	if p.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return p
}

func asPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func (p *person) pem() string { return asPEM("CERTIFICATE", p.cert.Raw) }

func (p *person) pkcs8(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func (p *person) spki() []byte { return p.cert.RawSubjectPublicKeyInfo }

const withCerts = `connections {
 hq {
  remote_addrs = 192.0.2.1
  local { %s
  }
  remote { %s
  }
  children { net { } }
 }
}
`

// swanctl makes a file system with swanctl.conf in its own directory, included by ours.
func swanctl(local, remote, more string, pairs ...string) fstest.MapFS {
	fsys := etc("include /etc/swanctl/swanctl.conf\n")
	fsys["etc/swanctl/swanctl.conf"] = &fstest.MapFile{Data: []byte("include conf.d/*.conf\n" + more)}
	fsys["etc/swanctl/conf.d/hq.conf"] = &fstest.MapFile{Data: fmt.Appendf(nil, withCerts, local, remote)}
	for i := 0; i < len(pairs); i += 2 {
		fsys[path.Join("etc/swanctl", pairs[i])] = &fstest.MapFile{Data: []byte(pairs[i+1]), Mode: 0o600}
	}
	return fsys
}

func loadCerts(t *testing.T, fsys fstest.MapFS) *Config {
	t.Helper()
	c, err := LoadFS(fsys, DefaultPath)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// own returns the certificate that the first connection would use.
func own(t *testing.T, c *Config) *auth.Credential {
	t.Helper()
	conn := c.IKE.Connections[0]
	got, err := c.IKE.Credentials.Credential(&conn.Local.Terms, conn.Local.ID, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The layout of strongSwan's documentation works as it is.
func TestSwanctlFolders(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	moon, sun := certify(t, ca, "moon.example", nil), certify(t, ca, "sun.example", nil)
	fsys := swanctl("certs = moonCert.pem\nid = moon.example", "auth = pubkey\nid = sun.example\nrevocation = ifuri\ncacerts = ca.pem", "",
		"x509/moonCert.pem", moon.pem(), "x509ca/ca.pem", ca.pem(), "private/moonKey.pem", asPEM("PRIVATE KEY", moon.pkcs8(t)), "x509/README", "not a certificate")
	c := loadCerts(t, fsys)
	conn := c.IKE.Connections[0]
	if conn.Local.Method != ike.AuthPubkey || conn.Remote.Method != ike.AuthPubkey || conn.Remote.Terms.Revocation != auth.RevocationIfURI || !conn.SendCertReq {
		t.Errorf("%+v", conn)
	}
	if got := own(t, c); !got.Cert.Equal(moon.cert) || got.ID.String() != "moon.example" {
		t.Errorf("we are %v with %v", got.ID, got.Cert.Subject)
	}
	if w := warnings(c); len(w) != 1 || !strings.HasPrefix(w[0], "/etc/swanctl/x509/README:1: not used: it holds no X.509 certificate") {
		t.Errorf("warnings %q", w)
	}
	if len(conn.Remote.Terms.CACerts) != 1 || !conn.Remote.Terms.CACerts[0].Equal(ca.cert) {
		t.Errorf("cacerts: %v", conn.Remote.Terms.CACerts)
	}
	// A peer's certificate of that CA is trusted.
	p := sun.asPeer(t)
	p.ID = conn.Remote.ID
	if _, err := c.IKE.Credentials.Verify(p, &conn.Remote.Terms, time.Now()); err != nil {
		t.Error(err)
	}
	if again := loadCerts(t, fsys); !Diff(c, again).Empty() {
		t.Errorf("nothing has changed: %v", Diff(c, again))
	}
	// A renewed certificate is no reason to interrupt a tunnel.
	fsys["etc/swanctl/x509/moonCert.pem"].Data = []byte(certifyAgain(t, ca, moon).pem())
	if got, want := Diff(c, loadCerts(t, fsys)).String(), "replace  credential /etc/swanctl/x509/moonCert.pem: digest\n"; !strings.HasPrefix(got, want) || strings.Contains(got, "connection") {
		t.Errorf("renewed: %s", got)
	}
	fsys["etc/swanctl/x509/moonCert.pem"].Data = []byte(certify(t, ca, "moon.example", nil).pem())
	if _, err := LoadFS(fsys, DefaultPath); err == nil || !strings.Contains(err.Error(), "no private key for the certificate of 'O=Test, CN=moon.example'") {
		t.Errorf("another certificate, the old key: %v", err)
	}
}

// Keys come in many forms.
func TestPrivateKeyForms(t *testing.T) {
	p := certify(t, nil, "gw.example", nil)
	sec1, err := x509.MarshalECPrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := pkcs8.MarshalPrivateKey(p.key, []byte("open sesame"), nil)
	if err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 keys of this kind have to be read
	old, err := x509.EncryptPEMBlock(rand.Reader, "EC PRIVATE KEY", sec1, []byte("open sesame"), x509.PEMCipherAES128)
	if err != nil {
		t.Fatal(err)
	}
	open := "secrets { %s { file = key\n secret = \"open sesame\"\n} }"
	for _, c := range []struct{ name, file, content, secrets, err string }{
		{"PKCS#8 in PEM", "private/key", asPEM("PRIVATE KEY", p.pkcs8(t)), "", ""},
		{"PKCS#8 in DER", "pkcs8/key", string(p.pkcs8(t)), "", ""},
		{"SEC 1 in PEM", "ecdsa/key", asPEM("EC PRIVATE KEY", sec1), "", ""},
		{"SEC 1 in DER", "private/key", string(sec1), "", ""},
		{"encrypted PKCS#8", "pkcs8/key", asPEM("ENCRYPTED PRIVATE KEY", locked), fmt.Sprintf(open, "pkcs8-a"), ""},
		{"encrypted PKCS#8 in DER", "private/key", string(locked), fmt.Sprintf(open, "private"), ""},
		{"encrypted by OpenSSL", "ecdsa/key", string(pem.EncodeToMemory(old)), fmt.Sprintf(open, "ecdsa"), ""},
		{"wrong passphrase", "private/key", asPEM("ENCRYPTED PRIVATE KEY", locked), strings.Replace(fmt.Sprintf(open, "private-1"), "sesame", "barley", 1), "secrets.private-1.file: /etc/swanctl/private/key: the key cannot be decrypted: is the passphrase right?"},
		{"no passphrase", "private/key", asPEM("ENCRYPTED PRIVATE KEY", locked), "secrets { private-1 { file = key\n} }", "the key is encrypted; its passphrase is expected in"},
		{"of OpenSSH", "private/key", asPEM("OPENSSH PRIVATE KEY", []byte("x")), "secrets { private-1 { file = key\n} }", "convert it: ssh-keygen"},
		{"junk", "private/key", "junk", "secrets { private-1 { file = key\n} }", "it holds no private key"},
	} {
		fsys := swanctl("certs = gw", "auth = psk", c.secrets+"\nsecrets { ike { secret = x\n} }", "x509/gw", p.pem(), c.file, c.content)
		got, err := LoadFS(fsys, DefaultPath)
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v", c.name, err)
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.err == "" && !own(t, got).Key.Public().(*ecdsa.PublicKey).Equal(&p.key.PublicKey):
			t.Errorf("%s: another key", c.name)
		}
		if out := fmt.Sprintf("%+v %v", got, err); strings.Contains(out, "sesame") || strings.Contains(out, hex.EncodeToString(p.pkcs8(t))) {
			t.Errorf("%s: a secret is printed", c.name)
		}
	}
}

func TestCredentialErrors(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	gw := certify(t, ca, "gw.example", nil)
	files := []string{"x509/gw.pem", gw.pem(), "private/gw.pem", asPEM("PRIVATE KEY", gw.pkcs8(t)), "x509ca/ca.pem", ca.pem(), "pubkey/gw.pem", asPEM("PUBLIC KEY", gw.spki())}
	for _, c := range []struct{ local, remote, want string }{
		{"certs = gone.pem", "", `/etc/swanctl/conf.d/hq.conf:4: connections.hq.local.certs = "gone.pem": there is no file /etc/swanctl/x509/gone.pem or`},
		{"certs = /etc/gone.pem", "", `"/etc/gone.pem": /etc/gone.pem: file does not exist`},
		{"certs = 0xabcd", "", `it holds no X.509 certificate that can be read`},
		{"certs = gw.pem", "cacerts = gw.pem", `connections.hq.remote.cacerts = "gw.pem": there is no file /etc/swanctl/x509ca/gw.pem`},
		{"certs = gw.pem", "pubkeys = gone", `connections.hq.remote.pubkeys = "gone": there is no file /etc/swanctl/pubkey/gone`},
		{"certs = gw.pem", "revocation = maybe", `expected one of ifuri, relaxed, strict`},
		{"certs = gw.pem", "auth = rsa-md5", `"md5" is neither a key size nor a hash`},
		{"certs = gw.pem\nauth = rsa", "", `the certificate of 'O=Test, CN=gw.example': its key is ECDSA, and auth = rsa is demanded`},
		{"cert1 { slot = 1\n}", "", `hq.conf:4: connections.hq.local.cert1 names no certificate; expected file = …`},
	} {
		_, err := LoadFS(swanctl(c.local, c.remote, "", files...), DefaultPath)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("local { %s } remote { %s }: %v\nwant %s", c.local, c.remote, err, c.want)
		}
	}
	noCA := swanctl("certs = gw.pem", "", "", files[2:4]...)
	noCA["etc/swanctl/conf.d/hq.conf"].Data = fmt.Appendf(nil, withCerts, "certs = 0x"+hex.EncodeToString(gw.cert.Raw), "")
	if _, err := LoadFS(noCA, DefaultPath); err == nil || !strings.Contains(err.Error(), "connections.hq.remote: nobody is trusted") {
		t.Errorf("no CA: %v", err)
	}
}

func TestCredentialWarnings(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	late := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }
	gw := certify(t, ca, "gw.example", late)
	fsys := swanctl("certs = gw.pem", "", "", "x509/gw.pem", gw.pem(), "private/gw.pem", asPEM("PRIVATE KEY", gw.pkcs8(t)), "x509ca/ca.pem", ca.pem())
	fsys["etc/swanctl/private/gw.pem"].Mode = 0o644
	all := strings.Join(warnings(loadCerts(t, fsys)), "\n")
	for _, want := range []string{"connections.hq.local: the certificate of 'O=Test, CN=gw.example' expired on", "private/gw.pem:1: this private key can be read by others than its owner (mode 0644); run: chmod 600 /etc/swanctl/private/gw.pem"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
	fsys["etc/swanctl/conf.d/hq.conf"].Data = fmt.Appendf(nil, withCerts, "certs = gw.pem\nid = other.example", "")
	fsys["etc/swanctl/x509/gw.pem"].Data = []byte(certifyAgain(t, ca, gw).pem())
	if all := strings.Join(warnings(loadCerts(t, fsys)), "\n"); !strings.Contains(all, "the certificate does not confirm 'other.example', so that many peers will refuse it; its subject is 'O=Test, CN=gw.example'") {
		t.Errorf("another identity: %s", all)
	}
}

// TestFaultyName is a key ID, as with strongSwan, and pointed out.
func TestFaultyName(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	gw := certify(t, ca, "gw.example", nil)
	fsys := swanctl("certs = gw.pem", "id = O=Acme, Inc., CN=gw", "", "x509/gw.pem", gw.pem(), "private/gw.pem", asPEM("PRIVATE KEY", gw.pkcs8(t)), "x509ca/ca.pem", ca.pem())
	c := loadCerts(t, fsys)
	const want = `/etc/swanctl/conf.d/hq.conf:6: connections.hq.remote.id = "O=Acme, Inc., CN=gw" is taken for a key ID, since it is no distinguished name: "Inc., CN" is no attribute`
	if got := c.IKE.Connections[0].Remote.ID; got != (auth.Identity{Type: auth.IDKeyID, Data: "O=Acme, Inc., CN=gw"}) || !strings.Contains(strings.Join(warnings(c), "\n"), want) {
		t.Errorf("%v, %v", got, warnings(c))
	}
}

// TestSmartcards: what is on them is pointed out, and the rest of the file counts. Where nothing else is there to
// authenticate with, the connection is in error as without any certificate.
func TestSmartcards(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	gw := certify(t, ca, "gw.example", nil)
	const secrets = "secrets { token-1 {\n handle = 0a\n pin = 1234\n} }\nauthorities { card {\n handle = 0b\n} }"
	fsys := swanctl("certs = gw.pem\ncert1 {\nhandle = 0a\nslot = 1\nmodule = m\n}", "", secrets, "x509/gw.pem", gw.pem(), "private/gw.pem", asPEM("PRIVATE KEY", gw.pkcs8(t)), "x509ca/ca.pem", ca.pem())
	c := loadCerts(t, fsys)
	if !own(t, c).Cert.Equal(gw.cert) {
		t.Error("our certificate is another one")
	}
	all := strings.Join(warnings(c), "\n")
	for _, want := range []string{
		"hq.conf:6: connections.hq.local.cert1.handle is not honoured; it would have us authenticate with a certificate on a smartcard",
		"secrets.token-1 is not read; it would be used for a private key on a smartcard", "authorities.card.handle is not honoured; it would name a certificate on a smartcard",
		"authorities.card is without effect: it names no certificate of a CA",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
	delete(fsys, "etc/swanctl/x509/gw.pem")
	fsys["etc/swanctl/conf.d/hq.conf"].Data = fmt.Appendf(nil, withCerts, "cert1 {\nhandle = 0a\n}", "")
	if _, err := LoadFS(fsys, DefaultPath); err == nil || !strings.Contains(err.Error(), "connections.hq.local: ") {
		t.Errorf("nothing to authenticate with: %v", err)
	}
}

// TestCAAmongCertificates: a certificate says itself whether it is a CA's.
func TestCAAmongCertificates(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	gw, them := certify(t, ca, "gw.example", nil), certify(t, ca, "them.example", nil)
	c := loadCerts(t, swanctl("certs = gw.pem", "", "", "x509/gw.pem", gw.pem(), "private/gw.pem", asPEM("PRIVATE KEY", gw.pkcs8(t)), "x509/ca.pem", ca.pem()))
	if _, err := c.IKE.Credentials.Verify(them.asPeer(t), &auth.Terms{}, time.Now()); err != nil {
		t.Errorf("a peer of a CA in the folder x509: %v", err)
	}
	// A host's certificate that OpenSSL has made with its defaults is trusted as it is.
	host := certify(t, nil, "host.example", func(c *x509.Certificate) { c.KeyUsage = 0 })
	c = loadCerts(t, swanctl("certs = gw.pem", "", "", "x509/gw.pem", gw.pem(), "private/gw.pem", asPEM("PRIVATE KEY", gw.pkcs8(t)), "x509/host.pem", host.pem()))
	if _, err := c.IKE.Credentials.Verify(host.asPeer(t), &auth.Terms{}, time.Now()); err != nil {
		t.Errorf("a host of the folder x509: %v", err)
	}
	if _, err := c.IKE.Credentials.Verify(certify(t, host, "them.example", nil).asPeer(t), &auth.Terms{}, time.Now()); err == nil {
		t.Error("a host vouches for another one")
	}
	stranger := certify(t, certify(t, nil, "Root", nil), "them.example", nil)
	if _, err := c.IKE.Credentials.Verify(stranger.asPeer(t), &auth.Terms{}, time.Now()); err == nil {
		t.Error("a peer of another CA is trusted")
	}
}

// asPeer is the person with the subject of its certificate as identity.
func (sun *person) asPeer(t *testing.T) *auth.Peer {
	t.Helper()
	p := &auth.Peer{ID: auth.Subject(sun.cert), Certs: [][]byte{sun.cert.Raw}, Announced: true, Method: auth.MethodDigital, Octets: []byte("x")}
	how, err := auth.ChooseSignature(&sun.key.PublicKey, auth.OurHashes, true, auth.Rule{})
	if err != nil {
		t.Fatal(err)
	}
	key, err := auth.NewPrivateKey("sun", sun.key)
	if err != nil {
		t.Fatal(err)
	}
	if p.Data, err = key.Sign(rand.Reader, how, p.Octets); err != nil {
		t.Fatal(err)
	}
	return p
}

// certifyAgain renews a certificate.
func certifyAgain(t *testing.T, ca, p *person) *person {
	t.Helper()
	c := *p.cert
	c.NotAfter = time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, &c, ca.cert, &p.key.PublicKey, ca.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &person{cert, p.key}
}

func TestPubkeysAndBlobs(t *testing.T) {
	a, b := certify(t, nil, "a", nil), certify(t, nil, "b", nil)
	c := loadCerts(t, swanctl("pubkeys = 0x"+hex.EncodeToString(a.spki())+"\nid = a", "pubkeys = b.pem\nid = b", "",
		"private/a.der", string(a.pkcs8(t)), "pubkey/b.pem", asPEM("PUBLIC KEY", b.spki())))
	conn := c.IKE.Connections[0]
	if got := conn.Remote.Terms.Pubkeys; !slices.EqualFunc(got, []crypto.PublicKey{&b.key.PublicKey}, func(x, y crypto.PublicKey) bool { return x.(*ecdsa.PublicKey).Equal(y) }) {
		t.Errorf("remote pubkeys: %v", got)
	}
	if got := own(t, c); got.Cert != nil || string(got.RawKey) != string(a.spki()) {
		t.Errorf("our key: %+v", got)
	}
}

// A CA may lie anywhere, if a section of authorities names it.
func TestAuthorities(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	gw := certify(t, ca, "gw.example", nil)
	c := loadCerts(t, swanctl("certs = gw.pem", "", "authorities { site { file = /opt/ca.pem\n crl_uris = http://crl.example\n} }",
		"x509/gw.pem", gw.pem(), "private/gw.pem", asPEM("PRIVATE KEY", gw.pkcs8(t)), "../../opt/ca.pem", ca.pem()))
	if w := warnings(c); len(w) != 0 {
		t.Errorf("warnings %q", w)
	}
	if got := c.IKE.Credentials.Request([]*auth.Terms{{}}); len(got) != 20 {
		t.Errorf("CAs: %x", got)
	}
	_, err := LoadFS(swanctl("certs = gw.pem", "", "authorities { site { cacert = gone.pem\n} }"), DefaultPath)
	if err == nil || !strings.Contains(err.Error(), `authorities.site.cacert = "gone.pem": there is no file /etc/swanctl/x509ca/gone.pem`) {
		t.Errorf("missing: %v", err)
	}
}

// With pre-shared keys alone, what lies in the folders is nobody's business.
func TestFoldersAreReadForPublicKeysOnly(t *testing.T) {
	c := loadCerts(t, swanctl("auth = psk", "auth = psk", "secrets { ike { secret = x\n} }", "x509/junk", "junk", "private/junk", "junk"))
	if w := warnings(c); len(w) > 0 || c.IKE.Credentials != nil {
		t.Errorf("warnings %q, credentials %v", w, c.IKE.Credentials)
	}
}

// fetcher knows nothing, ever.
type fetcher struct{ auth.RevocationData }

func (*fetcher) Fetch([]auth.Query, time.Time) {}

func (*fetcher) Staple(auth.Query, time.Time) []byte { return nil }

// The section authorities says whom to ask about the certificates of a CA.
func TestAuthorityURIs(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	moon, sun := certify(t, ca, "moon.example", nil), certify(t, ca, "sun.example", nil)
	crl, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now(), NextUpdate: time.Now().Add(time.Hour)}, ca.cert, ca.key)
	if err != nil {
		t.Fatal(err)
	}
	load := func(uris string) *Config {
		return loadCerts(t, swanctl("certs = moon.pem", "id = sun.example", "authorities { site {\n cacert = ca.pem\n "+uris+"\n} }\n",
			"x509/moon.pem", moon.pem(), "x509ca/ca.pem", ca.pem(), "private/moon.pem", asPEM("PRIVATE KEY", moon.pkcs8(t)), "own.crl", string(crl)))
	}
	p := sun.asPeer(t)
	c := load("crl_uris = http://a.example/crl, http://b.example/crl\n ocsp_uris = http://ocsp.example")
	_, err = c.IKE.Credentials.WithFetcher(&fetcher{}).Verify(p, &auth.Terms{}, time.Now())
	var open *auth.Unsettled
	if !errors.As(err, &open) || fmt.Sprint(open.Queries[0].CRLs, open.Queries[0].OCSP) != "[http://a.example/crl http://b.example/crl] [http://ocsp.example]" {
		t.Errorf("asked: %v", err)
	}
	if got := Diff(c, load("crl_uris = http://a.example/crl")).String(); !strings.HasPrefix(got, "replace  authority site: crl_uris, ocsp_uris\n") {
		t.Errorf("diff: %s", got)
	}
	c = load("crl_uris = ldap://ldap.example/cn=Root, file:///etc/swanctl/own.crl")
	if _, err := c.IKE.Credentials.Verify(p, &auth.Terms{Revocation: auth.RevocationStrict}, time.Now()); err != nil {
		t.Errorf("CRL in a file: %v", err)
	}
	if w := warnings(c); len(w) != 1 || !strings.Contains(w[0], `authorities.site.crl_uris = "ldap://ldap.example/cn=Root" is not used; expected http://`) {
		t.Errorf("warnings %q", w)
	}
}

// TestPKCS12 reads containers of both generations of algorithms.
func TestPKCS12(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	moon := certify(t, ca, "moon.example", nil)
	for name, encoder := range map[string]*pkcs12.Encoder{"modern": pkcs12.Modern2023, "legacy": pkcs12.LegacyDES} {
		p12, err := encoder.Encode(moon.key, moon.cert, []*x509.Certificate{ca.cert}, "open sesame")
		if err != nil {
			t.Fatal(err)
		}
		load := func(secrets, file string) (*Config, error) {
			return LoadFS(swanctl("id = moon.example", "id = sun.example", secrets, file, string(p12)), DefaultPath)
		}
		const secret = "secrets { pkcs12-moon { file = %s\n secret = \"%s\"\n} }"
		for _, where := range [][2]string{{"moon.p12", "pkcs12/moon.p12"}, {"/etc/swanctl/moon.p12", "moon.p12"}} {
			c, err := load(fmt.Sprintf(secret, where[0], "open sesame"), where[1])
			if err != nil {
				t.Fatal(err)
			}
			if got := own(t, c); !got.Cert.Equal(moon.cert) || len(c.IKE.Credentials.Request([]*auth.Terms{{}})) != 20 || len(warnings(c)) > 0 {
				t.Errorf("%s, %s: %v, warnings %q", name, where[0], got.Cert.Subject, warnings(c))
			}
		}
		if _, err := load(fmt.Sprintf(secret, "moon.p12", "open barley"), "pkcs12/moon.p12"); err == nil ||
			!strings.Contains(err.Error(), "secrets.pkcs12-moon.file: /etc/swanctl/pkcs12/moon.p12: the container cannot be decrypted: is the passphrase right?") || strings.Contains(err.Error(), "barley") {
			t.Errorf("%s, wrong passphrase: %v", name, err)
		}
		if _, err := load("", "pkcs12/moon.p12"); err == nil {
			t.Errorf("%s, no passphrase: our certificate is not missing", name)
		}
	}
}
