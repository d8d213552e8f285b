package auth

import (
	"crypto"
	_ "crypto/sha1" // for the oldest peers
	_ "crypto/sha256"
	_ "crypto/sha512"
	"errors"
	"math/bits"
	"strings"
)

// Hash is a number of the registry of hash algorithms for signatures (RFC
// 7427 section 7).
type Hash uint8

// The hash algorithms that we know.
const (
	HashSHA1     Hash = 1
	HashSHA256   Hash = 2
	HashSHA384   Hash = 3
	HashSHA512   Hash = 4
	HashIdentity Hash = 5 // RFC 8420: Ed25519 hashes by itself
)

var hashes = map[Hash]struct {
	name string
	hash crypto.Hash
}{
	HashSHA1:     {"sha1", crypto.SHA1},
	HashSHA256:   {"sha256", crypto.SHA256},
	HashSHA384:   {"sha384", crypto.SHA384},
	HashSHA512:   {"sha512", crypto.SHA512},
	HashIdentity: {"identity", 0},
}

// String returns the name in strongSwan's spelling.
func (h Hash) String() string { return hashes[h].name }

// sum hashes data; HashIdentity returns it as it is.
func (h Hash) sum(data []byte) []byte {
	f := hashes[h].hash
	if f == 0 {
		return data
	}
	d := f.New()
	d.Write(data)
	return d.Sum(nil)
}

// HashSet is a set of hash algorithms.
type HashSet uint8

// Hashes makes a set.
func Hashes(list ...Hash) HashSet {
	var s HashSet
	for _, h := range list {
		s |= 1 << h
	}
	return s
}

// OurHashes are those that we announce. SHA-1 is not among them (RFC 8247 section 4.2).
var OurHashes = Hashes(HashSHA256, HashSHA384, HashSHA512, HashIdentity)

// Has reports whether h is in the set.
func (s HashSet) Has(h Hash) bool { return s&(1<<h) != 0 }

// String lists the hashes.
func (s HashSet) String() string {
	var names []string
	for h := HashSHA1; h <= HashIdentity; h++ {
		if s.Has(h) {
			names = append(names, h.String())
		}
	}
	return strings.Join(names, ", ")
}

// Notification returns the data of a SIGNATURE_HASH_ALGORITHMS notification
// (RFC 7427 section 4).
func (s HashSet) Notification() []byte {
	data := make([]byte, 0, 2*bits.OnesCount8(uint8(s)))
	for h := HashSHA1; h <= HashIdentity; h++ {
		if s.Has(h) {
			data = append(data, 0, byte(h))
		}
	}
	return data
}

// ParseHashes reads the data of a SIGNATURE_HASH_ALGORITHMS notification.
// Hashes that we do not know are left out.
func ParseHashes(data []byte) (HashSet, error) {
	if len(data)%2 != 0 {
		return 0, errors.New("SIGNATURE_HASH_ALGORITHMS has an odd number of octets, expected two for each hash")
	}
	var s HashSet
	for ; len(data) > 0; data = data[2:] {
		if _, known := hashes[Hash(data[1])]; known && data[0] == 0 {
			s |= 1 << data[1]
		}
	}
	return s, nil
}
