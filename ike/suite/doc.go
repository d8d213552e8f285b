// Package suite holds the cryptography of IKEv2 (RFC 7296) and the names people give it: transforms, proposals and their
// strings, negotiation, key exchange, PRF, integrity, encryption, the key schedule, and the kernel's names for ESP.
//
// It is pure: randomness comes in as an io.Reader, nothing is read from a clock, a file or a socket, and it knows no packet
// format. Transform numbers are IANA's ("Internet Key Exchange Version 2 (IKEv2) Parameters").
//
// Secrets travel as Key, which prints as "[redacted]" whatever verb or encoder is used.
package suite
