package config

import (
	"crypto/x509"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/youmark/pkcs8"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

const legacyCerts = `conn hq
 auto=add
 keyexchange=ikev2
 right=192.0.2.1
 rightid=@them.example
 leftcert=us.pem
`

// ipsecD makes a host with the folders of ipsec.d.
func ipsecD(t *testing.T, conf, secrets string) (fstest.MapFS, *person) {
	t.Helper()
	ca := certify(t, nil, "CA", nil)
	us := certify(t, ca, "us.example", nil)
	unused := certify(t, ca, "unused.example", nil)
	return host(
		"etc/ipsec.conf", conf,
		"etc/ipsec.secrets", secrets,
		"etc/ipsec.d/cacerts/ca.pem", ca.pem(),
		"etc/ipsec.d/certs/us.pem", us.pem(),
		"etc/ipsec.d/private/us.pem", asPEM("PRIVATE KEY", us.pkcs8(t)),
		"etc/ipsec.d/private/unused.pem", asPEM("PRIVATE KEY", unused.pkcs8(t)),
	), us
}

func TestIpsecDFolders(t *testing.T) {
	fsys, us := ipsecD(t, legacyCerts, ": ECDSA us.pem\n")
	c, err := loadHost(fsys)
	if err != nil {
		t.Fatal(err)
	}
	cred := own(t, c)
	if !cred.Cert.Equal(us.cert) || cred.ID != auth.Subject(us.cert) {
		t.Errorf("our certificate is %v, our identity %v", cred.Cert.Subject, cred.ID)
	}
	if !c.IKE.Credentials.Trusts() || c.IKE.Connections[0].Remote.Method != ike.AuthPubkey {
		t.Error("the CA in ipsec.d/cacerts is not trusted")
	}
	var files []string
	for _, f := range c.Credentials {
		files = append(files, f.File)
	}
	if got := strings.Join(files, " "); got != "/etc/ipsec.d/certs/us.pem /etc/ipsec.d/cacerts/ca.pem /etc/ipsec.d/private/us.pem" {
		t.Errorf("read %s", got)
	}
}

// Certificates of OCSP responders and attribute authorities count from ipsec.d too; attribute certificates are pointed out.
func TestOtherFoldersOfIpsecD(t *testing.T) {
	fsys, _ := ipsecD(t, legacyCerts, ": ECDSA us.pem\n")
	responder, aa := certify(t, nil, "responder", nil), certify(t, nil, "groups", nil)
	for name, text := range map[string]string{
		"etc/ipsec.d/ocspcerts/r.pem": responder.pem(), "etc/ipsec.d/aacerts/aa.pem": aa.pem(), "etc/ipsec.d/acerts/group.pem": "x",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	c, err := loadHost(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Revocation.Signers; len(s) != 1 || !s[0].Equal(responder.cert) {
		t.Errorf("responders: %v", s)
	}
	if len(c.AACerts) != 1 || !c.AACerts[0].Equal(aa.cert) {
		t.Errorf("attribute authorities: %v", c.AACerts)
	}
	if slices.ContainsFunc(c.IKE.Credentials.Certificates(), func(l auth.Listed) bool { return l.Cert.Equal(aa.cert) }) {
		t.Error("an attribute authority is trusted as a CA or as a peer")
	}
	if all := strings.Join(warnings(c), "\n"); !strings.Contains(all, "/etc/ipsec.d/acerts/group.pem:1: not used: attribute certificates are not supported") {
		t.Errorf("warnings: %s", all)
	}
}

// TestP12InIpsecSecrets is a key, its certificate and that of the CA, as with charon; one that somebody is to be asked for is passed over.
func TestP12InIpsecSecrets(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	us := certify(t, ca, "us.example", nil)
	p12, err := pkcs12.Modern2023.Encode(us.key, us.cert, []*x509.Certificate{ca.cert}, "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	load := func(secret string) (*Config, error) {
		fsys, _ := ipsecD(t, "conn hq\n left=192.0.2.1\n leftid=@us.example\n right=192.0.2.2\n rightid=@them.example\n auto=add\n", ": P12 us.p12 "+secret+"\n: EAP \"x\"\ncarol : XAUTH y\n: PIN %smartcard:50 1234\n")
		for name := range fsys {
			if strings.HasPrefix(name, "etc/ipsec.d/") {
				delete(fsys, name)
			}
		}
		fsys["etc/ipsec.d/private/us.p12"] = &fstest.MapFile{Data: p12, Mode: 0o600}
		return loadHost(fsys)
	}
	c, err := load(`"open sesame"`)
	if err != nil {
		t.Fatal(err)
	}
	if !own(t, c).Cert.Equal(us.cert) || !slices.ContainsFunc(c.IKE.Credentials.Certificates(), func(l auth.Listed) bool { return l.CA && l.Cert.Equal(ca.cert) }) {
		t.Errorf("the container holds %+v", c.IKE.Credentials.Certificates())
	}
	all := strings.Join(warnings(c), "\n")
	for _, want := range []string{
		"/etc/ipsec.secrets:2: secrets.eap-%any is not read; it would be used for EAP", "/etc/ipsec.secrets:3: secrets.xauth-carol is not read; it would be used for XAuth",
		"/etc/ipsec.secrets:4: PIN is not supported, the line is passed over; it would unlock a smartcard",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
	if _, err := load("%prompt"); err == nil || !strings.Contains(err.Error(), "nobody is trusted") {
		t.Errorf("without the passphrase: %v", err)
	}
}

// TestPromptIsPassedOver: with charon, a key whose passphrase somebody has to type does not keep the other connections from working.
func TestPromptIsPassedOver(t *testing.T) {
	us := certify(t, nil, "us.example", nil)
	locked, err := pkcs8.MarshalPrivateKey(us.key, []byte("open sesame"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		key  []byte
		want string
	}{
		"a key that is locked":  {[]byte(asPEM("ENCRYPTED PRIVATE KEY", locked)), "/etc/ipsec.secrets:1: /etc/ipsec.d/private/other.pem is not used, since its passphrase cannot be asked for; write it here in place of %prompt"},
		"one that is not":       {[]byte(asPEM("PRIVATE KEY", us.pkcs8(t))), ""},
		"one that is not there": {nil, "secrets.private-other.pem.file"},
	} {
		fsys, _ := ipsecD(t, legacyCerts, ": ECDSA other.pem %prompt\n: ECDSA us.pem\n")
		if c.key != nil {
			fsys["etc/ipsec.d/private/other.pem"] = &fstest.MapFile{Data: c.key, Mode: 0o600}
		}
		got, err := loadHost(fsys)
		switch {
		case c.key == nil:
			if err == nil || !strings.Contains(err.Error(), "other.pem") {
				t.Errorf("%s: %v", what, err)
			}
		case err != nil:
			t.Errorf("%s: %v", what, err)
		case strings.Contains(strings.Join(warnings(got), "\n"), "%prompt") != (c.want != ""), !strings.Contains(strings.Join(warnings(got), "\n"), c.want):
			t.Errorf("%s: warnings %v", what, warnings(got))
		}
	}
}

// An identity that the certificate does not confirm is replaced by its subject.
func TestLeftIDNotInCertificate(t *testing.T) {
	fsys, us := ipsecD(t, legacyCerts+" leftid=@other.example\n", ": ECDSA us.pem\n")
	c, err := loadHost(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if id := c.IKE.Connections[0].Local.ID; id != auth.Subject(us.cert) {
		t.Errorf("our identity is %v", id)
	}
	if w := c.Warnings[len(c.Warnings)-1].String(); !strings.HasPrefix(w, "/etc/ipsec.conf:1: connections.hq: the certificate does not confirm leftid 'other.example'; its subject") {
		t.Error(w)
	}
}

func TestKeyMissingInIpsecSecrets(t *testing.T) {
	for secrets, want := range map[string]string{
		"# none\n":           "/etc/ipsec.conf:1: connections.hq.local: ",
		": ECDSA gone.pem\n": "/etc/ipsec.secrets:1: secrets.private-gone.pem.file: /etc/ipsec.d/private/gone.pem: file does not exist",
	} {
		fsys, _ := ipsecD(t, legacyCerts, secrets)
		if _, err := loadHost(fsys); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q:\ngot  %v\nwant %s", secrets, err, want)
		}
	}
}
