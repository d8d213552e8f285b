package revocation

import (
	"bytes"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/crypto/ocsp"
)

// nonceLen is strongSwan's, and at least what RFC 9654 section 2.1 wants.
const nonceLen = 32

var (
	oidNonce = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 2}
	oidSHA1  = asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}
)

var contextTag = func(n uint8) cbasn1.Tag { return cbasn1.Tag(n).ContextSpecific().Constructed() }

// newRequest builds an OCSP request about one certificate, with a nonce (RFC 6960 section 4.1.1, RFC 9654).
// SHA-1 only names the issuer, and every responder knows it.
func newRequest(cert, issuer *x509.Certificate) (request, nonce []byte, err error) {
	nonce = make([]byte, nonceLen)
	if _, err := rand.Read(nonce); err != nil {
		return nil, nil, err
	}
	key, err := publicKeyBits(issuer)
	if err != nil {
		return nil, nil, err
	}
	nameHash, keyHash := sha1.Sum(issuer.RawSubject), sha1.Sum(key)
	var b cryptobyte.Builder
	sequence := func(b *cryptobyte.Builder, f func(*cryptobyte.Builder)) { b.AddASN1(cbasn1.SEQUENCE, f) }
	sequence(&b, func(b *cryptobyte.Builder) { // OCSPRequest
		sequence(b, func(b *cryptobyte.Builder) { // TBSRequest
			sequence(b, func(b *cryptobyte.Builder) { // requestList
				sequence(b, func(b *cryptobyte.Builder) { // Request
					sequence(b, func(b *cryptobyte.Builder) { // CertID
						sequence(b, func(b *cryptobyte.Builder) {
							b.AddASN1ObjectIdentifier(oidSHA1)
							b.AddASN1NULL()
						})
						b.AddASN1OctetString(nameHash[:])
						b.AddASN1OctetString(keyHash[:])
						b.AddASN1BigInt(cert.SerialNumber)
					})
				})
			})
			b.AddASN1(contextTag(2), func(b *cryptobyte.Builder) { // requestExtensions
				sequence(b, func(b *cryptobyte.Builder) {
					sequence(b, func(b *cryptobyte.Builder) {
						b.AddASN1ObjectIdentifier(oidNonce)
						b.AddASN1(cbasn1.OCTET_STRING, func(b *cryptobyte.Builder) { b.AddASN1OctetString(nonce) })
					})
				})
			})
		})
	})
	request, err = b.Bytes()
	return request, nonce, err
}

// publicKeyBits returns the subjectPublicKey of a certificate, less its count of unused bits.
func publicKeyBits(c *x509.Certificate) ([]byte, error) {
	var outer, algorithm cryptobyte.String
	var key asn1.BitString
	s := cryptobyte.String(c.RawSubjectPublicKeyInfo)
	if !s.ReadASN1(&outer, cbasn1.SEQUENCE) || !outer.ReadASN1(&algorithm, cbasn1.SEQUENCE) || !outer.ReadASN1BitString(&key) {
		return nil, errors.New("the public key of the issuer is malformed")
	}
	return key.Bytes, nil
}

// checkNonce refuses a response to another request. One without a nonce is not refused: many
// responders sign their responses in advance, and its times bound a replay (RFC 9654 section 2.1).
func checkNonce(response []byte, cert *x509.Certificate, nonce []byte) error {
	r, err := ocsp.ParseResponseForCert(response, cert, nil)
	var refused ocsp.ResponseError
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("the responder answers %v", refused.Status)
	case err != nil:
		return fmt.Errorf("the answer is no OCSP response about this certificate: %w", err)
	}
	got, err := responseNonce(r.TBSResponseData)
	if err != nil {
		return err
	}
	if got != nil && !bytes.Equal(got, nonce) {
		return errors.New("the OCSP response answers another request: its nonce is not ours")
	}
	return nil
}

// responseNonce finds the nonce in the responseExtensions of a ResponseData (RFC 6960 section
// 4.2.1), nil if there is none.
func responseNonce(tbs []byte) ([]byte, error) {
	bad := errors.New("the OCSP response is malformed")
	s, data := cryptobyte.String(tbs), cryptobyte.String(nil)
	if !s.ReadASN1(&data, cbasn1.SEQUENCE) {
		return nil, bad
	}
	for !data.Empty() {
		var field, list cryptobyte.String
		var tag cbasn1.Tag
		if !data.ReadAnyASN1(&field, &tag) {
			return nil, bad
		}
		if tag != cbasn1.SEQUENCE {
			continue // version, responderID, producedAt
		}
		var present bool // what follows the responses
		if !data.ReadOptionalASN1(&field, &present, contextTag(1)) || !data.Empty() {
			return nil, bad
		}
		if !present {
			return nil, nil
		}
		if !field.ReadASN1(&list, cbasn1.SEQUENCE) {
			return nil, bad
		}
		return findNonce(list)
	}
	return nil, bad
}

func findNonce(list cryptobyte.String) ([]byte, error) {
	bad := errors.New("the extensions of the OCSP response are malformed")
	for !list.Empty() {
		var extension, value, nonce cryptobyte.String
		var id asn1.ObjectIdentifier
		if !list.ReadASN1(&extension, cbasn1.SEQUENCE) || !extension.ReadASN1ObjectIdentifier(&id) ||
			!extension.SkipOptionalASN1(cbasn1.BOOLEAN) || !extension.ReadASN1(&value, cbasn1.OCTET_STRING) {
			return nil, bad
		}
		if !id.Equal(oidNonce) {
			continue
		}
		// Some responders leave the inner OCTET STRING out.
		if inner := value; inner.ReadASN1(&nonce, cbasn1.OCTET_STRING) && inner.Empty() {
			return nonce, nil
		}
		return value, nil
	}
	return nil, nil
}
