package auth

import (
	"crypto/sha1"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// IDType is the type octet of an identification payload (RFC 7296 section 3.5).
type IDType uint8

// The identification types.
const (
	IDAny    IDType = 0 // not on the wire: matches every identity
	IDIPv4   IDType = 1
	IDFQDN   IDType = 2
	IDRFC822 IDType = 3
	IDIPv6   IDType = 5
	IDASN1DN IDType = 9
	IDKeyID  IDType = 11
)

// Identity is the name of one end. It is comparable; the zero value is %any.
type Identity struct {
	Type IDType
	Data string // the octets of the payload after its type and reserved octets
}

// FromAddr returns the identity of an address.
func FromAddr(a netip.Addr) Identity {
	a = a.Unmap()
	t := IDIPv6
	if a.Is4() {
		t = IDIPv4
	}
	return Identity{Type: t, Data: string(a.AsSlice())}
}

// IsAny reports whether the identity matches every other.
func (id Identity) IsAny() bool { return id.Type == IDAny }

// IsPattern reports whether the identity can match several: %any, or one with wildcards.
func (id Identity) IsPattern() bool {
	switch id.Type {
	case IDAny:
		return true
	case IDFQDN, IDRFC822:
		return strings.HasPrefix(id.Data, "*")
	case IDASN1DN:
		all, _ := parseDN(id.Data)
		return slices.ContainsFunc(all, func(a attribute) bool { return a.text == "*" })
	}
	return false
}

// Matches reports whether a configured identity accepts that of a peer. A
// configured "*.example" stands for every name, and "*@example" for
// every address, that ends so; "*" as a value in a distinguished name for every value.
func (id Identity) Matches(peer Identity) bool {
	if id.IsAny() || id.same(peer, true) {
		return true
	}
	suffix, wildcard := strings.CutPrefix(id.Data, "*")
	named := id.Type == peer.Type && (id.Type == IDFQDN || id.Type == IDRFC822)
	if !named || !wildcard || len(peer.Data) < len(suffix) {
		return false
	}
	return strings.EqualFold(peer.Data[len(peer.Data)-len(suffix):], suffix)
}

// Same reports whether two identities are one, however it is written.
func (id Identity) Same(other Identity) bool { return id.same(other, false) }

func (id Identity) same(other Identity, wildcards bool) bool {
	switch {
	case id == other:
		return true
	case id.Type != other.Type:
		return false
	case id.Type == IDFQDN, id.Type == IDRFC822:
		return strings.EqualFold(id.Data, other.Data)
	case id.Type == IDASN1DN:
		return matchDN(id.Data, other.Data, wildcards)
	}
	return false
}

// String writes the identity as strongSwan prints it. Since a peer may have chosen it, octets that do not print
// are escaped, and what is too long is cut.
func (id Identity) String() string {
	s := id.text()
	if len(s) > maxPrinted {
		return fmt.Sprintf("%s... (%d octets)", s[:maxPrinted], len(id.Data))
	}
	return s
}

func (id Identity) text() string {
	switch id.Type {
	case IDAny:
		return "%any"
	case IDIPv4, IDIPv6:
		if a, ok := netip.AddrFromSlice([]byte(id.Data)); ok {
			return a.String()
		}
	case IDFQDN, IDRFC822:
		return printable(id.Data)
	case IDASN1DN:
		if s, ok := dnString(id.Data); ok {
			return s
		}
	case IDKeyID:
		if p := printable(id.Data); p == id.Data && len(p) != sha1.Size { // strongSwan takes that for the hash of a key
			return p
		}
	}
	return colons(id.Data)
}

// printable replaces each octet that is not a character of ASCII that prints.
func printable(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b)
}

// colons writes octets as "01:02:ff".
func colons(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if i > 0 {
			b.WriteByte(':')
		}
		fmt.Fprintf(&b, "%02x", s[i])
	}
	return b.String()
}
