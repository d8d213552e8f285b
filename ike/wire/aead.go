package wire

import "io"

// AEAD protects encrypted payloads. Both true AEADs (RFC 5282) and a cipher
// with a separate integrity algorithm, encrypt-then-MAC (RFC 7296 section
// 3.14), have this form; the latter's ICV covers aad, IV and ciphertext in this
// order. One AEAD serves one direction of one IKE SA.
type AEAD interface {
	// IVLen is the length of the explicit IV in octets.
	IVLen() int
	// ICVLen is the length of the integrity check value in octets.
	ICVLen() int
	// BlockLen is what the length of plaintext, padding and pad length
	// together must be a multiple of: the block size of CBC, otherwise 1.
	BlockLen() int
	// NextIV returns the IV of the next message sent. For AEADs and counter
	// modes it never repeats under one key (RFC 5282 section 3.1), for CBC it
	// is drawn from rand (RFC 7296 section 3.14). An error means that no
	// further message can be sent under this key.
	NextIV(rand io.Reader) ([]byte, error)
	// Seal appends ciphertext and ICV to dst. The plaintext is padded
	// already. The octets appended overlap no other argument, but aad
	// may lie in front of them in the array of dst.
	Seal(dst, iv, plaintext, aad []byte) []byte
	// Open verifies ciphertext, which ends with the ICV, and appends the
	// plaintext with its padding to dst. It returns an error, and nothing of
	// the plaintext, if verification fails.
	Open(dst, iv, ciphertext, aad []byte) ([]byte, error)
}
