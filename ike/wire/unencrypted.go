package wire

import "encoding/binary"

// AppendUnencrypted appends what RFC 9242 section 3.3.2 authenticates of a message whose payloads are all inside an SK payload: its
// header, the header of SK and the payloads, as if they had been neither encrypted nor fragmented. For a message of ours.
func AppendUnencrypted(dst []byte, h Header, payloads ...Payload) ([]byte, error) {
	plaintext, err := AppendPayloads(nil, payloads...)
	if err != nil {
		return dst, err
	}
	start := len(dst)
	out := appendHeader(dst, h, PayloadEncrypted)
	out = append(out, byte(FirstType(payloads)), 0, 0, 0)
	out = append(out, plaintext...)
	adjust(out[start:], len(plaintext))
	return out, nil
}

// Unencrypted is AppendUnencrypted for a received message: aad is that of its SK payload, or of its first fragment, and plaintext what
// it contains, all fragments together. Both were accepted by ParseMessage and Open.
func Unencrypted(aad, plaintext []byte) []byte {
	out := append(make([]byte, 0, len(aad)+len(plaintext)), aad...)
	// RFC 9242 section 3.3.2: a fragmented message is put together as if it had come whole. The octet
	// that announces SKF is in the IKE header, or in the last payload in the clear.
	announces, at, next := nextPayloadOffset, HeaderLen, PayloadType(aad[nextPayloadOffset])
	for next != PayloadEncrypted && next != PayloadEncryptedFragment && at+genericHeaderLen <= len(aad) {
		announces, next = at, PayloadType(aad[at])
		at += int(binary.BigEndian.Uint16(aad[at+2:]))
	}
	if next == PayloadEncryptedFragment {
		out[announces] = byte(PayloadEncrypted)
		out = out[:len(out)-fragmentHeaderLen]
	}
	out = append(out, plaintext...)
	adjust(out, len(plaintext))
	return out
}

// nextPayloadOffset is where an IKE header says what the first payload is.
const nextPayloadOffset = 16

// adjust enters the lengths of a message that ends with n octets of unencrypted content (RFC 9242 section 3.3.2): without IV, padding and ICV.
func adjust(message []byte, n int) {
	setLength(message, len(message))
	binary.BigEndian.PutUint16(message[len(message)-n-2:], uint16(n+genericHeaderLen))
}
