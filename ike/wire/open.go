package wire

import (
	"errors"
	"fmt"
)

// ErrDecrypt reports that an encrypted body failed verification or that what
// it decrypts to has impossible padding. It must change no state.
var ErrDecrypt = errors.New("encrypted IKE payload does not verify")

// The ways in which Open fails. All of them are ErrDecrypt to errors.Is.
var (
	errBodyLength = fmt.Errorf("%w: its length does not fit the cipher", ErrDecrypt)
	errICV        = fmt.Errorf("%w: integrity check failed", ErrDecrypt)
	errPadding    = fmt.Errorf("%w: pad length exceeds the plaintext", ErrDecrypt)
)

// Open verifies and decrypts e, removes the padding, and appends the plaintext
// to dst, which must not overlap the message. Of an SK payload the plaintext is
// a chain of payloads that begins with type e.First, of an SKF payload it is one
// piece of it, for a Reassembler. Every failure is ErrDecrypt to errors.Is.
func Open(dst []byte, e *Encrypted, a AEAD) ([]byte, error) {
	ivLen, icvLen := a.IVLen(), a.ICVLen()
	// RFC 7296 section 3.14, RFC 5282 section 3: at least the pad length octet is encrypted.
	n := len(e.Body) - ivLen - icvLen
	if n < 1 || n%a.BlockLen() != 0 {
		return dst, errBodyLength
	}
	out, err := a.Open(dst, e.Body[:ivLen:ivLen], e.Body[ivLen:], e.AAD)
	if err != nil {
		return dst, errICV
	}
	// RFC 7296 section 3.14: any padding is accepted, whatever it contains.
	// The peer has proved that it knows the key, but its pad length may still be wrong.
	plaintext := out[len(dst):]
	if len(plaintext) == 0 || int(plaintext[len(plaintext)-1]) >= len(plaintext) {
		return dst, errPadding
	}
	pad := int(plaintext[len(plaintext)-1])
	return out[:len(out)-1-pad], nil
}
