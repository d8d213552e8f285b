package auth

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"
)

func TestVerifyPeer(t *testing.T) {
	root := issue(t, nil, "Root", nil, asCA)
	sub := issue(t, root, "Sub", nil, asCA)
	stranger := issue(t, nil, "Stranger", nil, asCA)
	gw := issue(t, sub, "gw", nil, func(c *x509.Certificate) {
		c.DNSNames, c.EmailAddresses, c.IPAddresses = []string{"gw.example"}, []string{"admin@gw.example"}, []net.IP{net.ParseIP("192.0.2.1"), net.ParseIP("2001:db8::1")}
		c.SubjectKeyId = []byte{1, 2, 3}
	})
	rsaGW := issue(t, root, "rsa", rsaKey(), withDNS("rsa.example"))
	edGW := issue(t, root, "ed", edKey(t), withDNS("ed.example"))
	foreign := issue(t, stranger, "foreign", nil, withDNS("foreign.example"))
	alone := issue(t, nil, "alone", nil, withDNS("alone.example"))
	expired := issue(t, root, "old", nil, all(withDNS("old.example"), func(c *x509.Certificate) { c.NotAfter = noon.Add(-time.Hour) }))
	early := issue(t, root, "new", nil, all(withDNS("new.example"), func(c *x509.Certificate) { c.NotBefore = noon.Add(time.Hour) }))
	encipher := issue(t, root, "enc", nil, all(withDNS("enc.example"), func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }))
	server := issue(t, root, "www", nil, all(withDNS("www.example"), func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }))
	wild := issue(t, root, "wild", nil, withDNS("*.example"))
	oldSub := issue(t, root, "OldSub", nil, all(asCA, func(c *x509.Certificate) { c.NotAfter = noon.Add(-time.Hour) }))
	belowOld := issue(t, oldSub, "below", nil, withDNS("below.example"))
	noCA := issue(t, gw, "forged", nil, withDNS("forged.example"))

	full := NewStore(Contents{CAs: certs(root)})
	withSub := NewStore(Contents{CAs: certs(root, sub)})
	onlySub := NewStore(Contents{CAs: certs(sub)})
	with := func(c *x509.Certificate) *Store { return NewStore(Contents{Certs: []*x509.Certificate{c}}) }

	for _, c := range []struct {
		name  string
		store *Store
		peer  *Peer
		want  *Terms
		err   string // empty: accepted
	}{
		{"FQDN", full, proof(t, "gw.example", gw, sub), &Terms{}, ""},
		{"FQDN in capitals", full, proof(t, "GW.EXAMPLE", gw, sub), &Terms{}, ""},
		{"e-mail", full, proof(t, "admin@gw.example", gw, sub), &Terms{}, ""},
		{"IPv4", full, proof(t, "192.0.2.1", gw, sub), &Terms{}, ""},
		{"IPv6", full, proof(t, "2001:db8::1", gw, sub), &Terms{}, ""},
		{"DN", full, proof(t, "C=CH, O=Test, CN=gw", gw, sub), &Terms{}, ""},
		{"key ID", full, proof(t, "@#010203", gw, sub), &Terms{}, ""},
		{"another FQDN", full, proof(t, "other.example", gw, sub), &Terms{}, "does not confirm the identity 'other.example' that the peer claims, it confirms 'C=CH, O=Test, CN=gw', 'gw.example'"},
		{"another address", full, proof(t, "192.0.2.2", gw, sub), &Terms{}, "does not confirm"},
		{"another DN", full, proof(t, "C=CH, O=Test, CN=rsa", gw, sub), &Terms{}, "does not confirm"},
		{"CN as FQDN", full, proof(t, "gw", gw, sub), &Terms{}, "does not confirm"},
		{"another key ID", full, proof(t, "@#010204", gw, sub), &Terms{}, "does not confirm"},
		{"wildcard in the certificate", full, proof(t, "gw.example", wild), &Terms{}, "does not confirm"},
		{"wildcard in the identity", full, proof(t, "fqdn:*.example", gw, sub), &Terms{}, "does not confirm"},

		{"RSA", full, proof(t, "rsa.example", rsaGW), &Terms{}, ""},
		{"Ed25519", full, proof(t, "ed.example", edGW), &Terms{}, ""},
		{"RSA demanded", full, proof(t, "ed.example", edGW), &Terms{Rule: must(t, "rsa")}, "its key is Ed25519, and auth = rsa is demanded"},
		{"more bits demanded", full, proof(t, "rsa.example", rsaGW), &Terms{Rule: must(t, "rsa-3072")}, "has 2048 bits"},
		{"PSS demanded", full, proof(t, "rsa.example", rsaGW), &Terms{Rule: must(t, "rsa/pss")}, "auth = rsa/pss does not allow"},
		{"hash of the certificates", full, proof(t, "gw.example", gw, sub), &Terms{Rule: must(t, "pubkey-sha256")}, ""},
		{"another hash of the certificates", full, proof(t, "ed.example", edGW), &Terms{Rule: must(t, "ed25519-sha512")}, "is signed with ECDSA-SHA256"},
		{"that is only for IKE", full, proof(t, "ed.example", edGW), &Terms{Rule: must(t, "ike:ed25519-sha512")}, ""},

		{"intermediate missing", full, proof(t, "gw.example", gw), &Terms{}, "no configured CA has issued it (issuer 'C=CH, O=Test, CN=Sub')"},
		{"intermediate configured", withSub, proof(t, "gw.example", gw), &Terms{}, ""},
		{"only the intermediate configured", onlySub, proof(t, "gw.example", gw), &Terms{}, ""},
		{"unknown CA", full, proof(t, "foreign.example", foreign, stranger), &Terms{}, "no configured CA"},
		{"no CA at all", NewStore(Contents{}), proof(t, "gw.example", gw, sub, root), &Terms{}, "no configured CA"},
		{"no store", nil, proof(t, "gw.example", gw, sub, root), &Terms{}, "no configured CA"},
		{"issued by what is no CA", full, proof(t, "forged.example", noCA, gw, sub), &Terms{}, "not trusted"},
		{"expired", full, proof(t, "old.example", expired), &Terms{}, "the certificate of 'C=CH, O=Test, CN=old' expired on 2026-06-01 11:00:00 UTC"},
		{"not yet valid", full, proof(t, "new.example", early), &Terms{}, "is not valid before 2026-06-01 13:00:00 UTC"},
		{"below an expired CA", full, proof(t, "below.example", belowOld, oldSub), &Terms{}, "'C=CH, O=Test, CN=OldSub' in its path is valid from"},
		{"not for signatures", full, proof(t, "enc.example", encipher), &Terms{}, "lacks digitalSignature"},
		{"for web servers, which many have", full, proof(t, "www.example", server), &Terms{}, ""},

		{"cacerts: the root", full, proof(t, "gw.example", gw, sub), &Terms{CACerts: certs(root)}, ""},
		{"cacerts: the intermediate", full, proof(t, "gw.example", gw, sub), &Terms{CACerts: certs(sub)}, ""},
		{"cacerts: another", full, proof(t, "gw.example", gw, sub), &Terms{CACerts: certs(stranger)}, "not issued under one of the CAs in cacerts, but under 'C=CH, O=Test, CN=Root'"},
		{"cacerts: outside of the intermediate", full, proof(t, "ed.example", edGW), &Terms{CACerts: certs(sub)}, "not issued under one of the CAs in cacerts"},
		{"cacerts alone", nil, proof(t, "gw.example", gw, sub), &Terms{CACerts: certs(root)}, ""},
		{"ca_id", full, proof(t, "gw.example", gw, sub), &Terms{CAID: parsed(t, "C=CH, O=*, CN=Sub")}, ""},
		{"another ca_id", full, proof(t, "ed.example", edGW), &Terms{CAID: parsed(t, "C=CH, O=Test, CN=Sub")}, "as ca_id demands"},

		{"certs", nil, proof(t, "alone.example", alone), &Terms{Certs: certs(alone)}, ""},
		{"certs: another", full, proof(t, "ed.example", edGW), &Terms{Certs: certs(alone)}, "is none of those in certs"},
		{"certs with cacerts", nil, proof(t, "alone.example", alone), &Terms{Certs: certs(alone), CACerts: certs(root)}, "not trusted"},
		{"certs, expired", nil, proof(t, "old.example", expired), &Terms{Certs: certs(expired)}, "expired"},
		{"trusted in the folder", with(alone.cert), proof(t, "alone.example", alone), &Terms{}, ""},
		{"trusted, but of somebody else", with(alone.cert), proof(t, "gw.example", alone), &Terms{}, "does not confirm"},
		{"self-signed", full, proof(t, "alone.example", alone), &Terms{}, "no configured CA"},
		{"pubkeys with a certificate around", nil, proof(t, "foreign.example", foreign), &Terms{Pubkeys: []crypto.PublicKey{foreign.key.Public()}}, ""},
		{"pubkeys: another", full, proof(t, "ed.example", edGW), &Terms{Pubkeys: []crypto.PublicKey{foreign.key.Public()}}, "none of those in certs and pubkeys"},
	} {
		v, err := c.store.Verify(c.peer, c.want, noon)
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s: refused: %v", c.name, err)
		case c.err == "" && v.Signature.Method != MethodDigital:
			t.Errorf("%s: %v", c.name, v)
		case c.err != "" && (err == nil || v != nil):
			t.Errorf("%s: accepted: %v", c.name, v)
		case c.err != "" && !strings.Contains(err.Error(), c.err):
			t.Errorf("%s: %q has no %q", c.name, err, c.err)
		}
	}
}

