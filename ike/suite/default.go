package suite

// The words that "default" stands for. AEAD and classic ciphers need proposals of their own (RFC 7296, 2.7). The algorithms
// are those that RFC 8221 and RFC 8247 rate MUST or SHOULD; SHA-1 and groups below 2048 bits are left out. ECP_256 leads, as
// the group that most peers have, so that the first KE payload fits.
const (
	defaultIKEGroups = "-ecp256-x25519-ecp384-ecp521-modp3072-modp4096-modp2048"

	defaultIKEAEAD    = "aes128gcm16-aes192gcm16-aes256gcm16-chacha20poly1305-prfsha256-prfsha384-prfsha512" + defaultIKEGroups
	defaultIKEClassic = "aes128-aes192-aes256-sha256-sha384-sha512" + defaultIKEGroups
	defaultESPAEAD    = "aes128gcm16-aes192gcm16-aes256gcm16-chacha20poly1305"
	defaultESPClassic = "aes128-aes192-aes256-sha256-sha384-sha512"
	defaultAH         = "sha256-sha384-sha512"
)

var defaultWords = map[Protocol][]string{
	IKE: {defaultIKEAEAD, defaultIKEClassic},
	ESP: {defaultESPAEAD, defaultESPClassic},
	AH:  {defaultAH},
}

// DefaultProposals returns what "default" stands for: one proposal with AEAD ciphers, one with classic ones. CHILD_SAs are without
// PFS and ESN, as charon's defaults are. The caller owns the result.
func DefaultProposals(proto Protocol) []Proposal {
	ps, err := ParseProposals(proto, defaultWords[proto])
	if err != nil {
		panic(err) // the words above are constants
	}
	return ps
}
