package vici

import "github.com/ipsecd/ipsecd/ike/suite"

// plugin is what get-algorithms names as the provider of each algorithm.
const plugin = "ipsecd"

// hashers are the hash algorithms of signatures (RFC 7427, RFC 8420), in charon's words.
var hashers = []string{"HASH_SHA1", "HASH_SHA2_256", "HASH_SHA2_384", "HASH_SHA2_512", "HASH_IDENTITY"}

// getAlgorithms answers the algorithms that can be configured, by charon's kinds.
func (c *call) getAlgorithms() error {
	ciphers, aeads := splitCiphers()
	c.algorithms("encryption", ciphers)
	c.algorithms("integrity", names(suite.Transforms(suite.INTEG)))
	c.algorithms("aead", aeads)
	c.algorithms("hasher", hashers)
	c.algorithms("prf", names(suite.Transforms(suite.PRF)))
	c.algorithms("xof", []string{"XOF_SHAKE128", "XOF_SHAKE256"}) // ML-KEM's
	c.algorithms("kdf", []string{"KDF_PRF", "KDF_PRF_PLUS"})
	c.algorithms("drbg", nil)
	c.algorithms("ke", names(suite.Transforms(suite.KE)))
	c.algorithms("rng", []string{"RNG_WEAK", "RNG_STRONG", "RNG_TRUE"})
	c.algorithms("nonce-gen", []string{"NONCE_GEN"})
	return nil
}

func (c *call) algorithms(kind string, list []string) {
	c.reply.Section(kind, func() {
		for _, name := range list {
			c.reply.Key(name, plugin)
		}
	})
}

func splitCiphers() (ciphers, aeads []string) {
	var plain, combined []suite.Transform
	for _, t := range suite.Transforms(suite.ENCR) {
		if t.IsAEAD() {
			combined = append(combined, t)
		} else {
			plain = append(plain, t)
		}
	}
	return names(plain), names(combined)
}

// names returns charon's name of each algorithm once: key sizes do not count.
func names(list []suite.Transform) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range list {
		if name := t.Name(); !t.IsNone() && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
