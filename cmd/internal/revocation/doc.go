// Package revocation fetches CRLs and asks OCSP responders about certificates
// of peers, keeps what is worth it, and answers from that.
package revocation
