package auth

import (
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// attribute is one attribute of a distinguished name (RFC 5280 section 4.1.2.4).
type attribute struct {
	oid    string     // object identifier, DER without its header
	octets string     // of the value, without its header
	text   string     // of a character string
	tag    cbasn1.Tag // of the value
	raw    string     // value as it is encoded, with its header
	chars  bool       // the value is a character string, and text is it
	more   bool       // the next attribute is in the same relative name
}

// Tags of character strings that package cryptobyte does not name.
const (
	tagUniversalString = cbasn1.Tag(28)
	tagBMPString       = cbasn1.Tag(30)
)

var errDN = errors.New("not a distinguished name in DER")

// parseDN reads a distinguished name strictly: anybody may have sent it.
func parseDN(der string) ([]attribute, error) {
	s := cryptobyte.String(der)
	var name cryptobyte.String
	if len(der) > maxDN || !s.ReadASN1(&name, cbasn1.SEQUENCE) || !s.Empty() {
		return nil, errDN
	}
	var all []attribute
	for !name.Empty() {
		var set cryptobyte.String
		if !name.ReadASN1(&set, cbasn1.SET) || set.Empty() {
			return nil, errDN
		}
		for !set.Empty() {
			a, ok := readAttribute(&set)
			if !ok || len(all) == maxRDNs {
				return nil, errDN
			}
			a.more = !set.Empty()
			all = append(all, a)
		}
	}
	return all, nil
}

func readAttribute(s *cryptobyte.String) (attribute, bool) {
	var pair, oid, raw, value cryptobyte.String
	var a attribute
	if !s.ReadASN1(&pair, cbasn1.SEQUENCE) || !pair.ReadASN1(&oid, cbasn1.OBJECT_IDENTIFIER) || len(oid) == 0 {
		return a, false
	}
	if !pair.ReadAnyASN1Element(&raw, &a.tag) || !pair.Empty() {
		return a, false
	}
	a.oid, a.raw = string(oid), string(raw)
	if !raw.ReadAnyASN1(&value, &a.tag) {
		return a, false
	}
	a.octets = string(value)
	a.text, a.chars = decodeString(a.tag, string(value))
	return a, true
}

// decodeString turns a character string of any kind into UTF-8.
func decodeString(tag cbasn1.Tag, s string) (string, bool) {
	switch tag {
	case cbasn1.UTF8String:
		return s, utf8.ValidString(s)
	case cbasn1.PrintableString, cbasn1.IA5String, cbasn1.Tag(18): // 18: NumericString
		for i := range len(s) {
			if s[i] >= utf8.RuneSelf {
				return "", false
			}
		}
		return s, true
	case cbasn1.T61String: // in practice Latin-1
		r := make([]rune, len(s))
		for i := range len(s) {
			r[i] = rune(s[i])
		}
		return string(r), true
	case tagBMPString:
		if len(s)%2 != 0 {
			return "", false
		}
		u := make([]uint16, len(s)/2)
		for i := range u {
			u[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
		}
		return string(utf16.Decode(u)), true
	case tagUniversalString:
		return "", false
	}
	return "", false
}

// matchDN reports whether a configured name accepts that of a peer: the
// same relative names in the same order. A value "*" in the configured one
// stands for every value (RFC 4945 section 3.1.5 compares names as RFC 5280 does).
func matchDN(config, peer string, wildcards bool) bool {
	if config == peer {
		return true
	}
	want, err := parseDN(config)
	if err != nil {
		return false
	}
	got, err := parseDN(peer)
	if err != nil || len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i].oid != got[i].oid || want[i].more != got[i].more {
			return false
		}
		if wildcards && want[i].text == "*" {
			continue
		}
		if !sameValue(want[i], got[i]) {
			return false
		}
	}
	return true
}

// sameValue compares character strings without regard to their kind, case and
// runs of spaces (RFC 5280 section 7.1), and other values octet by octet.
func sameValue(a, b attribute) bool {
	if a.raw == b.raw {
		return true
	}
	if !a.chars || !b.chars {
		return false
	}
	return strings.EqualFold(strings.Join(strings.Fields(a.text), " "), strings.Join(strings.Fields(b.text), " "))
}

// dnString writes a name as strongSwan does: "C=CH, O=strongSwan, CN=moon". Values stand as they are, so that what is
// written may not be read back, nor tell attributes of one relative name from relative names of their own.
func dnString(der string) (string, bool) {
	all, err := parseDN(der)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	for i, a := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(attributeName(a.oid))
		b.WriteByte('=')
		b.WriteString(printable(a.octets))
	}
	return b.String(), true
}

// attributeName returns the short name of an attribute, else the octets of its object identifier.
func attributeName(oid string) string {
	for _, t := range attributeTypes {
		if t.oid == oid {
			return t.name
		}
	}
	return colons(oid)
}
