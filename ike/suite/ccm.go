package suite

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
)

// ccm is the AEAD of RFC 3610, with nonces of n octets and an ICV of m. ESP and IKE use 11 and 8, 12 or 16 (RFC 4309, RFC 5282).
type ccm struct {
	block cipher.Block
	n, m  int
}

func (c ccm) NonceSize() int { return c.n }
func (c ccm) Overhead() int  { return c.m }

func (c ccm) Seal(dst, nonce, plaintext, aad []byte) []byte {
	tag := c.tag(nonce, plaintext, aad) // before plaintext may be overwritten
	whole, out := grow(dst, len(plaintext)+c.m)
	c.crypt(out[:len(plaintext)], nonce, plaintext)
	copy(out[len(plaintext):], tag)
	return whole
}

func (c ccm) Open(dst, nonce, ciphertext, aad []byte) ([]byte, error) {
	if len(ciphertext) < c.m {
		return nil, ErrICV
	}
	body, icv := ciphertext[:len(ciphertext)-c.m], ciphertext[len(ciphertext)-c.m:]
	plaintext := make([]byte, len(body))
	c.crypt(plaintext, nonce, body)
	if subtle.ConstantTimeCompare(c.tag(nonce, plaintext, aad), icv) != 1 {
		clear(plaintext)
		return nil, ErrICV
	}
	return append(dst, plaintext...), nil
}

// counterBlock is A_i of RFC 3610, 2.3.
func (c ccm) counterBlock(nonce []byte, i byte) []byte {
	b := make([]byte, blockLen)
	b[0] = byte(14 - c.n) // L - 1
	copy(b[1:], nonce)
	b[blockLen-1] = i
	return b
}

// crypt encrypts or decrypts the message itself, with the counters from 1 on.
func (c ccm) crypt(dst, nonce, src []byte) {
	cipher.NewCTR(c.block, c.counterBlock(nonce, 1)).XORKeyStream(dst, src)
}

// tag returns the encrypted authentication value (RFC 3610, 2.2 and 2.3).
func (c ccm) tag(nonce, plaintext, aad []byte) []byte {
	var x [blockLen]byte // CBC-MAC so far
	absorb := func(b []byte) {
		for len(b) > 0 {
			n := subtle.XORBytes(x[:], x[:], b)
			c.block.Encrypt(x[:], x[:])
			b = b[n:]
		}
	}
	// B_0: flags, nonce, length of the message in the last L octets.
	var b0 [blockLen]byte
	binary.BigEndian.PutUint64(b0[8:], uint64(len(plaintext)))
	b0[0] = byte(8*((c.m-2)/2) + 14 - c.n)
	copy(b0[1:], nonce)
	if len(aad) > 0 {
		b0[0] |= 1 << 6
	}
	absorb(b0[:])
	if n := len(aad); n > 0 {
		length := binary.BigEndian.AppendUint16(nil, uint16(n))
		if n >= 0xff00 {
			length = binary.BigEndian.AppendUint32([]byte{0xff, 0xfe}, uint32(n))
		}
		absorb(append(length, aad...))
	}
	absorb(plaintext)

	var s0 [blockLen]byte
	c.block.Encrypt(s0[:], c.counterBlock(nonce, 0))
	subtle.XORBytes(x[:], x[:], s0[:])
	return x[:c.m]
}

const blockLen = 16 // of AES
