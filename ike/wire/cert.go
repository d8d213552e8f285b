package wire

import "golang.org/x/crypto/cryptobyte"

// CertEncoding says how a certificate is encoded (RFC 7296 section 3.6).
type CertEncoding uint8

// Certificate encodings that are in use.
const (
	CertX509Signature CertEncoding = 4
	CertCRL           CertEncoding = 7
	CertX509HashURL   CertEncoding = 12
	CertX509BundleURL CertEncoding = 13
	CertOCSP          CertEncoding = 14 // RFC 4806
	CertRawPublicKey  CertEncoding = 15 // RFC 7670
)

// Certificate is a CERT payload (RFC 7296 section 3.6).
type Certificate struct {
	Encoding CertEncoding
	Data     []byte
}

// CertificateRequest is a CERTREQ payload (RFC 7296 section 3.7). For
// CertX509Signature, Authority is a concatenation of SHA-1 hashes of
// SubjectPublicKeyInfo, 20 octets each; it may be empty.
type CertificateRequest struct {
	Encoding  CertEncoding
	Authority []byte
}

// Type returns PayloadCertificate.
func (p *Certificate) Type() PayloadType { return PayloadCertificate }

// Type returns PayloadCertificateRequest.
func (p *CertificateRequest) Type() PayloadType { return PayloadCertificateRequest }

func (p *Certificate) appendBody(dst []byte) ([]byte, error) {
	return append(append(dst, byte(p.Encoding)), p.Data...), nil
}

func (p *CertificateRequest) appendBody(dst []byte) ([]byte, error) {
	return append(append(dst, byte(p.Encoding)), p.Authority...), nil
}

func parseCertificate(s cryptobyte.String) (*Certificate, error) {
	p := new(Certificate)
	if !s.ReadUint8((*uint8)(&p.Encoding)) {
		return nil, malformed("no room for the certificate encoding")
	}
	p.Data = s
	return p, nil
}

func parseCertificateRequest(s cryptobyte.String) (*CertificateRequest, error) {
	p := new(CertificateRequest)
	if !s.ReadUint8((*uint8)(&p.Encoding)) {
		return nil, malformed("no room for the certificate encoding")
	}
	p.Authority = s
	return p, nil
}
