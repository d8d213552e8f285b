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

// attributeTypes are the attributes that strongSwan prints with a short name. Of several names of one
// attribute the first is printed.
var attributeTypes = []struct {
	name string
	oid  string // object identifier, DER without its header
	kind cbasn1.Tag
}{
	{"C", "\x55\x04\x06", 0},
	{"O", "\x55\x04\x0a", 0},
	{"OU", "\x55\x04\x0b", 0},
	{"CN", "\x55\x04\x03", 0},
	{"ST", "\x55\x04\x08", 0},
	{"L", "\x55\x04\x07", 0},
	{"STREET", "\x55\x04\x09", 0},
	{"postalAddress", "\x55\x04\x10", 0},
	{"postalCode", "\x55\x04\x11", 0},
	{"serialNumber", "\x55\x04\x05", 0},
	{"SN", "\x55\x04\x04", 0}, // the surname, not the serial number
	{"G", "\x55\x04\x2a", 0},
	{"I", "\x55\x04\x2b", 0},
	{"T", "\x55\x04\x0c", 0},
	{"D", "\x55\x04\x0d", 0},
	{"N", "\x55\x04\x29", 0},
	{"ID", "\x55\x04\x2d", 0},
	{"pseudonym", "\x55\x04\x41", 0},
	{"dnQualifier", "\x55\x04\x2e", 0},
	{"dmdName", "\x55\x04\x36", 0},
	{"role", "\x55\x04\x48", 0},
	{"userCertificate", "\x55\x04\x24", 0},
	{"E", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01", cbasn1.IA5String},
	{"emailAddress", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01", cbasn1.IA5String},
	{"Email", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01", cbasn1.IA5String},
	{"unstructuredName", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x02", cbasn1.IA5String},
	{"UN", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x02", cbasn1.IA5String},
	{"unstructuredAddress", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x08", 0},
	{"UA", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x08", 0},
	{"challengePassword", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x07", 0},
	{"DC", "\x09\x92\x26\x89\x93\xf2\x2c\x64\x01\x19", cbasn1.IA5String}, // as CAs write it; strongSwan's own is a PrintableString
	{"UID", "\x09\x92\x26\x89\x93\xf2\x2c\x64\x01\x01", 0},
	{"employeeNumber", "\x60\x86\x48\x01\x86\xf8\x42\x03\x01\x03", 0},
	{"EN", "\x60\x86\x48\x01\x86\xf8\x42\x03\x01\x03", 0},
	{"TCGID", "\x2b\x06\x01\x04\x01\x89\x31\x01\x01\x02\x02\x4b", 0},
	{"ND", "\x02\x82\x06\x01\x0a\x07\x14", 0},
}

// assignment is one "CN=moon" of a written name.
type assignment struct {
	oid   string
	kind  cbasn1.Tag
	value string
}

// encodeDN reads a name as strongSwan does into DER: "C=CH, O=strongSwan, CN=moon", or
// "/C=CH/O=strongSwan/CN=moon", in which values may have commas. Nothing is quoted or escaped.
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
		for _, a := range list {
			b.AddASN1(cbasn1.SET, a.add)
		}
	})
	der, err := b.Bytes()
	if err != nil || len(der) > maxDN {
		return "", errors.New("the name is too long")
	}
	return string(der), nil
}

func (a assignment) add(b *cryptobyte.Builder) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.OBJECT_IDENTIFIER, func(b *cryptobyte.Builder) { b.AddBytes([]byte(a.oid)) })
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

// splitDN cuts a written name at its separators. One may stand at the end.
func splitDN(s string) ([]assignment, error) {
	separator := ","
	if s = strings.TrimLeft(s, " "); strings.HasPrefix(s, "/") {
		separator, s = "/", s[1:]
	}
	var list []assignment
	for more := true; more && (len(list) == 0 || strings.Trim(s, " ") != ""); {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("expected attribute=value at %q", s)
		}
		name = strings.Trim(name, " ")
		a := assignment{}
		if a.oid, a.kind, ok = attributeType(name); !ok {
			return nil, fmt.Errorf("%q is no attribute of a distinguished name, expected C, O, OU, CN or another%s", name, slashes(name, separator))
		}
		value, s, more = strings.Cut(strings.TrimLeft(value, " ="), separator)
		a.value = strings.TrimRight(value, " ")
		list = append(list, a)
	}
	return list, nil
}

// slashes is advice on a comma that was not meant to part attributes.
func slashes(name, separator string) string {
	if separator == "," && strings.ContainsAny(name, ` ."`) {
		return "; a name with commas in its values is written /C=CH/O=Acme, Inc./CN=gw"
	}
	return ""
}

// attributeType finds an attribute by its name, in any case, or by its object identifier: dotted, or as attributeName
// writes it.
func attributeType(name string) (oid string, kind cbasn1.Tag, ok bool) {
	for _, t := range attributeTypes {
		if strings.EqualFold(t.name, name) {
			return t.oid, t.kind, true
		}
	}
	if strings.Contains(name, ":") {
		b, err := hex.DecodeString(strings.ReplaceAll(name, ":", ""))
		return string(b), 0, err == nil && len(b) > 1
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
	if s := cryptobyte.String(der); !s.ReadASN1(&body, cbasn1.OBJECT_IDENTIFIER) || len(body) < 2 {
		return "", 0, false
	}
	return string(body), 0, true
}
