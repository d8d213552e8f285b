// Package auth is how the two ends of an IKE SA prove who they are (RFC 7296
// section 2.15): identities, pre-shared keys, signatures as in RFC 7427 and
// before it, certificate paths and their revocation, raw public keys.
//
// It does no I/O and reads no clock: what was read from files comes in a Store,
// and the time is an argument. Verify and Sign are heavy, and safe to be called by
// several goroutines at once.
package auth
