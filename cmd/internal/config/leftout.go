package config

import (
	"errors"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
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

// leaveOut reports whether a part of the configuration, which was read since the mark, asks for what is not supported. If so
// a warning says it, and what else was recorded about the part is forgotten.
func (l *loader) leaveOut(what string, since mark) bool {
	list := l.unsupported[since.unsupported:]
	if len(list) == 0 || list[0].File == LoadedFile {
		return false
	}
	l.unsupported, l.errs, l.config.Warnings = l.unsupported[:since.unsupported], l.errs[:since.errs], l.config.Warnings[:since.warnings]
	for _, e := range list {
		l.warn(e.Position, "%s; %s is left out", e.Text, what)
	}
	return true
}
