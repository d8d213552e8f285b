package auth

import (
	"bytes"
	"crypto/x509"
	"slices"
)

// anyPolicy stands for every policy (RFC 5280 section 4.2.1.4).
var anyPolicy = func() x509.OID {
	id, err := x509.ParseOID("2.5.29.32.0")
	if err != nil {
		panic(err)
	}
	return id
}()

// policyValid reports whether a certificate policy is valid for a verified path (RFC 5280 section 6.1), which
// package x509 checks only where a certificate itself demands it: every certificate below the root names it, or
// anyPolicy as far as that is not inhibited. A CA that maps policies to others is not followed.
func policyValid(path []*x509.Certificate, want x509.OID) bool {
	anyAllowed := len(path) // how many certificates further down may say anyPolicy
	for i := len(path) - 2; i >= 0; i-- {
		c := path[i]
		names := func(id x509.OID) bool { return slices.ContainsFunc(c.Policies, id.Equal) }
		selfIssuedCA := i > 0 && bytes.Equal(c.RawSubject, c.RawIssuer)
		if !names(want) && !(names(anyPolicy) && (anyAllowed > 0 || selfIssuedCA)) || len(c.PolicyMappings) > 0 {
			return false
		}
		if !selfIssuedCA {
			anyAllowed--
		}
		if c.InhibitAnyPolicy > 0 || c.InhibitAnyPolicyZero {
			anyAllowed = min(anyAllowed, c.InhibitAnyPolicy)
		}
	}
	return true
}
