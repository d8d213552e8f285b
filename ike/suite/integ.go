package suite

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
)

// integAlg describes a truncated HMAC. Lengths are in octets.
type integAlg struct {
	hash   func() hash.Hash
	key    int // RFC 2404, RFC 4868 section 2.1.1
	icv    int
	prf    uint16 // of the same hash, what strongSwan takes when a proposal names none
	kernel string
}

var integAlgs = map[uint16]integAlg{
	IntegSHA1_96:    {sha1.New, 20, 12, PRFHMACSHA1, "hmac(sha1)"},
	IntegSHA256_128: {sha256.New, 32, 16, PRFHMACSHA256, "hmac(sha256)"},
	IntegSHA384_192: {sha512.New384, 48, 24, PRFHMACSHA384, "hmac(sha384)"},
	IntegSHA512_256: {sha512.New, 64, 32, PRFHMACSHA512, "hmac(sha512)"},
}
