package config

import (
	"strings"
	"testing"
	"testing/fstest"

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

// Certificates of OCSP responders count from ipsec.d too; what belongs to attribute authorities is pointed out, in both places.
func TestOtherFoldersOfIpsecD(t *testing.T) {
	fsys, _ := ipsecD(t, legacyCerts, ": ECDSA us.pem\n")
	responder := certify(t, nil, "responder", nil)
	for name, text := range map[string]string{
		"etc/ipsec.d/ocspcerts/r.pem": responder.pem(), "etc/ipsec.d/aacerts/aa.pem": responder.pem(), "etc/ipsec.d/acerts/group.pem": "x",
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
	var got []string
	for _, w := range c.Warnings {
		if strings.Contains(w.Text, "attribute certificates") {
			got = append(got, w.Position.File)
		}
	}
	if strings.Join(got, " ") != "/etc/ipsec.d/aacerts/aa.pem /etc/ipsec.d/acerts/group.pem" {
		t.Errorf("warnings: %v", c.Warnings)
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