// A peer that sends no certificate is known by those that are configured.
func TestPeerWithoutCertificate(t *testing.T) {
	root := issue(t, nil, "Root", nil, asCA)
	a, b := issue(t, root, "a", nil, withDNS("gw.example")), issue(t, root, "b", nil, withDNS("gw.example"))
	p := proof(t, "gw.example", b)
	p.Certs = nil
	s := NewStore(Contents{CAs: certs(root), Certs: certs(a, b)})
	if v, err := s.Verify(p, &Terms{}, noon); err != nil || !v.Cert.Equal(b.cert) {
		t.Errorf("in the folder: %v, %v", v, err)
	}
	if v, err := (*Store)(nil).Verify(p, &Terms{Certs: certs(a, b)}, noon); err != nil || !v.Cert.Equal(b.cert) {
		t.Errorf("in certs: %v, %v", v, err)
	}
	if _, err := NewStore(Contents{CAs: certs(root)}).Verify(p, &Terms{}, noon); err == nil || !strings.Contains(err.Error(), "sent no certificate") {
		t.Errorf("nowhere: %v", err)
	}
	if _, err := s.Verify(p, &Terms{Certs: certs(a)}, noon); err == nil {
		t.Error("another certificate of the same name will do")
	}
}

// Raw public keys (RFC 7670): the configuration says whose they are.
func TestRawPublicKey(t *testing.T) {
	peer, other := issue(t, nil, "x", edKey(t), nil), issue(t, nil, "y", edKey(t), nil)
	keys := []crypto.PublicKey{other.key.Public(), peer.key.Public()}
	p := proof(t, "gw.example", peer)
	p.Certs = nil
	if v, err := (*Store)(nil).Verify(p, &Terms{Pubkeys: keys}, noon); err != nil || v.Cert != nil {
		t.Errorf("not sent: %v, %v", v, err)
	}
	p.RawKeys = [][]byte{peer.cert.RawSubjectPublicKeyInfo}
	if _, err := (*Store)(nil).Verify(p, &Terms{Pubkeys: keys}, noon); err != nil {
		t.Errorf("sent: %v", err)
	}
	if _, err := (*Store)(nil).Verify(p, &Terms{Pubkeys: keys[:1]}, noon); err == nil || !strings.Contains(err.Error(), "none of those in pubkeys") {
		t.Errorf("not configured: %v", err)
	}
	root := issue(t, nil, "Root", nil, asCA)
	if _, err := NewStore(Contents{CAs: certs(root)}).Verify(p, &Terms{}, noon); err == nil {
		t.Error("a raw key is taken where certificates are wanted")
	}
	if _, err := ParsePublicKey(append(peer.cert.RawSubjectPublicKeyInfo, 0)); err == nil {
		t.Error("octets may follow a key")
	}
}

