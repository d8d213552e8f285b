package auth

import (
	"bytes"
	"crypto/sha1"
	"crypto/x509"
	"encoding/asn1"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// confirms reports whether a certificate says that its owner is id (RFC 4945
// section 3.1). Names are compared whole: a wildcard in a certificate is
// no wildcard (section 5.1.3.6), and the common name is no host name.
func confirms(c *x509.Certificate, id Identity) bool {
	switch id.Type {
	case IDIPv4, IDIPv6:
		a, ok := netip.AddrFromSlice([]byte(id.Data))
		if !ok {
			return false
		}
		for _, ip := range c.IPAddresses {
			if have, ok := netip.AddrFromSlice(ip); ok && have.Unmap() == a {
				return true
			}
		}
		return false
	case IDFQDN:
		return slices.ContainsFunc(c.DNSNames, func(n string) bool { return n != "" && strings.EqualFold(n, id.Data) })
	case IDRFC822:
		return slices.ContainsFunc(c.EmailAddresses, func(n string) bool { return n != "" && strings.EqualFold(n, id.Data) })
	case IDASN1DN:
		return matchDN(id.Data, string(c.RawSubject), false)
	case IDKeyID:
		return len(c.SubjectKeyId) > 0 && string(c.SubjectKeyId) == id.Data || string(keyHash(c.RawSubjectPublicKeyInfo)) == id.Data
	}
	return false
}

// keyHash is method 1 of RFC 5280 section 4.2.1.2, which KEY_ID identities
// of keys without certificates use too.
func keyHash(spki []byte) []byte {
	key := publicKeyBits(spki)
	if key == nil {
		return nil
	}
	sum := sha1.Sum(key)
	return sum[:]
}

// publicKeyBits returns the subjectPublicKey of a SubjectPublicKeyInfo.
func publicKeyBits(spki []byte) []byte {
	var outer, bits cryptobyte.String
	var key asn1.BitString
	s := cryptobyte.String(spki)
	if !s.ReadASN1(&outer, cbasn1.SEQUENCE) || !outer.ReadASN1(&bits, cbasn1.SEQUENCE) || !outer.ReadASN1BitString(&key) {
		return nil
	}
	return key.Bytes
}

// names lists what a certificate confirms, for a message.
func names(c *x509.Certificate) string {
	var list []string
	add := func(id Identity) { list = append(list, "'"+id.String()+"'") }
	add(Identity{IDASN1DN, string(c.RawSubject)})
	for _, n := range c.DNSNames {
		add(Identity{IDFQDN, n})
	}
	for _, n := range c.EmailAddresses {
		add(Identity{IDRFC822, n})
	}
	for _, ip := range c.IPAddresses {
		if a, ok := netip.AddrFromSlice(ip); ok {
			add(FromAddr(a))
		}
	}
	const most = 8
	if len(list) > most {
		list = append(list[:most], "…")
	}
	return strings.Join(list, ", ")
}

// sameCert reports whether a list holds the certificate.
func sameCert(list []*x509.Certificate, c *x509.Certificate) bool {
	return slices.ContainsFunc(list, func(o *x509.Certificate) bool { return bytes.Equal(o.Raw, c.Raw) })
}
