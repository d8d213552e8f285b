package config

import (
	"slices"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// checkPPK refuses a connection that must have a post-quantum pre-shared key for which there is none. One that would
// merely like it goes without, with a warning.
func (l *loader) checkPPK(c *ike.Connection) {
	known := slices.ContainsFunc(l.config.IKE.PPKs, func(s auth.Secret) bool {
		return len(s.Owners) == 0 || c.PPKID.IsAny() || slices.ContainsFunc(s.Owners, func(id auth.Identity) bool { return id.Data == c.PPKID.Data })
	})
	at := place(c)
	switch {
	case known:
	case c.PPKRequired && c.PPKID.IsAny():
		l.lacks(c, "connections.%s has ppk_required = yes, and there is no post-quantum pre-shared key: add a section ppk to secrets", c.Name)
	case c.PPKRequired:
		l.lacks(c, "connections.%s.ppk_id = %s has no key: no ppk section of secrets has that id", c.Name, c.PPKID)
	case !c.PPKID.IsAny():
		l.warn(at, "connections.%s.ppk_id = %s has no key, so that none is used: no ppk section of secrets has that id", c.Name, c.PPKID)
	}
}
