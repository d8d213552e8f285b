package revocation

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/crypto/ocsp"
)

// entity has a certificate and its key.
type entity struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

var serial int64

func issue(t testing.TB, issuer *entity, name string, edit func(*x509.Certificate)) *entity {
	t.Helper()
	serial++
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	if issuer == nil {
		c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	}
	if edit != nil {
		edit(c)
	}
	e := &entity{c, key}
	if issuer == nil {
		issuer = e
	}
	der, err := x509.CreateCertificate(rand.Reader, c, issuer.cert, &key.PublicKey, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	if e.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return e
}

// crl is one of an issuer that is good for an hour.
func crl(t testing.TB, issuer *entity, revoked ...*entity) []byte {
	t.Helper()
	l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().Add(-time.Minute), NextUpdate: time.Now().Add(time.Hour)}
	for _, e := range revoked {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: e.cert.SerialNumber, RevocationTime: time.Now().Add(-time.Minute)})
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, issuer.cert, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// response is an OCSP response about a certificate, without nextUpdate, with a nonce if that is not nil.
func response(t testing.TB, issuer, about *entity, status int, nonce []byte) []byte {
	t.Helper()
	der, err := ocsp.CreateResponse(issuer.cert, issuer.cert, ocsp.Response{
		Status: status, SerialNumber: about.cert.SerialNumber, ThisUpdate: time.Now().Add(-time.Minute), RevokedAt: time.Now().Add(-time.Hour),
	}, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	if nonce == nil {
		return der
	}
	r, err := ocsp.ParseResponse(der, issuer.cert)
	if err != nil {
		t.Fatal(err)
	}
	return sign(t, issuer, withNonce(t, r.TBSResponseData, nonce))
}

// withNonce appends responseExtensions to a ResponseData.
func withNonce(t testing.TB, tbs, nonce []byte) []byte {
	t.Helper()
	inner, err := asn1.Marshal(nonce)
	if err != nil {
		t.Fatal(err)
	}
	extensions, err := asn1.MarshalWithParams([]pkix.Extension{{Id: oidNonce, Value: inner}}, "explicit,tag:1")
	if err != nil {
		t.Fatal(err)
	}
	s, body := cryptobyte.String(tbs), cryptobyte.String(nil)
	if !s.ReadASN1(&body, cbasn1.SEQUENCE) {
		t.Fatal("no ResponseData")
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(body)
		b.AddBytes(extensions)
	})
	return b.BytesOrPanic()
}

// sign makes an OCSPResponse of a ResponseData.
func sign(t testing.TB, signer *entity, tbs []byte) []byte {
	t.Helper()
	digest := sha256.Sum256(tbs)
	sig, err := signer.key.Sign(rand.Reader, digest[:], nil)
	if err != nil {
		t.Fatal(err)
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Enum(0)
		b.AddASN1(contextTag(0), func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 1})
				b.AddASN1(cbasn1.OCTET_STRING, func(b *cryptobyte.Builder) {
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
						b.AddBytes(tbs)
						b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
							b.AddASN1ObjectIdentifier(asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2})
						})
						b.AddASN1BitString(sig)
					})
				})
			})
		})
	})
	return b.BytesOrPanic()
}
