// Package wire is the codec of IKEv2 messages: the header, every payload of
// RFC 7296, and the Encrypted (SK) and Encrypted Fragment (SKF, RFC 7383)
// framing. It decides nothing: which payloads an exchange requires, which
// proposal is chosen and what is answered to an error belong to package ike.
//
// Reading. ParseMessage checks the header, walks the payload chain within
// Limits and returns typed payloads. Where the message ends in SK or SKF,
// Message.Encrypted describes it; Open verifies and decrypts that body and
// ParsePayloads decodes what was inside.
//
//	m, err := wire.ParseMessage(data, wire.Limits{})
//	plain, err := wire.Open(nil, m.Encrypted, aead)
//	inner, err := wire.ParsePayloads(m.Encrypted.First, plain, wire.Limits{})
//
// Writing. AppendMessage builds a message in the clear, Seal an encrypted one
// and SealFragments one that is split where it exceeds a size.
//
// Ownership. Parsing copies no octets: all byte slices of a parsed payload
// alias the input and are valid as long as the input is left unchanged.
// Appending copies everything, so the result shares no memory with the payloads.
//
// Errors. Malformed input gives a *SyntaxError, a surpassed limit a
// *LimitError, a foreign major version an *UnsupportedVersionError, and an
// unknown payload marked critical an *UnsupportedCriticalError. In the last two
// cases the Message returned with the error has a valid Header. No error text
// contains octets of the message. Nothing in this package panics on any input.
package wire
