package wire

import (
	"slices"

	"golang.org/x/crypto/cryptobyte"
)

// Encrypted is the SK or SKF payload at the end of a message (RFC 7296 section
// 3.14, RFC 7383 section 2.5), not yet decrypted. It aliases the message.
type Encrypted struct {
	// First is the type of the first payload inside. In an SKF payload it is
	// PayloadNone except in fragment 1.
	First PayloadType
	// Fragment and Total are 0 in an SK payload. In an SKF payload
	// 1 <= Fragment <= Total holds.
	Fragment, Total uint16
	// AAD is the message from its first octet to the end of the SK or SKF
	// payload's header, fragment numbers included.
	AAD []byte
	// Body is IV, ciphertext and ICV.
	Body []byte
}

// IsFragment reports whether the payload is an SKF payload.
func (e *Encrypted) IsFragment() bool { return e.Total != 0 }

// fragmentHeaderLen covers the fragment number and the total of an SKF payload.
const fragmentHeaderLen = 4

// headerLen is the length of the payload header, to where the IV begins.
func (e *Encrypted) headerLen() int {
	if e.IsFragment() {
		return genericHeaderLen + fragmentHeaderLen
	}
	return genericHeaderLen
}

// payloadType is the type that announces the payload in the chain.
func (e *Encrypted) payloadType() PayloadType {
	if e.IsFragment() {
		return PayloadEncryptedFragment
	}
	return PayloadEncrypted
}

// frame records the SK or SKF payload that ends the message in w.encrypted. body is what
// follows its generic payload header, first its next payload field.
func (w *walker) frame(typ, first PayloadType, body cryptobyte.String) error {
	if !w.rest.Empty() {
		return malformed("%d octets follow the payload, which must be the last", len(w.rest))
	}
	e := &Encrypted{First: first}
	if typ == PayloadEncryptedFragment {
		// RFC 7383 section 2.5: both numbers start from 1.
		if !body.ReadUint16(&e.Fragment) || !body.ReadUint16(&e.Total) {
			return malformed("no room for the fragment number and the total")
		}
		if e.Fragment == 0 || e.Fragment > e.Total {
			return malformed("fragment %d of %d", e.Fragment, e.Total)
		}
		if int(e.Total) > w.limits.MaxFragments {
			return &LimitError{What: "fragments", Limit: w.limits.MaxFragments}
		}
		if e.Fragment > 1 {
			e.First = PayloadNone
		}
	}
	e.AAD = slices.Clip(w.message[:len(w.message)-len(body)])
	e.Body = body
	w.encrypted = e
	return nil
}
