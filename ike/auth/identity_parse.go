package auth

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// typePrefixes are the words that settle the type of an identity, whatever it looks like.
var typePrefixes = map[string]IDType{
	"ipv4": IDIPv4, "ipv6": IDIPv6, "fqdn": IDFQDN, "dns": IDFQDN,
	"email": IDRFC822, "rfc822": IDRFC822, "userfqdn": IDRFC822, "asn1dn": IDASN1DN, "keyid": IDKeyID,
}

// otherPrefixes are strongSwan's for types that we do not know.
var otherPrefixes = []string{"ipv4net", "ipv6net", "ipv4range", "ipv6range", "asn1gn", "xmppaddr"}

// anyWords all mean %any.
var anyWords = []string{"", "%any", "%any6", "*", "0.0.0.0", "::", "0::0"}

// Parse reads an identity by strongSwan's rules: with "=" in it a distinguished name such
// as "C=CH, O=strongSwan, CN=moon"; "@#hex" is a KEY_ID, "@@user@fqdn" and "user@fqdn" an e-mail address, "@fqdn" a
// name; an address, or else a name, or a KEY_ID if there is a colon in it. A prefix such as "keyid:" or
// "{11}:" settles the type, and "#" behind it says that hexadecimal digits follow. A faulty distinguished name
// is a KEY_ID: NameFault tells.
func Parse(s string) (Identity, error) {
	s = strings.TrimSpace(s)
	if slices.Contains(anyWords, s) {
		return Identity{}, nil
	}
	if word, value, ok := strings.Cut(s, ":"); ok {
		if t, known := prefixType(word); known {
			return parseTyped(s, t, value)
		}
		if slices.Contains(otherPrefixes, word) {
			return Identity{}, fmt.Errorf("identity %q: identities of the type %s are not supported", s, word)
		}
	}
	switch {
	case strings.Contains(s, "="):
		der, err := encodeDN(s)
		if err != nil {
			return Identity{IDKeyID, s}, nil
		}
		return Identity{IDASN1DN, der}, nil
	case strings.HasPrefix(s, "@#"):
		return parseTyped(s, IDKeyID, s[1:])
	case strings.HasPrefix(s, "@@"):
		return Identity{IDRFC822, s[2:]}, nil
	case strings.HasPrefix(s, "@"):
		return Identity{IDFQDN, s[1:]}, nil
	case strings.Contains(s, "@"):
		return Identity{IDRFC822, s}, nil
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return FromAddr(a), nil
	}
	if strings.Contains(s, ":") {
		return Identity{IDKeyID, s}, nil
	}
	return Identity{IDFQDN, s}, nil
}

// NameFault returns why an identity that was parsed from s is a KEY_ID and not the distinguished name that s looks like.
func NameFault(s string, id Identity) error {
	if s = strings.TrimSpace(s); id != (Identity{IDKeyID, s}) || !strings.Contains(s, "=") {
		return nil
	}
	_, err := encodeDN(s)
	return err
}

// prefixType returns the type that a prefix stands for.
func prefixType(word string) (IDType, bool) {
	if digits, ok := strings.CutPrefix(word, "{"); ok && strings.HasSuffix(digits, "}") {
		n, err := strconv.ParseUint(strings.TrimSuffix(digits, "}"), 10, 8)
		return IDType(n), err == nil && n > 0
	}
	t, ok := typePrefixes[word]
	return t, ok
}

// parseTyped reads the value of an identity of a known type; whole is for messages.
func parseTyped(whole string, t IDType, value string) (Identity, error) {
	bad := func(expected string) (Identity, error) {
		return Identity{}, fmt.Errorf("identity %q: %s expected", whole, expected)
	}
	digits, binary := strings.CutPrefix(value, "#")
	var octets []byte
	if binary {
		var err error
		if octets, err = hex.DecodeString(strings.ReplaceAll(digits, ":", "")); err != nil || len(octets) == 0 {
			return bad("after # hexadecimal digits are")
		}
	}
	switch {
	case t == IDASN1DN && binary:
		if _, err := parseDN(string(octets)); err != nil {
			return bad("after asn1dn:# a distinguished name in DER is")
		}
	case t == IDASN1DN:
		der, err := encodeDN(value)
		if err != nil {
			return Identity{}, fmt.Errorf("identity %q: %w", whole, err)
		}
		return Identity{t, der}, nil
	case t == IDIPv4 || t == IDIPv6:
		a, err := netip.ParseAddr(value)
		if binary {
			var ok bool
			if a, ok = netip.AddrFromSlice(octets); !ok {
				return bad("the octets of an address are")
			}
		} else if err != nil || a.Zone() != "" {
			return bad("an address is")
		}
		if id := FromAddr(a); id.Type == t {
			return id, nil
		}
		return bad("an address of the other kind is")
	}
	if binary {
		return Identity{t, string(octets)}, nil
	}
	return Identity{t, value}, nil
}
