package auth

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

var (
	oidIssuingDistributionPoint = asn1.ObjectIdentifier{2, 5, 29, 28}
	oidFreshestCRL              = asn1.ObjectIdentifier{2, 5, 29, 46}
)

// reasonRemoveFromCRL takes a certificate off a CRL again (RFC 5280 section 5.3.1).
const reasonRemoveFromCRL = 8

// checkCRLs asks the newest CRL that covers the certificate, and what a delta CRL says has changed since (RFC 5280 section 6.3). One
// that has had its time still counts for what it says is revoked.
func (d *RevocationData) checkCRLs(cert, issuer *x509.Certificate, now time.Time) (Status, string) {
	newest, why := d.newestCRL(cert, issuer, now)
	if newest == nil {
		return StatusUnknown, why
	}
	entry := entryOf(newest, cert)
	if delta := d.newestDelta(newest, cert, issuer, now); delta != nil {
		changed := entryOf(delta, cert)
		if changed != nil && (changed.ReasonCode != reasonRemoveFromCRL || !now.After(delta.NextUpdate)) {
			entry = changed
		}
	}
	if entry != nil && entry.ReasonCode != reasonRemoveFromCRL {
		return StatusRevoked, fmt.Sprintf("by the CRL of '%s' since %s", subject(issuer), date(entry.RevocationTime))
	}
	if newest.NextUpdate.IsZero() || now.After(newest.NextUpdate) {
		return StatusUnknown, fmt.Sprintf("the CRL of '%s' was due to be replaced on %s", subject(issuer), date(newest.NextUpdate))
	}
	return StatusGood, fmt.Sprintf("not in the CRL of '%s'", subject(issuer))
}

func (d *RevocationData) newestCRL(cert, issuer *x509.Certificate, now time.Time) (newest *x509.RevocationList, why string) {
	for _, l := range d.CRLs {
		if IsDelta(l) || !bytes.Equal(l.RawIssuer, cert.RawIssuer) || newest != nil && !l.ThisUpdate.After(newest.ThisUpdate) {
			continue
		}
		switch {
		case l.ThisUpdate.After(now.Add(clockSkew)):
			why = fmt.Sprintf("the CRL of '%s' is of %s, which is in the future", subject(issuer), date(l.ThisUpdate))
		case l.CheckSignatureFrom(issuer) != nil:
			why = fmt.Sprintf("the CRL of '%s' is not signed by it, or its certificate must not sign CRLs", subject(issuer))
		case !covers(l, cert):
			why = fmt.Sprintf("the CRL of '%s' is not for this certificate", subject(issuer))
		default:
			newest = l
		}
	}
	return newest, why
}

// covers reports whether a CRL, or delta CRL, speaks of the certificate at all. One with a critical extension that we
// do not know does not (RFC 5280 section 5.2).
func covers(l *x509.RevocationList, cert *x509.Certificate) bool {
	for _, x := range l.Extensions {
		switch {
		case x.Id.Equal(oidIssuingDistributionPoint):
			if !inScope(x.Value, cert) {
				return false
			}
		case x.Critical && !x.Id.Equal(oidFreshestCRL) && !x.Id.Equal(oidDeltaCRLIndicator):
			return false
		}
	}
	for i := range l.RevokedCertificateEntries {
		// RFC 5280 section 5.3: an entry of an indirect CRL, for one.
		if slices.ContainsFunc(l.RevokedCertificateEntries[i].Extensions, func(x pkix.Extension) bool { return x.Critical }) {
			return false
		}
	}
	return true
}

// inScope reads an issuing distribution point (RFC 5280 section 5.2.5).
func inScope(value []byte, cert *x509.Certificate) bool {
	s, body := cryptobyte.String(value), cryptobyte.String(nil)
	if !s.ReadASN1(&body, cbasn1.SEQUENCE) || !s.Empty() {
		return false
	}
	for !body.Empty() {
		var field cryptobyte.String
		var tag cbasn1.Tag
		if !body.ReadAnyASN1(&field, &tag) {
			return false
		}
		switch tag {
		case cbasn1.Tag(0).ContextSpecific().Constructed(): // distributionPoint
			if !namesPoint(field, cert) {
				return false
			}
		case cbasn1.Tag(1).ContextSpecific(): // onlyContainsUserCerts
			if isTrue(field) && cert.IsCA {
				return false
			}
		case cbasn1.Tag(2).ContextSpecific(): // onlyContainsCACerts
			if isTrue(field) && !cert.IsCA {
				return false
			}
		default: // some reasons only, indirect, attribute certificates
			return false
		}
	}
	return true
}

func isTrue(b cryptobyte.String) bool { return len(b) == 1 && b[0] != 0 }

// namesPoint reports whether one of the names of a distribution point is one where
// the certificate says that it is listed.
func namesPoint(s cryptobyte.String, cert *x509.Certificate) bool {
	var names cryptobyte.String
	if !s.ReadASN1(&names, cbasn1.Tag(0).ContextSpecific().Constructed()) {
		return false
	}
	for !names.Empty() {
		var name cryptobyte.String
		var tag cbasn1.Tag
		if !names.ReadAnyASN1(&name, &tag) {
			return false
		}
		if tag == cbasn1.Tag(6).ContextSpecific() && slices.Contains(cert.CRLDistributionPoints, string(name)) {
			return true
		}
	}
	return false
}
