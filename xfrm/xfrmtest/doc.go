// Package xfrmtest is a kernel in memory for tests. It keeps the rules of the
// real one (identities, what may be updated, key lengths, limits that expire),
// fails where a test tells it to, tells what would happen to a packet, and prints
// itself in lines like those of ip(8), without keys.
package xfrmtest
