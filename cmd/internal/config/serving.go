package config

import (
	"errors"
	"slices"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// part is a connection or a secret, by its name.
type part struct{ connection, secret string }

// mistake is an error within a part of the configuration that others can do without.
type mistake struct {
	part part
	error
}

func (m *mistake) Unwrap() error { return m.error }

// within says of errors what they are within.
func within(p part, errs []error) {
	for i, err := range errs {
		if !errors.As(err, new(*mistake)) {
			errs[i] = &mistake{p, err}
		}
	}
}

// mistaken tells the parts with mistakes, and which errors are within none.
func mistaken(errs []error) (parts map[part]bool, others []error) {
	parts = map[part]bool{}
	for _, err := range errs {
		if m := (*mistake)(nil); errors.As(err, &m) {
			parts[m.part] = true
		} else {
			others = append(others, err)
		}
	}
	return parts, others
}

// Serving is Beside for a daemon that starts, and so has nothing to go on with: connections and secrets with mistakes are left out, for
// good as far as these Files are concerned, as long as a connection has none. The mistakes are returned, too.
func (f *Files) Serving() (c *Config, mistakes []error, err error) {
	for {
		l := f.together(nil)
		if len(l.errs) == 0 {
			if c, err = f.Beside(nil); err != nil {
				return nil, nil, errors.Join(append(mistakes, err)...)
			}
			return c, mistakes, nil
		}
		l.sortErrors()
		mistakes = append(mistakes, l.errs...)
		parts, others := mistaken(l.errs)
		f.leaveOut(parts)
		if len(others) > 0 || len(f.read.config.IKE.Connections) == 0 {
			return nil, nil, errors.Join(mistakes...)
		}
	}
}

// leaveOut removes parts of the configuration, and what is wrong with them.
func (f *Files) leaveOut(parts map[part]bool) {
	secrets := func(list []auth.Secret) []auth.Secret {
		return slices.DeleteFunc(slices.Clone(list), func(s auth.Secret) bool { return parts[part{secret: s.Name}] })
	}
	c := &f.read.config.IKE
	c.Connections = slices.DeleteFunc(slices.Clone(c.Connections), func(c *ike.Connection) bool { return parts[part{connection: c.Name}] })
	c.Secrets, c.PPKs = secrets(c.Secrets), secrets(c.PPKs)
	f.read.errs = nil
}
