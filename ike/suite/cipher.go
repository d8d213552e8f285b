package suite

import (
	"crypto/aes"
	"crypto/hmac"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrICV is what Open returns for a message whose integrity check failed or that is too short to have one.
var ErrICV = errors.New("integrity check failed: wrong keys or a changed message")

// Cipher protects one direction of an IKE SA: an AEAD, or encrypt-then-MAC (RFC 7296, 3.14; RFC 5282). It is used by one
// goroutine at a time.
type Cipher interface {
	// IVLen, ICVLen and BlockLen are in octets; plaintext is padded by the caller to a multiple of BlockLen.
	IVLen() int
	ICVLen() int
	BlockLen() int
	// NextIV returns the IV for the next message: never the same twice for counter modes, unpredictable for CBC. The
	// error is that of rand, or says that the counter is used up and the SA must be rekeyed.
	NextIV(rand io.Reader) ([]byte, error)
	// Seal appends ciphertext and ICV to dst. aad is everything in the message before the IV. It panics where iv or
	// plaintext have a wrong length. The space behind dst and plaintext overlap exactly or not at all.
	Seal(dst, iv, plaintext, aad []byte) []byte
	// Open checks the ICV at the end of ciphertext, then appends the plaintext, padding included, to dst. On error (ErrICV)
	// dst is not to be used. The space behind dst and ciphertext overlap exactly or not at all.
	Open(dst, iv, ciphertext, aad []byte) ([]byte, error)
}

// NewCipher makes the cipher of one direction of an IKE SA. encrKey is SK_ei or SK_er, salt included; integKey is SK_ai or SK_ar,
// empty for an AEAD. Both may be wiped afterwards. The error says which algorithm or key length does not fit.
func NewCipher(encr, integ Transform, encrKey, integKey Key) (Cipher, error) {
	e, keyLen, err := lookupEncr(encr)
	if err != nil {
		return nil, err
	}
	if encr.ID == EncrNull || encr.ID == EncrAESGMAC {
		return nil, fmt.Errorf("%s does not encrypt and must not protect IKE (RFC 8247)", encr)
	}
	i, err := lookupInteg(e, integ)
	if err != nil {
		return nil, err
	}
	if encrKey.Len() != keyLen || integKey.Len() != i.key {
		return nil, fmt.Errorf("%s takes keys of %d and %d octets for encryption and integrity; got %d and %d",
			encr, keyLen, i.key, encrKey.Len(), integKey.Len())
	}
	key := encrKey.Bytes()[:keyLen-e.salt]
	salt := append([]byte(nil), encrKey.Bytes()[keyLen-e.salt:]...)
	if e.aead {
		a, err := newAEAD(encr.ID, key, e.icv)
		if err != nil {
			return nil, err
		}
		return &aeadCipher{aead: a, salt: salt}, nil
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	m := encryptThenMAC{mac: hmac.New(i.hash, integKey.Bytes()), icv: i.icv}
	if encr.ID == EncrAESCTR {
		return &ctrCipher{block: block, salt: salt, encryptThenMAC: m}, nil
	}
	return &cbcCipher{block: block, encryptThenMAC: m}, nil
}

// counterIV hands out the IVs of counter modes, 8 octets each.
type counterIV struct {
	next uint64
	used bool // all 2^64 of them
}

func (c *counterIV) NextIV(io.Reader) ([]byte, error) {
	if c.used {
		return nil, errors.New("all IVs of this key are used up; the IKE SA must be rekeyed")
	}
	iv := binary.BigEndian.AppendUint64(nil, c.next)
	c.next++
	c.used = c.next == 0
	return iv, nil
}

// counted is the count that goes on in another process.
func (c *counterIV) counted() *counterIV { return c }

// IVs returns how many IVs c has given out; 0 for CBC, which does not count them.
func IVs(c Cipher) uint64 {
	if counts, ok := c.(interface{ counted() *counterIV }); ok {
		return counts.counted().next
	}
	return 0
}

// SkipIVs makes c, which has given out none, go on behind the first n: a counter mode must never use one twice with the same
// key (RFC 5282, 3).
func SkipIVs(c Cipher, n uint64) {
	if counts, ok := c.(interface{ counted() *counterIV }); ok {
		counts.counted().next = n
	}
}

// IVLen returns 8.
func (c *counterIV) IVLen() int { return 8 }

// grow extends dst by n octets and returns the whole and the new part.
func grow(dst []byte, n int) (whole, part []byte) {
	whole = slices.Grow(dst, n)[:len(dst)+n]
	return whole, whole[len(dst):]
}
