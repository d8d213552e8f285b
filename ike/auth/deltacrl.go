package auth

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

var oidDeltaCRLIndicator = asn1.ObjectIdentifier{2, 5, 29, 27}

// deltaBase returns the number of the CRL that a delta CRL adds to (RFC 5280 section 5.2.4); nil: it is a whole one, or malformed.
func deltaBase(l *x509.RevocationList) *big.Int {
	x := extension(l.Extensions, oidDeltaCRLIndicator)
	if x == nil {
		return nil
	}
	s, n := cryptobyte.String(x.Value), new(big.Int)
	if !s.ReadASN1Integer(n) || !s.Empty() {
		return nil
	}
	return n
}

// IsDelta reports whether a CRL only says what has changed since another one.
func IsDelta(l *x509.RevocationList) bool {
	return extension(l.Extensions, oidDeltaCRLIndicator) != nil
}

// FreshestCRLs returns the URIs of the delta CRLs of a CRL (RFC 5280 section 5.2.6).
func FreshestCRLs(l *x509.RevocationList) []string {
	x := extension(l.Extensions, oidFreshestCRL)
	if x == nil {
		return nil
	}
	names := cbasn1.Tag(0).ContextSpecific().Constructed() // distributionPoint, and fullName in it
	s, points, point := cryptobyte.String(x.Value), cryptobyte.String(nil), cryptobyte.String(nil)
	if !s.ReadASN1(&points, cbasn1.SEQUENCE) {
		return nil
	}
	var uris []string
	for points.ReadASN1(&point, cbasn1.SEQUENCE) {
		var name, full, uri cryptobyte.String
		var tag cbasn1.Tag
		if !point.ReadASN1(&name, names) || !name.ReadASN1(&full, names) {
			continue
		}
		for full.ReadAnyASN1(&uri, &tag) {
			if tag == cbasn1.Tag(6).ContextSpecific() {
				uris = append(uris, string(uri))
			}
		}
	}
	return uris
}

func extension(list []pkix.Extension, id asn1.ObjectIdentifier) *pkix.Extension {
	if i := slices.IndexFunc(list, func(x pkix.Extension) bool { return x.Id.Equal(id) }); i >= 0 {
		return &list[i]
	}
	return nil
}

// newestDelta returns the newest delta CRL that adds to a base (RFC 5280 section 5.2.4): of the same issuer and scope, newer, and made for
// that base or an older one.
func (d *RevocationData) newestDelta(base *x509.RevocationList, cert, issuer *x509.Certificate, now time.Time) (newest *x509.RevocationList) {
	scope := func(l *x509.RevocationList) []byte {
		if x := extension(l.Extensions, oidIssuingDistributionPoint); x != nil {
			return x.Value
		}
		return nil
	}
	for _, l := range d.CRLs {
		from := deltaBase(l)
		if from == nil || l.Number == nil || base.Number == nil || from.Cmp(base.Number) > 0 || l.Number.Cmp(base.Number) <= 0 ||
			newest != nil && l.Number.Cmp(newest.Number) <= 0 {
			continue
		}
		if bytes.Equal(l.RawIssuer, cert.RawIssuer) && bytes.Equal(scope(l), scope(base)) && !l.ThisUpdate.After(now.Add(clockSkew)) &&
			covers(l, cert) && l.CheckSignatureFrom(issuer) == nil {
			newest = l
		}
	}
	return newest
}

// entryOf returns what a CRL says about a certificate, or nil.
func entryOf(l *x509.RevocationList, cert *x509.Certificate) *x509.RevocationListEntry {
	for i := range l.RevokedCertificateEntries {
		if e := &l.RevokedCertificateEntries[i]; e.SerialNumber.Cmp(cert.SerialNumber) == 0 {
			return e
		}
	}
	return nil
}
