package certtext

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"net/netip"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// The extensions that crypto/x509 does not give in the order in which they are written (RFC 5280 section 4.2.1).
var (
	oidAltName         = asn1.ObjectIdentifier{2, 5, 29, 17}
	oidNameConstraints = asn1.ObjectIdentifier{2, 5, 29, 30}
	oidPolicies        = asn1.ObjectIdentifier{2, 5, 29, 32}
)

var (
	oidUPN = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 20, 2, 3} // the name of a user at Microsoft's
	oidCPS = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 2, 1}       // a pointer to a Certification Practice Statement
)

func extension(list []pkix.Extension, id asn1.ObjectIdentifier) cryptobyte.String {
	for _, e := range list {
		if e.Id.Equal(id) {
			return e.Value
		}
	}
	return nil
}

// altNames lists the names of an extension subjectAltName.
func altNames(s cryptobyte.String) (names []string) {
	var list cryptobyte.String
	if !s.ReadASN1(&list, cbasn1.SEQUENCE) {
		return nil
	}
	for !list.Empty() {
		name, ok := generalName(&list, false)
		if !ok {
			return names
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// generalName reads a GeneralName; it is empty if it is of a kind that is not written. constraint: addresses are networks.
func generalName(s *cryptobyte.String, constraint bool) (string, bool) {
	var value cryptobyte.String
	var tag cbasn1.Tag
	if !s.ReadAnyASN1(&value, &tag) {
		return "", false
	}
	switch tag {
	case tagged(0).Constructed():
		return userName(value), true
	case tagged(1), tagged(2), tagged(6):
		return clean(string(value)), true
	case tagged(4).Constructed():
		return auth.Identity{Type: auth.IDASN1DN, Data: string(value)}.String(), true
	case tagged(7):
		return address(value, constraint), true
	}
	return "", true
}

// userName is the value of an otherName that is a user's.
func userName(s cryptobyte.String) string {
	var id asn1.ObjectIdentifier
	var wrapped, value cryptobyte.String
	if !s.ReadASN1ObjectIdentifier(&id) || !id.Equal(oidUPN) || !s.ReadASN1(&wrapped, tagged(0).Constructed()) ||
		!wrapped.ReadASN1(&value, cbasn1.UTF8String) {
		return ""
	}
	return clean(string(value))
}

func address(b []byte, network bool) string {
	if network {
		ip, ok := netip.AddrFromSlice(b[:len(b)/2])
		mask, _ := netip.AddrFromSlice(b[len(b)/2:])
		if !ok {
			return ""
		}
		return ip.String() + "/" + mask.String()
	}
	if ip, ok := netip.AddrFromSlice(b); ok {
		return ip.String()
	}
	return ""
}

// clean keeps what a certificate holds from controlling a terminal.
func clean(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b)
}

// constraints lists the permitted and the excluded names of an extension nameConstraints.
func constraints(s cryptobyte.String) (permitted, excluded []string) {
	var seq cryptobyte.String
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return nil, nil
	}
	for n, into := range []*[]string{&permitted, &excluded} {
		var subtrees cryptobyte.String
		var present bool
		if !seq.ReadOptionalASN1(&subtrees, &present, tagged(uint8(n)).Constructed()) {
			return permitted, excluded
		}
		for present && !subtrees.Empty() {
			var subtree cryptobyte.String
			if !subtrees.ReadASN1(&subtree, cbasn1.SEQUENCE) {
				break
			}
			if name, ok := generalName(&subtree, true); ok && name != "" {
				*into = append(*into, name)
			}
		}
	}
	return permitted, excluded
}

// policies lists the policies of an extension certificatePolicies, each followed by the statements that it points to.
func policies(s cryptobyte.String) (lines []string) {
	var list cryptobyte.String
	if !s.ReadASN1(&list, cbasn1.SEQUENCE) {
		return nil
	}
	for !list.Empty() {
		var policy, qualifiers cryptobyte.String
		var id asn1.ObjectIdentifier
		if !list.ReadASN1(&policy, cbasn1.SEQUENCE) || !policy.ReadASN1ObjectIdentifier(&id) {
			return lines
		}
		lines = append(lines, id.String())
		if !policy.ReadASN1(&qualifiers, cbasn1.SEQUENCE) {
			continue
		}
		for !qualifiers.Empty() {
			var q, text cryptobyte.String
			if !qualifiers.ReadASN1(&q, cbasn1.SEQUENCE) || !q.ReadASN1ObjectIdentifier(&id) {
				break
			}
			if id.Equal(oidCPS) && q.ReadASN1(&text, cbasn1.IA5String) {
				lines = append(lines, "CPS: "+clean(string(text)))
			}
		}
	}
	return lines
}
