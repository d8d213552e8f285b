// Package bgp speaks BGP-4 (RFC 4271): neighbours in, the full set of next
// hops of every prefix out.
//
// It wraps GoBGP and names none of its types, so that a move to another major
// version stays in here: version 3 reports the full multipath set of a changed
// prefix, later ones report differences; a Batch always holds full sets.
//
// What is fixed: paths are selected for multipath by local preference, AS path
// length, origin and MED, of whatever neighbouring AS; only the configured
// networks are announced; a path that a neighbour's filter does not accept is
// dropped before selection, so that it shadows nothing.
//
// GoBGP keeps its path selection options in package variables: run one Server
// in a process (several work side by side, as the tests do, because every
// Server sets the same ones). GoBGP's goroutines can panic where nobody can
// recover (version 3.37 dies of a message of an unknown type, RFC 4271 section
// 6.1, from a configured neighbour); the process is the unit that survives,
// which is why ipsecd gives BGP one of its own.
package bgp
