package suite

import (
	"crypto/cipher"
	"crypto/hmac"
	"hash"
	"io"
)

// encryptThenMAC computes and checks the ICV over everything before it: aad, IV, ciphertext (RFC 7296, 3.14).
type encryptThenMAC struct {
	mac hash.Hash
	icv int
}

// ICVLen returns the length of the truncated MAC in octets.
func (m encryptThenMAC) ICVLen() int { return m.icv }

func (m encryptThenMAC) sum(aad, iv, ciphertext []byte) []byte {
	m.mac.Reset()
	m.mac.Write(aad)
	m.mac.Write(iv)
	m.mac.Write(ciphertext)
	return m.mac.Sum(nil)[:m.icv]
}

// check returns the ciphertext without its ICV, or ErrICV.
func (m encryptThenMAC) check(iv, ciphertext, aad []byte) ([]byte, error) {
	n := len(ciphertext) - m.icv
	if n < 0 || !hmac.Equal(m.sum(aad, iv, ciphertext[:n]), ciphertext[n:]) {
		return nil, ErrICV
	}
	return ciphertext[:n], nil
}

// cbcCipher is AES-CBC with HMAC (RFC 3602, RFC 7296 3.14).
type cbcCipher struct {
	block cipher.Block
	encryptThenMAC
}

func (c *cbcCipher) IVLen() int    { return c.block.BlockSize() }
func (c *cbcCipher) BlockLen() int { return c.block.BlockSize() }

// NextIV draws the IV at random, since CBC needs one that an attacker cannot foresee (RFC 3602, 3).
func (c *cbcCipher) NextIV(rand io.Reader) ([]byte, error) {
	iv := make([]byte, c.IVLen())
	if _, err := io.ReadFull(rand, iv); err != nil {
		return nil, err
	}
	return iv, nil
}

func (c *cbcCipher) Seal(dst, iv, plaintext, aad []byte) []byte {
	dst, out := grow(dst, len(plaintext))
	cipher.NewCBCEncrypter(c.block, iv).CryptBlocks(out, plaintext)
	return append(dst, c.sum(aad, iv, out)...)
}

func (c *cbcCipher) Open(dst, iv, ciphertext, aad []byte) ([]byte, error) {
	body, err := c.check(iv, ciphertext, aad)
	if err != nil || len(iv) != c.IVLen() || len(body)%c.BlockLen() != 0 {
		return nil, ErrICV
	}
	dst, out := grow(dst, len(body))
	cipher.NewCBCDecrypter(c.block, iv).CryptBlocks(out, body)
	return dst, nil
}

// ctrCipher is AES-CTR with HMAC (RFC 3686, RFC 5930).
type ctrCipher struct {
	block cipher.Block
	salt  []byte
	encryptThenMAC
	counterIV
}

// BlockLen is 1, as counter modes need no padding (RFC 5930, 2.2).
func (c *ctrCipher) BlockLen() int { return 1 }

// stream starts at the counter block salt | IV | 1 (RFC 3686, 4).
func (c *ctrCipher) stream(iv []byte) cipher.Stream {
	first := make([]byte, 0, c.block.BlockSize())
	first = append(first, c.salt...)
	first = append(first, iv...)
	return cipher.NewCTR(c.block, append(first, 0, 0, 0, 1))
}

func (c *ctrCipher) Seal(dst, iv, plaintext, aad []byte) []byte {
	dst, out := grow(dst, len(plaintext))
	c.stream(iv).XORKeyStream(out, plaintext)
	return append(dst, c.sum(aad, iv, out)...)
}

func (c *ctrCipher) Open(dst, iv, ciphertext, aad []byte) ([]byte, error) {
	body, err := c.check(iv, ciphertext, aad)
	if err != nil || len(iv) != c.IVLen() {
		return nil, ErrICV
	}
	dst, out := grow(dst, len(body))
	c.stream(iv).XORKeyStream(out, body)
	return dst, nil
}
