package wire

import (
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/crypto/cryptobyte"
)

const (
	genericHeaderLen = 4 // next payload, flags, length (RFC 7296 section 3.2)
	criticalBit      = 0x80
	maxPayloadLen    = 0xffff
)

// walker follows one chain of payloads.
type walker struct {
	limits    Limits
	message   []byte // from where offsets count and the AAD begins
	rest      cryptobyte.String
	inClear   bool       // the chain may end with an SK or SKF payload
	encrypted *Encrypted // that payload
}

// walk decodes the chain that begins with a payload of type next and must
// fill the rest of the message exactly.
func (w *walker) walk(next PayloadType) ([]Payload, error) {
	var (
		payloads []Payload
		critical error
	)
	for n := 0; next != PayloadNone; n++ {
		if n == w.limits.MaxPayloads {
			return nil, &LimitError{What: "payloads", Limit: w.limits.MaxPayloads}
		}
		typ, offset := next, len(w.message)-len(w.rest)
		var (
			body  cryptobyte.String
			flags uint8
			err   error
		)
		if next, flags, body, err = w.split(); err != nil {
			return nil, locate(err, typ, offset)
		}
		// RFC 7296 section 3.14: SK is the last payload, and its next
		// payload field is the type of the first payload inside.
		if w.inClear && (typ == PayloadEncrypted || typ == PayloadEncryptedFragment) {
			if err := w.frame(typ, next, body); err != nil {
				return nil, locate(err, typ, offset)
			}
			next = PayloadNone
			continue
		}
		p, err := decode(typ, body, &w.limits)
		if err != nil {
			return nil, locate(err, typ, offset)
		}
		// RFC 7296 section 2.5: the critical bit matters only where the type is
		// unknown. The rest is decoded first, since the answer to a malformed
		// message takes precedence.
		if u, ok := p.(*Unknown); ok && flags&criticalBit != 0 {
			u.Critical = true
			if critical == nil {
				critical = &UnsupportedCriticalError{Type: typ}
			}
		}
		payloads = append(payloads, p)
	}
	if !w.rest.Empty() {
		return nil, locate(malformed("%d octets follow the last payload", len(w.rest)), PayloadNone, len(w.message)-len(w.rest))
	}
	return payloads, critical
}

// split takes the next payload from the chain (RFC 7296 section 3.2).
func (w *walker) split() (next PayloadType, flags uint8, body cryptobyte.String, err error) {
	var (
		typ    uint8
		length uint16
	)
	available := len(w.rest)
	if !w.rest.ReadUint8(&typ) || !w.rest.ReadUint8(&flags) || !w.rest.ReadUint16(&length) {
		return 0, 0, nil, malformed("%d octets left, the payload header has %d", available, genericHeaderLen)
	}
	if length < genericHeaderLen {
		return 0, 0, nil, malformed("length field says %d octets, the payload header has %d", length, genericHeaderLen)
	}
	if !w.rest.ReadBytes((*[]byte)(&body), int(length)-genericHeaderLen) {
		return 0, 0, nil, malformed("length field says %d octets, the message has %d left", length, available)
	}
	// Clipped, so that appending to a slice of a payload copies instead of
	// overwriting the next payload.
	return PayloadType(typ), flags, slices.Clip(body), nil
}

// locate adds to a SyntaxError which payload it concerns.
func locate(err error, typ PayloadType, offset int) error {
	var s *SyntaxError
	if errors.As(err, &s) {
		s.Payload, s.Offset = typ, offset
	}
	return err
}

// decode decodes the body of one payload.
func decode(typ PayloadType, body cryptobyte.String, limits *Limits) (Payload, error) {
	switch typ {
	case PayloadSA:
		return parseSA(body, limits)
	case PayloadKeyExchange:
		return parseKeyExchange(body)
	case PayloadIDi, PayloadIDr:
		return parseIdentification(typ, body)
	case PayloadCertificate:
		return parseCertificate(body)
	case PayloadCertificateRequest:
		return parseCertificateRequest(body)
	case PayloadAuth:
		return parseAuth(body)
	case PayloadNonce:
		return parseNonce(body)
	case PayloadNotify:
		return parseNotify(body)
	case PayloadDelete:
		return parseDelete(body)
	case PayloadVendorID:
		return &VendorID{Data: body}, nil
	case PayloadTSi, PayloadTSr:
		return parseTrafficSelectors(typ, body, limits)
	case PayloadConfiguration:
		return parseConfiguration(body, limits)
	case PayloadEAP:
		return parseEAP(body)
	case PayloadEncrypted, PayloadEncryptedFragment:
		return nil, malformed("encrypted payload inside an encrypted payload")
	}
	return &Unknown{PayloadType: typ, Body: body}, nil
}

// appendPayload appends p with its generic payload header.
func appendPayload(dst []byte, p Payload, next PayloadType) ([]byte, error) {
	var flags byte
	switch p.Type() {
	case PayloadNone, PayloadEncrypted, PayloadEncryptedFragment:
		return dst, errType
	}
	if u, ok := p.(*Unknown); ok && u.Critical {
		flags = criticalBit
	}
	start := len(dst)
	out, err := p.appendBody(append(dst, byte(next), flags, 0, 0))
	if err != nil {
		return dst, err
	}
	n := len(out) - start
	if n > maxPayloadLen {
		return dst, ErrTooLong
	}
	binary.BigEndian.PutUint16(out[start+2:], uint16(n))
	return out, nil
}

// errType reports a PayloadType that does not fit the Go type of the payload.
var errType = errors.New("payload type not possible here")
