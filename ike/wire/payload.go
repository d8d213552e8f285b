package wire

import "iter"

// Payload is one payload of a message. The set is closed: *SA, *KeyExchange,
// *Identification, *Certificate, *CertificateRequest, *Auth, *Nonce, *Notify,
// *Delete, *VendorID, *TrafficSelectors, *Configuration, *EAP, *Unknown.
type Payload interface {
	// Type returns the payload type that announces this payload in the chain.
	Type() PayloadType
	// appendBody appends what follows the generic payload header.
	appendBody(dst []byte) ([]byte, error)
}

// PayloadType is a payload type of RFC 7296 section 3.2.
type PayloadType uint8

// Payload types. Only those with a type in this package are decoded; the
// others become *Unknown.
const (
	PayloadNone               PayloadType = 0
	PayloadSA                 PayloadType = 33
	PayloadKeyExchange        PayloadType = 34
	PayloadIDi                PayloadType = 35
	PayloadIDr                PayloadType = 36
	PayloadCertificate        PayloadType = 37
	PayloadCertificateRequest PayloadType = 38
	PayloadAuth               PayloadType = 39
	PayloadNonce              PayloadType = 40
	PayloadNotify             PayloadType = 41
	PayloadDelete             PayloadType = 42
	PayloadVendorID           PayloadType = 43
	PayloadTSi                PayloadType = 44
	PayloadTSr                PayloadType = 45
	PayloadEncrypted          PayloadType = 46
	PayloadConfiguration      PayloadType = 47
	PayloadEAP                PayloadType = 48
	PayloadEncryptedFragment  PayloadType = 53 // RFC 7383
)

// String returns the notation of RFC 7296 section 3.2, such as "SA", "KE" or "SKF".
func (t PayloadType) String() string {
	switch t {
	case PayloadNone:
		return "none"
	case PayloadSA:
		return "SA"
	case PayloadKeyExchange:
		return "KE"
	case PayloadIDi:
		return "IDi"
	case PayloadIDr:
		return "IDr"
	case PayloadCertificate:
		return "CERT"
	case PayloadCertificateRequest:
		return "CERTREQ"
	case PayloadAuth:
		return "AUTH"
	case PayloadNonce:
		return "Nonce"
	case PayloadNotify:
		return "N"
	case PayloadDelete:
		return "D"
	case PayloadVendorID:
		return "V"
	case PayloadTSi:
		return "TSi"
	case PayloadTSr:
		return "TSr"
	case PayloadEncrypted:
		return "SK"
	case PayloadConfiguration:
		return "CP"
	case PayloadEAP:
		return "EAP"
	case PayloadEncryptedFragment:
		return "SKF"
	}
	return numbered("PAYLOAD", int(t))
}

// Unknown is a payload whose type this package does not decode. Body is
// everything after the generic payload header.
type Unknown struct {
	PayloadType PayloadType
	Critical    bool
	Body        []byte
}

// Type returns p.PayloadType.
func (p *Unknown) Type() PayloadType { return p.PayloadType }

func (p *Unknown) appendBody(dst []byte) ([]byte, error) { return append(dst, p.Body...), nil }

// First returns the first payload of the Go type T, and whether there is one:
//
//	nonce, ok := wire.First[*wire.Nonce](m.Payloads)
func First[T Payload](payloads []Payload) (T, bool) {
	for t := range All[T](payloads) {
		return t, true
	}
	var none T
	return none, false
}

// All iterates over the payloads of the Go type T in message order.
func All[T Payload](payloads []Payload) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, p := range payloads {
			if t, ok := p.(T); ok && !yield(t) {
				return
			}
		}
	}
}
