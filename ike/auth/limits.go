package auth

import "time"

// Limits on keys and on what a peer can make us do with its certificates.
const (
	// minRSABits is the smallest RSA modulus that we accept and use (RFC 8247
	// section 4.1). maxRSABits bounds the cost of verifying with a peer's key.
	minRSABits = 2048
	maxRSABits = 8192

	// maxPeerCerts is how many certificates of a peer are looked at; a path
	// is rarely longer than four.
	maxPeerCerts = 10

	// maxPeerRevocations is how many CRLs and OCSP responses of a peer are looked at.
	maxPeerRevocations = 10

	// clockSkew is how far in the future a CRL or an OCSP response may have been made.
	clockSkew = 5 * time.Minute

	// maxDN is the longest distinguished name, in octets of DER; maxRDNs is
	// how many attributes it may have.
	maxDN = 4096
	// maxPrinted is how much of an identity is printed, in octets of text.
	maxPrinted = 512
	maxRDNs    = 64
)
