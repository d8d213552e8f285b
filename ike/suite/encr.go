package suite

import "fmt"

// encrAlg is what key schedule, ciphers and kernel names need to know of an encryption algorithm. Lengths are in octets.
type encrAlg struct {
	aead   bool
	keys   []int // permitted values of the Key Length attribute in bits; none where the attribute must be absent
	fixed  int   // key length of algorithms without the attribute
	salt   int   // taken from the key material after the key (RFC 4106, 8.1; RFC 4309, 7.1)
	iv     int
	icv    int // of AEADs
	kernel string
}

var aesKeys = []int{128, 192, 256}

var encrAlgs = map[uint16]encrAlg{
	EncrNull:             {kernel: "ecb(cipher_null)"},
	EncrAESCBC:           {keys: aesKeys, iv: 16, kernel: "cbc(aes)"},                                               // RFC 3602
	EncrAESCTR:           {keys: aesKeys, salt: 4, iv: 8, kernel: "rfc3686(ctr(aes))"},                              // RFC 3686, RFC 5930
	EncrAESCCM8:          {aead: true, keys: aesKeys, salt: 3, iv: 8, icv: 8, kernel: "rfc4309(ccm(aes))"},          // RFC 4309, RFC 5282
	EncrAESCCM12:         {aead: true, keys: aesKeys, salt: 3, iv: 8, icv: 12, kernel: "rfc4309(ccm(aes))"},         // RFC 4309, RFC 5282
	EncrAESCCM16:         {aead: true, keys: aesKeys, salt: 3, iv: 8, icv: 16, kernel: "rfc4309(ccm(aes))"},         // RFC 4309, RFC 5282
	EncrAESGCM8:          {aead: true, keys: aesKeys, salt: 4, iv: 8, icv: 8, kernel: "rfc4106(gcm(aes))"},          // RFC 4106, RFC 5282
	EncrAESGCM12:         {aead: true, keys: aesKeys, salt: 4, iv: 8, icv: 12, kernel: "rfc4106(gcm(aes))"},         // RFC 4106, RFC 5282
	EncrAESGCM16:         {aead: true, keys: aesKeys, salt: 4, iv: 8, icv: 16, kernel: "rfc4106(gcm(aes))"},         // RFC 4106, RFC 5282
	EncrAESGMAC:          {aead: true, keys: aesKeys, salt: 4, iv: 8, icv: 16, kernel: "rfc4543(gcm(aes))"},         // RFC 4543
	EncrChaCha20Poly1305: {aead: true, fixed: 32, salt: 4, iv: 8, icv: 16, kernel: "rfc7539esp(chacha20,poly1305)"}, // RFC 7634
}

// lookupEncr returns the algorithm and the octets of key material that it takes, salt included.
func lookupEncr(t Transform) (encrAlg, int, error) {
	a, ok := encrAlgs[t.ID]
	if t.Type != ENCR || !ok {
		return encrAlg{}, 0, fmt.Errorf("%s is not an encryption algorithm implemented here", t)
	}
	if a.keys == nil && t.KeyBits == 0 {
		return a, a.fixed + a.salt, nil
	}
	for _, bits := range a.keys {
		if int(t.KeyBits) == bits {
			return a, bits/8 + a.salt, nil
		}
	}
	return encrAlg{}, 0, fmt.Errorf("%s cannot have a key of %d bits", t.Name(), t.KeyBits)
}

// lookupInteg returns the algorithm that goes with the cipher; AEADs have none, all others need one.
func lookupInteg(encr encrAlg, t Transform) (integAlg, error) {
	if encr.aead {
		if !t.IsNone() {
			return integAlg{}, fmt.Errorf("%s beside an AEAD, which has its own integrity", t)
		}
		return integAlg{}, nil
	}
	a, ok := integAlgs[t.ID]
	if t.Type != INTEG || !ok {
		return integAlg{}, fmt.Errorf("%s is not an integrity algorithm implemented here", t)
	}
	return a, nil
}
