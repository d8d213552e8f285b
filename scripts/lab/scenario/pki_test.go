//go:build lab

package scenario

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"path"
	"testing"
	"time"
)

// holder has a certificate and its key.
type holder struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// newKey makes a key of a kind: rsa, ecdsa256, ecdsa384, ecdsa521 or ed25519.
func newKey(t *testing.T, kind string) crypto.Signer {
	t.Helper()
	var key crypto.Signer
	var err error
	switch kind {
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa384":
		key, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "ecdsa521":
		key, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	default:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// certify makes a certificate for a host name, or of a CA without an issuer or where edit says so. It is valid from
// an hour ago for a day.
func certify(t *testing.T, issuer *holder, name, kind string, edit func(*x509.Certificate)) *holder {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{Country: []string{"CH"}, Organization: []string{"Lab"}, CommonName: name},
		DNSNames:  []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), BasicConstraintsValid: true,
	}
	if issuer == nil {
		asCA(c)
	}
	if edit != nil {
		edit(c)
	}
	h := &holder{c, newKey(t, kind)}
	if issuer == nil {
		issuer = h
	}
	der, err := x509.CreateCertificate(rand.Reader, c, issuer.cert, h.key.Public(), issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	if h.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return h
}

func asCA(c *x509.Certificate) {
	c.IsCA, c.KeyUsage, c.DNSNames = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign, nil
}

// files are those of swanctl's folders, by their names below /etc/swanctl.
type files map[string]string

func (f files) add(name, kind string, der []byte) {
	f[name] = string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func (f files) cert(folder, name string, h *holder) {
	f.add(path.Join(folder, name+".pem"), "CERTIFICATE", h.cert.Raw)
}

func (f files) key(t *testing.T, name string, h *holder) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(h.key)
	if err != nil {
		t.Fatal(err)
	}
	f.add(path.Join("private", name+".pem"), "PRIVATE KEY", der)
}

// crl revokes certificates.
func (f files) crl(t *testing.T, name string, ca *holder, revoked ...*holder) {
	t.Helper()
	l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(24 * time.Hour)}
	for _, h := range revoked {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: h.cert.SerialNumber, RevocationTime: time.Now().Add(-time.Minute)})
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, ca.cert, ca.key)
	if err != nil {
		t.Fatal(err)
	}
	f.add(path.Join("x509crl", name+".pem"), "X509 CRL", der)
}
