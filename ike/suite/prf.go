package suite

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
)

// maxPRFBlocks is where prf+ ends, as its block counter is one octet (RFC 7296, 2.13).
const maxPRFBlocks = 255

// PRFunc is a negotiated pseudorandom function (RFC 7296, 2.13; RFC 2104, RFC 4868). Make it with NewPRF.
type PRFunc struct {
	id   uint16
	size int
	hash func() hash.Hash
}

var prfs = map[uint16]PRFunc{
	PRFHMACSHA1:   {PRFHMACSHA1, sha1.Size, sha1.New},
	PRFHMACSHA256: {PRFHMACSHA256, sha256.Size, sha256.New},
	PRFHMACSHA384: {PRFHMACSHA384, sha512.Size384, sha512.New384},
	PRFHMACSHA512: {PRFHMACSHA512, sha512.Size, sha512.New},
}

// NewPRF returns the PRF with the transform ID. The error names an ID that is not implemented.
func NewPRF(id uint16) (PRFunc, error) {
	f, ok := prfs[id]
	if !ok {
		return PRFunc{}, fmt.Errorf("%s is not implemented", Transform{Type: PRF, ID: id})
	}
	return f, nil
}

// ID returns the transform ID.
func (f PRFunc) ID() uint16 { return f.id }

// Size returns the output length in octets, which for HMAC is also the preferred key length (RFC 7296, 2.13 and 2.14).
func (f PRFunc) Size() int { return f.size }

// Sum returns prf(key, data[0] | data[1] | ...).
func (f PRFunc) Sum(key Key, data ...[]byte) []byte {
	mac := hmac.New(f.hash, key.Bytes())
	for _, d := range data {
		mac.Write(d)
	}
	return mac.Sum(nil)
}

// Plus returns the first n octets of prf+(key, seed). The error says that n is beyond 255 blocks, where prf+ ends.
func (f PRFunc) Plus(key Key, seed []byte, n int) ([]byte, error) {
	if n > maxPRFBlocks*f.size {
		return nil, fmt.Errorf("prf+ yields at most %d octets with %s; %d asked for", maxPRFBlocks*f.size, Transform{Type: PRF, ID: f.id}, n)
	}
	// RFC 7296, 2.13: T1 = prf(K, S | 0x01), Tn = prf(K, Tn-1 | S | n)
	var out, block []byte
	for i := 1; len(out) < n; i++ {
		block = f.Sum(key, block, seed, []byte{byte(i)})
		out = append(out, block...)
	}
	return out[:n], nil
}
