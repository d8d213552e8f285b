package suite

import "strings"

const (
	broken  = "is broken and never used (RFC 8221, RFC 8247)"
	missing = "is an algorithm of strongSwan that is not implemented here"
)

// refused are words of strongSwan's grammar that are no typing errors, and why they are not taken. Only MODP-1024 and SHA-1
// remain of what is deprecated: peers still need them, and they count only where the configuration writes them out.
var refused = map[string]string{
	"des":          broken,
	"md5":          broken,
	"md5_128":      broken,
	"prfmd5":       broken,
	"modp768":      broken,
	"modp1024s160": broken,
	"sha1_160":     missing,
	"sha256_96":    missing + "; for peers that truncate SHA-256 to 96 bits write sha256 and set sha256_96 = yes in the child",
	"sha2_256_96":  missing + "; for peers that truncate SHA-256 to 96 bits write sha256 and set sha256_96 = yes in the child",
	"3des":         missing,
	"aesxcbc":      missing,
	"aescmac":      missing,
	"camellia":     missing,
	"prfaesxcbc":   missing,
	"prfaescmac":   missing,
	"prfcamellia":  missing,
	"modp2048s224": missing,
	"modp2048s256": missing,
	"ecp192":       missing,
	"ecp224":       missing,
	"ecp224bp":     missing,
	"ecp256bp":     missing,
	"ecp384bp":     missing,
	"ecp512bp":     missing,
}

// refusedFamilies are prefixes of further such words.
var refusedFamilies = []string{
	"camellia128", "camellia192", "camellia256",
	"blowfish", "cast128", "serpent", "twofish", "ntru", "newhope",
}

// whyRefused returns the reason why a word of strongSwan's grammar is not taken, or "" for a word that is not one.
func whyRefused(word string) string {
	if why, ok := refused[word]; ok {
		return why
	}
	for _, p := range refusedFamilies {
		if strings.HasPrefix(word, p) {
			return missing
		}
	}
	return ""
}
