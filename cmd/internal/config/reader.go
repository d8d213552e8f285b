package config

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/config/suggest"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// loader turns settings into a Config and collects what is wrong with them.
type loader struct {
	fsys        fs.FS
	file        *settings.File
	config      *Config
	errs        []error
	unsupported []*settings.Error
	child       ike.ChildConfig            // what a child starts from
	schema      map[string]map[string]bool // keys and sections known, by kind of section
	creds       credentials
	starter     []string // the files of ipsec.conf
	ipsecD      string   // the folder of that name beside ipsec.conf; empty: there is none
}

// fail records an error.
func (l *loader) fail(at Position, format string, args ...any) {
	l.errs = append(l.errs, at.Errorf(format, args...))
}

// warn records a warning.
func (l *loader) warn(at Position, format string, args ...any) {
	l.config.Warnings = append(l.config.Warnings, Warning{Position: at, Text: at.Errorf(format, args...).Text})
}

// reader reads the keys of one section and knows afterwards which were not
// asked for.
type reader struct {
	*loader
	sec   *settings.Section // may be nil: nothing is set
	path  string            // "bgp.neighbors.oci1"
	known map[string]bool
}

// section returns a reader of a section. The kind is its path with names that
// users choose replaced by "*".
func (l *loader) section(sec *settings.Section, kind, path string) *reader {
	known := l.schema[kind]
	if known == nil {
		known = map[string]bool{}
		l.schema[kind] = known
	}
	return &reader{l, sec, path, known}
}

// value returns a value as it was written.
func (r *reader) value(key string) (settings.Value, bool) {
	r.known[key] = true
	return r.sec.Value(key)
}

// swallowed finds "b = c" inside the value of "a = x b = c".
var swallowed = regexp.MustCompile(`\s([A-Za-z_][A-Za-z0-9_-]*)\s*=`)

// read parses the value of a key into *into, which stays as it is if the key is
// not set or wrong. It reports whether the key is set and right.
func read[T any](r *reader, key string, into *T, parse func(string) (T, error)) bool {
	v, ok := r.value(key)
	if !ok {
		return false
	}
	if m := swallowed.FindStringSubmatch(v.Text); m != nil && !v.Quoted {
		r.fail(v.Position, "%s = %q: a value goes on to the end of its line; put %q on a line of its own", r.key(key), v.Text, m[1]+" = …")
		return false
	}
	got, err := parse(v.Text)
	if err != nil {
		r.badValue(key, v, err)
		return false
	}
	*into = got
	return true
}

// identity reads the identity of a key, which read would take for several keys if it is a distinguished name. It
// reports whether the key is set and right.
func (r *reader) identity(key string, into *auth.Identity) bool {
	v, ok := r.value(key)
	if !ok {
		return false
	}
	id, err := auth.Parse(v.Text)
	if err != nil {
		r.fail(v.Position, "%s = %q: %v", r.key(key), v.Text, err)
		return false
	}
	if fault := auth.NameFault(v.Text, id); fault != nil {
		r.warn(v.Position, "%s = %q is taken for a key ID, since it is no distinguished name: %v; write keyid: before it if it is one", r.key(key), v.Text, fault)
	}
	*into = id
	return true
}

// key returns what messages call a key: its path, or what the file calls it if it
// is of another grammar.
func (r *reader) key(key string) string {
	if v, ok := r.sec.Value(key); ok && v.As != "" {
		return v.As
	}
	if r.path == "" {
		return key
	}
	return r.path + "." + key
}

// at returns the place of a key, or of the section if it is not set.
func (r *reader) at(key string) Position {
	if v, ok := r.sec.Value(key); ok {
		return v.Position
	}
	if r.sec == nil {
		return Position{}
	}
	return r.sec.Position
}

// finish reports the keys and sections that nobody asked for.
func (r *reader) finish() {
	names := slices.Collect(maps.Keys(r.known))
	for _, k := range r.sec.Keys() {
		if !r.known[k.Name] {
			r.fail(k.Value.Position, "unknown key %s.%s%s", r.path, k.Name, suggest.DidYouMean(k.Name, names))
		}
	}
	for _, s := range r.sec.Sections() {
		if !r.known[s.Name] {
			r.fail(s.Position, "unknown section %s.%s%s", r.path, s.Name, suggest.DidYouMean(s.Name, names))
		}
	}
}
