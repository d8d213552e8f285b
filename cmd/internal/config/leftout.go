package config

import (
	"errors"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// What strongSwan does and ipsecd does not is no mistake of the file's: a connection, or a child, that asks for it is left
// out with a warning, and the others are served. A client that loads one over VICI gets an error.

// unsupportedValue is the error of a value that strongSwan takes and we do not.
type unsupportedValue string

func (e unsupportedValue) Error() string { return string(e) }

// beyond records that something asks for what is not supported.
func (l *loader) beyond(at Position, format string, args ...any) {
	l.unsupported = append(l.unsupported, at.Errorf(format, args...))
}

// badValue records that a value cannot be read, or is not supported.
func (r *reader) badValue(key string, v settings.Value, err error) {
	record := r.fail
	if errors.As(err, new(unsupportedValue)) {
		record = r.beyond
	}
	record(v.Position, "%s = %q: %v", r.key(key), v.Text, err)
}

// mark is how much had been recorded at some time.
type mark struct{ unsupported, errs, warnings int }

func (l *loader) mark() mark { return mark{len(l.unsupported), len(l.errs), len(l.config.Warnings)} }

// leftOut is what a warning says is not served. The zero value is nothing.
type leftOut struct {
	connection, child string // child is empty for a whole connection
	start             bool   // the child is there, but its start_action is without effect
}

func (o leftOut) String() string {
	if o.child != "" {
		return "child " + o.child
	}
	return "connection " + o.connection
}

// servedBy reports whether a configuration has it.
func (o leftOut) servedBy(c *Config) bool {
	if o.child == "" {
		return slices.ContainsFunc(c.IKE.Connections, func(conn *ike.Connection) bool { return conn.Name == o.connection })
	}
	child := findChild(c, o.connection, o.child)
	return child != nil && (!o.start || child.StartAction != ike.ActionClear)
}

// NoLonger says which of what c leaves out was served by old. At a reload that is an error: what such a connection
// protects would leave in the clear.
func (c *Config) NoLonger(old *Config) error {
	var errs []error
	for _, w := range c.Warnings {
		if w.leaves != (leftOut{}) && w.leaves.servedBy(old) {
			errs = append(errs, w.Errorf("%s; up to now %v is served: remove it if it is to go", w.Text, w.leaves))
		}
	}
	return errors.Join(errs...)
}

// leave warns that something is left out.
func (l *loader) leave(out leftOut, at Position, format string, args ...any) {
	l.warn(at, format, args...)
	l.config.Warnings[len(l.config.Warnings)-1].leaves = out
}

// leaveOut reports whether a connection or a child, which was read since the mark, asks for what is not supported. If so
// a warning says it, and what else was recorded about it is forgotten.
func (l *loader) leaveOut(out leftOut, since mark) bool {
	list := l.unsupported[since.unsupported:]
	if len(list) == 0 || list[0].File == LoadedFile {
		return false
	}
	l.unsupported, l.errs, l.config.Warnings = l.unsupported[:since.unsupported], l.errs[:since.errs], l.config.Warnings[:since.warnings]
	for _, e := range list {
		l.leave(out, e.Position, "%s; %v is left out", e.Text, out)
	}
	return true
}
