package suite

import (
	"slices"
	"strings"
)

// Mismatch is a type of algorithm on which the two sides have nothing in common.
type Mismatch struct {
	Type TransformType
	Peer []Transform // empty when the peer's proposals have none of the type
	Ours []Transform
}

// MismatchError says why Negotiate chose nothing: what kept the closest pairs of proposals apart. Its text reads
// "no common DH group: peer offers modp1024; we allow ecp256, x25519".
type MismatchError struct {
	Protocol Protocol
	// Misses is empty when the peer made no proposal for Protocol.
	Misses []Mismatch
}

func (e *MismatchError) Error() string {
	if len(e.Misses) == 0 {
		return "peer offers no " + e.Protocol.String() + " proposal"
	}
	texts := make([]string, len(e.Misses))
	for i, m := range e.Misses {
		texts[i] = "no common " + m.Type.String() + ": peer offers " + listOrNone(m.Peer) + "; we allow " + listOrNone(m.Ours)
	}
	return strings.Join(texts, "; ")
}

func listOrNone(ts []Transform) string {
	if len(ts) == 0 {
		return "none"
	}
	return joinKeywords(ts, ", ")
}

// merge adds what kept one more pair of proposals apart. Fewer misses replace more, since what keeps the closest pair apart is
// what to change; equally close pairs that fail on the same types join their lists.
func (e *MismatchError) merge(proto Protocol, misses []Mismatch) *MismatchError {
	if e == nil || len(misses) < len(e.Misses) {
		return &MismatchError{proto, misses}
	}
	sameType := func(a, b Mismatch) bool { return a.Type == b.Type }
	if !slices.EqualFunc(e.Misses, misses, sameType) {
		return e
	}
	for i, m := range misses {
		e.Misses[i].Peer = union(e.Misses[i].Peer, m.Peer)
		e.Misses[i].Ours = union(e.Misses[i].Ours, m.Ours)
	}
	return e
}

func union(a, b []Transform) []Transform {
	for _, t := range b {
		if !slices.Contains(a, t) {
			a = append(a, t)
		}
	}
	return a
}

// foreignProtocols is the error for sides that do not even speak of the same protocol.
func foreignProtocols(ours, theirs []Proposal) *MismatchError {
	e := &MismatchError{}
	switch {
	case len(ours) > 0:
		e.Protocol = ours[0].Protocol
	case len(theirs) > 0:
		e.Protocol = theirs[0].Protocol
	}
	return e
}
