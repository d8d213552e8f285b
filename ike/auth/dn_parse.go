package auth

import (
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// attributeTypes are the attributes with a short name. Of several names of one
// attribute the first is printed.
var attributeTypes = []struct {
	name string
	oid  string // object identifier, DER without its header
	kind cbasn1.Tag
}{
	{"C", "\x55\x04\x06", cbasn1.PrintableString},
	{"O", "\x55\x04\x0a", 0},
	{"OU", "\x55\x04\x0b", 0},
	{"CN", "\x55\x04\x03", 0},
	{"ST", "\x55\x04\x08", 0},
	{"L", "\x55\x04\x07", 0},
	{"STREET", "\x55\x04\x09", 0},
	{"postalCode", "\x55\x04\x11", 0},
	{"SN", "\x55\x04\x05", cbasn1.PrintableString},
	{"serialNumber", "\x55\x04\x05", cbasn1.PrintableString},
	{"S", "\x55\x04\x04", 0},
	{"G", "\x55\x04\x2a", 0},
	{"I", "\x55\x04\x2b", 0},
	{"T", "\x55\x04\x0c", 0},
	{"D", "\x55\x04\x0d", 0},
	{"N", "\x55\x04\x29", 0},
	{"pseudonym", "\x55\x04\x41", 0},
	{"dnQualifier", "\x55\x04\x2e", cbasn1.PrintableString},
	{"generationQualifier", "\x55\x04\x2c", 0},
	{"organizationIdentifier", "\x55\x04\x61", 0},
	{"E", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01", cbasn1.IA5String},
	{"emailAddress", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01", cbasn1.IA5String},
	{"Email", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01", cbasn1.IA5String},
	{"unstructuredName", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x02", 0},
	{"UN", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x02", 0},
	{"unstructuredAddress", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x08", 0},
	{"UA", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x08", 0},
	{"DC", "\x09\x92\x26\x89\x93\xf2\x2c\x64\x01\x19", cbasn1.IA5String},
	{"UID", "\x09\x92\x26\x89\x93\xf2\x2c\x64\x01\x01", 0},
}

// assignment is one "CN=moon" of a written name.
type assignment struct {
	oid   string
	kind  cbasn1.Tag
	value string
	raw   []byte // value in DER, instead
	more  bool   // the next one belongs to the same relative name
}

// encodeDN reads a name as strongSwan writes it, "C=CH, O=strongSwan, CN=moon", or as
// OpenSSL does, "/C=CH/O=strongSwan/CN=moon", into DER. Values may be quoted, "\"
// takes the next character as it is, and "+" with an attribute behind it joins
// the parts of one relative name.
func encodeDN(s string) (string, error) {
	list, err := splitDN(s)
	if err != nil {
		return "", err
	}
	if len(list) > maxRDNs {
		return "", fmt.Errorf("expected at most %d attributes", maxRDNs)
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for i := 0; i < len(list); i++ {
			b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) {
				for list[i].add(b); list[i].more; list[i].add(b) {
					i++
				}
			})
		}
	})
	der, err := b.Bytes()
	if err != nil || len(der) > maxDN {
		return "", errors.New("the name is too long")
	}
	if _, err := parseDN(string(der)); err != nil {
		return "", errors.New("a value after # is not in DER")
	}
	return string(der), nil
}

func (a assignment) add(b *cryptobyte.Builder) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.OBJECT_IDENTIFIER, func(b *cryptobyte.Builder) { b.AddBytes([]byte(a.oid)) })
		if a.raw != nil {
			b.AddBytes(a.raw)
			return
		}
		kind := a.kind
		if kind == 0 || !fits(kind, a.value) {
			kind = cbasn1.UTF8String // RFC 5280 section 4.1.2.4
			if fits(cbasn1.PrintableString, a.value) {
				kind = cbasn1.PrintableString
			}
		}
		b.AddASN1(kind, func(b *cryptobyte.Builder) { b.AddBytes([]byte(a.value)) })
	})
}

// fits reports whether all characters belong to a kind of string.
func fits(kind cbasn1.Tag, s string) bool {
	for _, r := range s {
		switch {
		case r > '~':
			return false
		case kind == cbasn1.IA5String:
		case r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
		case !strings.ContainsRune(" '()+,-./:=?", r):
			return false
		}
	}
	return true
}

// splitDN cuts a written name at its separators.
func splitDN(s string) ([]assignment, error) {
	separator := byte(',')
	if strings.HasPrefix(s, "/") {
		separator, s = '/', s[1:]
	}
	var list []assignment
	for s != "" {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("expected attribute=value at %q", s)
		}
		a := assignment{}
		if a.oid, a.kind, ok = attributeType(strings.TrimSpace(name)); !ok {
			return nil, fmt.Errorf("%q is no attribute of a distinguished name, expected C, O, OU, CN or another", strings.TrimSpace(name))
		}
		var rest string
		var err error
		if a.value, rest, err = cutValue(value, separator); err != nil {
			return nil, err
		}
		if strings.HasPrefix(strings.TrimLeft(value, " "), "#") {
			if a.raw, err = hex.DecodeString(a.value[1:]); err != nil {
				return nil, fmt.Errorf("after %s=# hexadecimal digits are expected", strings.TrimSpace(name))
			}
		}
		if a.value == "" {
			return nil, fmt.Errorf("%s= has no value", strings.TrimSpace(name))
		}
		if strings.HasPrefix(rest, "+") {
			a.more = true
		}
		list = append(list, a)
		if rest != "" {
			if s = rest[1:]; strings.TrimSpace(s) == "" {
				return nil, fmt.Errorf("the name ends in %q", rest)
			}
			continue
		}
		break
	}
	if len(list) == 0 {
		return nil, errors.New("the name is empty")
	}
	return list, nil
}

// cutValue returns the value at the start of s, and what follows it, from
// the separator on.
func cutValue(s string, separator byte) (value, rest string, err error) {
	s = strings.TrimLeft(s, " ")
	var b strings.Builder
	quoted, kept := false, 0 // kept: how much of the value trailing spaces belong to
	i := 0
loop:
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
			kept = b.Len()
		case c == '"':
			quoted = !quoted
			kept = b.Len()
		case quoted:
			b.WriteByte(c)
			kept = b.Len()
		case c == separator || c == '+' && startsAttribute(s[i+1:]):
			break loop
		default:
			b.WriteByte(c)
		}
	}
	if quoted {
		return "", "", errors.New(`a closing " is missing`)
	}
	value = b.String()
	return value[:kept] + strings.TrimRight(value[kept:], " "), s[i:], nil
}

// startsAttribute tells the "+" of a relative name with two attributes from
// one within a value.
func startsAttribute(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	if !ok {
		return false
	}
	_, _, ok = attributeType(strings.TrimSpace(name))
	return ok
}

// attributeType finds an attribute by its name, in any case, or by its dotted
// object identifier.
func attributeType(name string) (oid string, kind cbasn1.Tag, ok bool) {
	for _, t := range attributeTypes {
		if strings.EqualFold(t.name, name) {
			return t.oid, t.kind, true
		}
	}
	var id asn1.ObjectIdentifier
	for part := range strings.SplitSeq(name, ".") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return "", 0, false
		}
		id = append(id, int(n))
	}
	var b cryptobyte.Builder
	b.AddASN1ObjectIdentifier(id)
	der, err := b.Bytes()
	if err != nil || len(id) < 2 {
		return "", 0, false
	}
	var body cryptobyte.String
	if s := cryptobyte.String(der); !s.ReadASN1(&body, cbasn1.OBJECT_IDENTIFIER) {
		return "", 0, false
	}
	return string(body), 0, true
}
