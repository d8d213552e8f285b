package revocation

import "time"

// Defaults are strongSwan's where it has them (charon.plugins.revocation).
const (
	// DefaultTimeout is for everything that is fetched about one certificate.
	DefaultTimeout = 10 * time.Second

	// oneRequest is the part of the timeout that a single server may use up, so that one that
	// hangs leaves time for the next.
	oneRequest = 0.4

	// retryAfter is how long a server that failed is left alone.
	retryAfter = 30 * time.Second

	maxRedirects = 3
	maxOCSP      = 64 << 10 // octets of a response
	maxCRL       = 16 << 20
	maxURIs      = 4 // responders, and distribution points, that are asked about one certificate

	// What is kept: OCSP responses and CRLs, and octets of CRLs in total.
	maxResponses = 4096
	maxLists     = 256
	maxListsSize = 64 << 20
)
