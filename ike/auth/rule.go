package auth

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rule is what an auth key such as "rsa-2048-sha256" demands of a public key
// and of signatures made with it. The zero value is "pubkey": any, but SHA-1.
type Rule struct {
	Kind    KeyKind // 0: any
	PSS     bool    // RSA only as RSASSA-PSS
	MinBits int     // of the key; 0: our limits alone
	Hashes  HashSet // 0: all but SHA-1
	IKEOnly bool    // says nothing about the signatures of the certificates
}

// ruleKinds are the words that a rule begins with.
var ruleKinds = map[string]Rule{
	"pubkey": {}, "rsa": {Kind: KeyRSA}, "rsa/pss": {Kind: KeyRSA, PSS: true},
	"ecdsa": {Kind: KeyECDSA}, "ed25519": {Kind: KeyEd25519},
}

// ParseRule reads pubkey, rsa, rsa/pss, ecdsa or ed25519 with a least size and hashes behind
// it, as in "rsa-3072-sha256-sha384" or "ecdsa-sha384". "ike:" before it says
// that certificates may be signed in other ways.
func ParseRule(s string) (Rule, error) {
	text, ikeOnly := strings.CutPrefix(strings.ToLower(s), "ike:")
	words := strings.Split(text, "-")
	r, ok := ruleKinds[words[0]]
	if !ok {
		return Rule{}, fmt.Errorf("%q is no public key method; expected pubkey, rsa, rsa/pss, ecdsa or ed25519", words[0])
	}
	r.IKEOnly = ikeOnly
	for _, w := range words[1:] {
		if n, err := strconv.Atoi(w); err == nil && n > 0 {
			r.MinBits = n
			continue
		}
		h, ok := hashByName(w)
		if !ok {
			return Rule{}, fmt.Errorf("%q is neither a key size nor a hash; expected sha256, sha384 or sha512", w)
		}
		r.Hashes |= Hashes(h)
	}
	if r.Hashes == Hashes(HashSHA1) && r.Kind != KeyRSA {
		return Rule{}, fmt.Errorf("SHA-1 is for RSA with peers that do not know RFC 7427 only; expected rsa-sha1")
	}
	return r, nil
}

func hashByName(name string) (Hash, bool) {
	for h, d := range hashes {
		if d.name == name {
			return h, true
		}
	}
	return 0, false
}

// String writes the rule as it is configured.
func (r Rule) String() string {
	var kinds []string
	for word, k := range ruleKinds {
		if k.Kind == r.Kind && k.PSS == r.PSS {
			kinds = append(kinds, word)
		}
	}
	slices.Sort(kinds)
	words := kinds[:min(1, len(kinds))]
	if r.MinBits > 0 {
		words = append(words, strconv.Itoa(r.MinBits))
	}
	for h := HashSHA1; h <= HashIdentity; h++ {
		if r.Hashes.Has(h) {
			words = append(words, h.String())
		}
	}
	text := strings.Join(words, "-")
	if r.IKEOnly {
		return "ike:" + text
	}
	return text
}

// allows reports whether a signature in AUTH may be of this scheme. Ed25519
// has no choice of hash, so that only the kind counts.
func (r Rule) allows(s Scheme) bool {
	if r.Kind != 0 && r.Kind != s.Kind() || r.PSS && !s.pss() {
		return false
	}
	switch {
	case s.Hash() == HashIdentity:
		return true
	case r.Hashes == 0:
		return s.Hash() != HashSHA1
	}
	return r.Hashes.Has(s.Hash())
}

// allowsKey reports what is wrong with a key.
func (r Rule) allowsKey(kind KeyKind, bits int) error {
	if r.Kind != 0 && kind != r.Kind {
		return fmt.Errorf("its key is %v, and auth = %v is demanded", kind, r)
	}
	if bits < r.MinBits {
		return fmt.Errorf("its key has %d bits, and auth = %v is demanded", bits, r)
	}
	return nil
}
