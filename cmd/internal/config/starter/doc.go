// Package starter gives ipsec.conf and ipsec.secrets their meaning: it writes what
// they say in the words of swanctl.conf, with the defaults that strongSwan's starter
// and its stroke plug-in have where these differ. What reads swanctl.conf then reads
// both. Every value keeps the place and the name under which it was written.
//
// What differs from swanctl.conf:
//
//   - IKE SAs are reauthenticated unless reauth = no; a margin before the end of
//     life says when, and a part of that margin is left to chance.
//   - The default proposals follow those that are given, unless "!" ends the list.
//   - The identity of an end is its address unless it has one or a certificate.
//   - One IKE SA at a time with a peer (uniqueids), three tries to set it up, and no
//     connection at all without auto.
//   - left is us; if an address of right is one of ours, the two are swapped.
//   - Sections that differ only in their traffic are children of one connection.
package starter