func TestCredential(t *testing.T) {
	root, other := issue(t, nil, "Root", nil, asCA), issue(t, nil, "Other", nil, asCA)
	sub := issue(t, root, "Sub", nil, asCA)
	mine := issue(t, sub, "gw", nil, withDNS("gw.example"))
	second := issue(t, other, "gw2", nil, withDNS("gw.example"))
	old := issue(t, root, "gw3", nil, all(withDNS("gw.example"), func(c *x509.Certificate) { c.NotAfter = noon.Add(-time.Hour) }))
	keyless := issue(t, root, "keyless", nil, withDNS("keyless.example"))
	s := NewStore(Contents{
		Keys: []PrivateKey{private(t, mine.key), private(t, second.key), private(t, old.key)},
		CAs:  certs(root, sub, other), Certs: certs(mine, second, keyless),
	})
	hash := func(e *entity) []byte { h := caHash(e.cert); return h[:] }
	for _, c := range []struct {
		name, id string
		local    Terms
		ask      []byte
		want     *entity
		as       string
		path     int
		err      string
	}{
		{"configured", "gw.example", Terms{Certs: certs(mine)}, nil, mine, "gw.example", 2, ""},
		{"without an identity", "", Terms{Certs: certs(mine)}, nil, mine, "C=CH, O=Test, CN=gw", 2, ""},
		{"with another identity", "x.example", Terms{Certs: certs(mine)}, nil, mine, "x.example", 2, ""},
		{"found by its name", "gw.example", Terms{}, nil, mine, "gw.example", 2, ""},
		{"found by its subject", "c=ch, o=test, cn=GW2", Terms{}, nil, second, "C=CH, O=Test, CN=gw2", 1, ""},
		{"the peer knows the other CA", "gw.example", Terms{}, hash(other), second, "gw.example", 1, ""},
		{"the peer knows the root", "gw.example", Terms{}, hash(root), mine, "gw.example", 2, ""},
		{"one has expired", "gw.example", Terms{Certs: certs(old, mine)}, nil, mine, "gw.example", 2, ""},
		{"no key", "keyless.example", Terms{}, nil, nil, "", 0, "no private key for the certificate of 'C=CH, O=Test, CN=keyless'"},
		{"unknown", "unknown.example", Terms{}, nil, nil, "", 0, "no certificate with a private key for 'unknown.example'"},
		{"RSA demanded", "gw.example", Terms{Rule: must(t, "rsa")}, nil, nil, "", 0, "auth = rsa is demanded"},
	} {
		got, err := s.Credential(&c.local, parsed(t, c.id), c.ask, noon)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want an error with %q", c.name, err, c.err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case got.Confirmed() != (c.as != "x.example"):
			t.Errorf("%s: confirmed %v", c.name, got.Confirmed())
		case !got.Cert.Equal(c.want.cert) || got.ID.String() != c.as || len(got.Path) != c.path:
			t.Errorf("%s: %v as %v with %d certificates", c.name, got.Cert.Subject, got.ID, len(got.Path))
		}
	}
	raw, err := s.Credential(&Terms{Pubkeys: []crypto.PublicKey{mine.key.Public()}}, Identity{}, nil, noon)
	if err != nil || raw.Cert != nil || string(raw.RawKey) != string(mine.cert.RawSubjectPublicKeyInfo) || raw.ID.Type != IDKeyID {
		t.Errorf("raw key: %+v, %v", raw, err)
	}
}

