package wire

import "fmt"

// Message is a parsed IKE message.
type Message struct {
	Header
	// Payloads are the payloads in the clear, in message order.
	Payloads []Payload
	// Encrypted is the SK or SKF payload that ends the message, or nil.
	Encrypted *Encrypted
}

// ParseMessage decodes one IKE message: data is the whole UDP payload without
// the non-ESP marker of RFC 3948. The result aliases data.
//
// With an *UnsupportedVersionError, Header is valid. With an
// *UnsupportedCriticalError the whole Message is valid, the payload in question
// being an *Unknown. With any other error the Header is valid if ParseHeader
// accepts it.
func ParseMessage(data []byte, limits Limits) (Message, error) {
	h, first, err := parseHeader(data)
	m := Message{Header: h}
	if err != nil {
		return m, err
	}
	w := walker{limits: limits.withDefaults(), message: data, rest: data[HeaderLen:], inClear: true}
	m.Payloads, err = w.walk(first)
	m.Encrypted = w.encrypted
	return m, err
}

// ParsePayloads decodes a chain of payloads that begins with one of type
// first, such as the plaintext that Open returns. The result aliases body.
// With an *UnsupportedCriticalError all payloads are returned.
func ParsePayloads(first PayloadType, body []byte, limits Limits) ([]Payload, error) {
	w := walker{limits: limits.withDefaults(), message: body, rest: body}
	return w.walk(first)
}

// AppendMessage appends a message in the clear to dst. An error means that a
// payload cannot be represented, such as a nonce of wrong length, and returns dst.
func AppendMessage(dst []byte, h Header, payloads ...Payload) ([]byte, error) {
	start := len(dst)
	out, err := AppendPayloads(appendHeader(dst, h, FirstType(payloads)), payloads...)
	if err != nil {
		return dst, err
	}
	setLength(out[start:], len(out)-start)
	return out, nil
}

// AppendPayloads appends a chain of payloads without a header, the form in
// which Seal encrypts them. The type of the first is FirstType(payloads).
func AppendPayloads(dst []byte, payloads ...Payload) ([]byte, error) {
	out := dst
	for i, p := range payloads {
		var err error
		if out, err = appendPayload(out, p, FirstType(payloads[i+1:])); err != nil {
			return dst, fmt.Errorf("cannot build %v payload: %w", p.Type(), err)
		}
	}
	return out, nil
}

// FirstType returns the type of the first payload, PayloadNone if there is none.
func FirstType(payloads []Payload) PayloadType {
	if len(payloads) == 0 {
		return PayloadNone
	}
	return payloads[0].Type()
}
