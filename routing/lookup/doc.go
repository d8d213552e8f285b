// Package lookup asks which way packets to an address go, and from where. It is one look-up of the kernel, which honours its
// rules, unless that finds a way that does not count: over a link or from a routing table that the configuration passes over.
package lookup
