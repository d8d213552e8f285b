package config

import (
	"errors"
	"slices"

	"github.com/ipsecd/ipsecd/ike"
)

// mistake is an error within a connection.
type mistake struct {
	connection string
	error
}

func (m *mistake) Unwrap() error { return m.error }

// within says of errors that they are within a connection.
func within(connection string, errs []error) {
	for i, err := range errs {
		if !errors.As(err, new(*mistake)) {
			errs[i] = &mistake{connection, err}
		}
	}
}

// mistaken tells the connections with mistakes, and which errors are not within one.
func mistaken(errs []error) (connections map[string]bool, others []error) {
	connections = map[string]bool{}
	for _, err := range errs {
		if m := (*mistake)(nil); errors.As(err, &m) {
			connections[m.connection] = true
		} else {
			others = append(others, err)
		}
	}
	return connections, others
}

// Serving is Beside for a daemon that starts, and so has nothing to go on with: connections with mistakes are left out, for good as far
// as these Files are concerned, as long as others have none. The mistakes are returned, too.
func (f *Files) Serving() (c *Config, mistakes []error, err error) {
	l := f.together(nil)
	l.sortErrors()
	out, others := mistaken(l.errs)
	left := slices.DeleteFunc(slices.Clone(f.read.config.IKE.Connections), func(c *ike.Connection) bool { return out[c.Name] })
	if len(out) > 0 && len(others) == 0 && len(left) > 0 {
		mistakes = l.errs
		f.read.errs, f.read.config.IKE.Connections = nil, left
	}
	c, err = f.Beside(nil)
	return c, mistakes, err
}
