package auth

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/crypto/ocsp"
)

// checkOCSP asks the OCSP responses that are about the certificate (RFC 6960 section 3.2).
func (d *RevocationData) checkOCSP(cert, issuer *x509.Certificate, now time.Time) (status Status, why string) {
	for _, der := range d.OCSP {
		r, err := d.parseOCSP(der, cert, issuer)
		if err != nil {
			continue // of another certificate, most likely
		}
		if err := d.checkResponse(r, issuer, now); err != nil {
			why = err.Error()
			continue
		}
		switch {
		case r.Status == ocsp.Revoked:
			return StatusRevoked, fmt.Sprintf("by an OCSP response of '%s' since %s", subject(issuer), date(r.RevokedAt))
		case r.Status == ocsp.Good && status == StatusUnknown:
			status, why = StatusGood, fmt.Sprintf("good in the OCSP response of '%s'", subject(issuer))
		}
	}
	return status, why
}

// parseOCSP reads a response about a certificate and verifies its signature: by the issuer, by a responder with
// a certificate of the issuer, or by one that is trusted by configuration (RFC 6960 section 4.2.2.2).
func (d *RevocationData) parseOCSP(der []byte, cert, issuer *x509.Certificate) (*ocsp.Response, error) {
	r, err := ocsp.ParseResponseForCert(der, cert, issuer)
	if err != nil && len(d.Signers) > 0 {
		r, err = d.parseByOthers(der, cert)
	}
	if err == nil && !aboutIssuer(r, cert, issuer) {
		return nil, errors.New("the OCSP response is about a certificate of another issuer")
	}
	return r, err
}

// parseByOthers is parseOCSP for a responder that is trusted by configuration.
func (d *RevocationData) parseByOthers(der []byte, cert *x509.Certificate) (*ocsp.Response, error) {
	r, err := ocsp.ParseResponseForCert(der, cert, nil)
	if err != nil {
		return nil, err
	}
	if r.Certificate != nil && sameCert(d.Signers, r.Certificate) { // package ocsp has verified with it
		return r, nil
	}
	for _, s := range d.Signers {
		if r.Certificate == nil && r.CheckSignatureFrom(s) == nil {
			r.Certificate = s
			return r, nil
		}
	}
	return nil, errors.New("the OCSP response is signed by a stranger")
}

// aboutIssuer checks that a response names the issuer: package ocsp looks at serial numbers only.
func aboutIssuer(r *ocsp.Response, cert, issuer *x509.Certificate) bool {
	if !r.IssuerHash.Available() {
		return false
	}
	hash := func(b []byte) []byte {
		h := r.IssuerHash.New()
		h.Write(b)
		return h.Sum(nil)
	}
	key := publicKeyBits(issuer.RawSubjectPublicKeyInfo)
	for list := responsesOf(r.TBSResponseData); !list.Empty(); {
		var single, id, algorithm, name, keyHash cryptobyte.String
		var serial big.Int
		if !list.ReadASN1(&single, cbasn1.SEQUENCE) || !single.ReadASN1(&id, cbasn1.SEQUENCE) || !id.ReadASN1(&algorithm, cbasn1.SEQUENCE) ||
			!id.ReadASN1(&name, cbasn1.OCTET_STRING) || !id.ReadASN1(&keyHash, cbasn1.OCTET_STRING) || !id.ReadASN1Integer(&serial) {
			return false
		}
		if serial.Cmp(cert.SerialNumber) == 0 { // the first counts, as for package ocsp
			return bytes.Equal(name, hash(issuer.RawSubject)) && bytes.Equal(keyHash, hash(key))
		}
	}
	return false
}

// responsesOf returns the list of responses in a ResponseData (RFC 6960 section 4.2.1).
func responsesOf(tbs []byte) cryptobyte.String {
	s, data := cryptobyte.String(tbs), cryptobyte.String(nil)
	if !s.ReadASN1(&data, cbasn1.SEQUENCE) {
		return nil
	}
	for !data.Empty() {
		var field cryptobyte.String
		var tag cbasn1.Tag
		if !data.ReadAnyASN1(&field, &tag) {
			return nil
		}
		if tag == cbasn1.SEQUENCE { // what is before is no SEQUENCE
			return field
		}
	}
	return nil
}

// checkResponse checks what package ocsp leaves to its caller: the times, and
// that a signer other than the CA has been made a responder by it. Without
// the latter any certificate of the CA could vouch for any other (RFC 6960 section 4.2.2.2).
func (d *RevocationData) checkResponse(r *ocsp.Response, issuer *x509.Certificate, now time.Time) error {
	if r.ThisUpdate.After(now.Add(clockSkew)) {
		return fmt.Errorf("the OCSP response is of %s, which is in the future", date(r.ThisUpdate))
	}
	// RFC 6960 section 4.2.2.1: without nextUpdate there is always newer information.
	if r.NextUpdate.IsZero() && now.After(r.ThisUpdate.Add(clockSkew)) {
		return fmt.Errorf("the OCSP response of %s does not say how long it is good", date(r.ThisUpdate))
	}
	if !r.NextUpdate.IsZero() && now.After(r.NextUpdate) {
		return fmt.Errorf("the OCSP response was due to be replaced on %s", date(r.NextUpdate))
	}
	c := r.Certificate
	if c == nil || c.Equal(issuer) {
		return nil
	}
	if now.Before(c.NotBefore) || now.After(c.NotAfter) {
		return fmt.Errorf("%s, which signs the OCSP response, is valid from %s until %s", describe(c), date(c.NotBefore), date(c.NotAfter))
	}
	if !sameCert(d.Signers, c) && !slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning) {
		return errors.New("the OCSP response is signed by " + describe(c) + ", which is not for that")
	}
	return nil
}
