package auth

import (
	"slices"

	"github.com/ipsecd/ipsecd/ike/suite"
)

// Secret is one pre-shared key and whom it belongs to: an ike section of
// swanctl.conf's secrets, or a PSK line of ipsec.secrets. No Owners means that
// it serves everybody. Key redacts itself when printed.
type Secret struct {
	Name   string // of the section, for messages
	Source string // file:line of the section, for messages
	Owners []Identity
	Key    suite.Key
}

// How well an owner fits an identity; larger is better.
const (
	matchNone = iota
	matchAny
	matchPattern
	matchExact
)

// fit returns how well the best of the owners fits id.
func (s *Secret) fit(id Identity) int {
	if len(s.Owners) == 0 {
		return matchAny
	}
	best := matchNone
	for _, o := range s.Owners {
		switch {
		case o.IsAny():
			best = max(best, matchAny)
		case id.IsAny() || !o.Matches(id):
		case o.IsPattern():
			best = max(best, matchPattern)
		default:
			best = max(best, matchExact)
		}
	}
	return best
}

// Lookup returns the secrets that may be shared between the identities, the
// best first. As with strongSwan it is enough that one end is among the owners, and
// how well they fit the peer counts before how well they fit us: both named is best, then
// the peer, then a secret for everybody, then one that names us alone. Among equals
// the first in the configuration wins.
func Lookup(secrets []Secret, local, remote Identity) []Secret {
	type candidate struct{ remote, local, index int }
	var found []candidate
	for i := range secrets {
		c := candidate{secrets[i].fit(remote), secrets[i].fit(local), i}
		if c.remote != matchNone || c.local != matchNone {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		if a.remote != b.remote {
			return b.remote - a.remote
		}
		return b.local - a.local
	})
	out := make([]Secret, len(found))
	for i, c := range found {
		out[i] = secrets[c.index]
	}
	return out
}
