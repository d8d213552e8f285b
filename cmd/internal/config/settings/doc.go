// Package settings reads strongSwan's settings grammar: the sections, keys,
// references and includes of strongswan.conf and swanctl.conf, and of our own
// file. It knows no key; it keeps the file and line of everything it reads.
//
//	settings   := (section | keyvalue | include)*
//	section    := name [ ":" reference ("," reference)* ] "{" settings "}"
//	reference  := name ("." name)*
//	keyvalue   := name "=" [ value ] newline
//	include    := "include" pattern newline
//
// A section that is named twice is one section; a later value replaces an
// earlier one, and an empty one ("key =") removes it. A section inherits the
// values and sections of those that it refers to, the leftmost reference first,
// after its own.
package settings