// What one of us sends, the other takes.
func TestCredentialIsVerified(t *testing.T) {
	root := issue(t, nil, "Root", nil, asCA)
	sub := issue(t, root, "Sub", nil, asCA)
	mine := issue(t, sub, "gw", rsaKey(), withDNS("gw.example"))
	a := NewStore(Contents{Keys: []PrivateKey{private(t, mine.key)}, CAs: certs(root, sub), Certs: certs(mine)})
	b := NewStore(Contents{CAs: certs(root)})
	c, err := a.Credential(&Terms{}, parsed(t, "gw.example"), b.Request([]*Terms{{}}), noon)
	if err != nil {
		t.Fatal(err)
	}
	how, err := ChooseSignature(c.Key.Public(), OurHashes, true, Rule{})
	if err != nil {
		t.Fatal(err)
	}
	p := &Peer{ID: c.ID, Method: how.Method, Octets: octets, Announced: true}
	if p.Data, err = c.Key.Sign(rand.Reader, how, octets); err != nil {
		t.Fatal(err)
	}
	for _, cert := range c.Path {
		p.Certs = append(p.Certs, cert.Raw)
	}
	v, err := b.Verify(p, &Terms{}, noon)
	if err != nil || len(v.Path) != 3 {
		t.Fatalf("%v, %v", v, err)
	}
}
