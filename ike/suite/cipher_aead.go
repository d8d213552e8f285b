package suite

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"

	"golang.org/x/crypto/chacha20poly1305"
)

// aeadCipher protects IKE messages with an AEAD (RFC 5282, RFC 7634). The nonce is salt | IV, and only the IV is sent.
type aeadCipher struct {
	aead cipher.AEAD
	salt []byte
	counterIV
}

func newAEAD(id uint16, key []byte, icv int) (cipher.AEAD, error) {
	if id == EncrChaCha20Poly1305 {
		return chacha20poly1305.New(key)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	switch {
	case id == EncrAESCCM8 || id == EncrAESCCM12 || id == EncrAESCCM16:
		return ccm{block: block, n: 11, m: icv}, nil
	case icv == shortTag:
		return newShortTagGCM(block)
	}
	return cipher.NewGCMWithTagSize(block, icv)
}

func (c *aeadCipher) ICVLen() int { return c.aead.Overhead() }

// BlockLen is 1, as counter modes need no padding (RFC 5282, 3).
func (c *aeadCipher) BlockLen() int { return 1 }

func (c *aeadCipher) Seal(dst, iv, plaintext, aad []byte) []byte {
	return c.aead.Seal(dst, c.nonce(iv), plaintext, aad)
}

func (c *aeadCipher) Open(dst, iv, ciphertext, aad []byte) ([]byte, error) {
	if len(iv) != c.IVLen() {
		return nil, ErrICV
	}
	plaintext, err := c.aead.Open(dst, c.nonce(iv), ciphertext, aad)
	if err != nil {
		return nil, ErrICV
	}
	return plaintext, nil
}

func (c *aeadCipher) nonce(iv []byte) []byte {
	nonce := make([]byte, 0, len(c.salt)+len(iv))
	nonce = append(nonce, c.salt...)
	return append(nonce, iv...)
}

// shortTagGCM is AES-GCM with an 8-octet ICV, which the standard library does not open: it computes the full tag anew
// and compares what was sent of it.
type shortTagGCM struct {
	cipher.AEAD // with the full tag
	block       cipher.Block
}

const shortTag = 8

func newShortTagGCM(block cipher.Block) (cipher.AEAD, error) {
	full, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return shortTagGCM{full, block}, nil
}

func (g shortTagGCM) Overhead() int { return shortTag }

func (g shortTagGCM) Seal(dst, nonce, plaintext, aad []byte) []byte {
	out := g.AEAD.Seal(dst, nonce, plaintext, aad)
	return out[:len(out)-g.AEAD.Overhead()+shortTag]
}

func (g shortTagGCM) Open(dst, nonce, ciphertext, aad []byte) ([]byte, error) {
	if len(ciphertext) < shortTag {
		return nil, ErrICV
	}
	n := len(ciphertext) - shortTag
	// NIST SP 800-38D, 7.1: the payload is encrypted with counters from 2 on, after nonce | 1 for the tag.
	first := append(append([]byte(nil), nonce...), 0, 0, 0, 2)
	plaintext := make([]byte, n)
	cipher.NewCTR(g.block, first).XORKeyStream(plaintext, ciphertext[:n])
	tag := g.AEAD.Seal(nil, nonce, plaintext, aad)[n:]
	if subtle.ConstantTimeCompare(tag[:shortTag], ciphertext[n:]) != 1 {
		return nil, ErrICV
	}
	return append(dst, plaintext...), nil
}
