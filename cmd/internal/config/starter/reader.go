package starter

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/ipsecconf"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/config/suggest"
)

// reader reads the parameters of one section.
type reader struct {
	*translator
	sec   *ipsecconf.Section
	label string // "conn hq"
	keys  map[string]settings.Value
	read  map[string]bool
}

func (t *translator) reader(sec *ipsecconf.Section) *reader {
	r := &reader{translator: t, sec: sec, label: sec.Kind + " " + sec.Name, keys: map[string]settings.Value{}, read: map[string]bool{}}
	for _, k := range sec.Keys() {
		r.keys[k.Name] = k.Value
	}
	return r
}

// get returns a parameter under the first of its names that is set.
func (r *reader) get(names ...string) (settings.Value, bool) {
	for _, n := range names {
		r.read[n] = true
	}
	for _, n := range names {
		if v, ok := r.keys[n]; ok {
			v.As, v.Quoted = r.label+": "+n, true
			return v, true
		}
	}
	return r.preset(names[0]), false
}

// preset is the place of a default.
func (r *reader) preset(name string) settings.Value {
	return settings.Value{Position: r.sec.Position, As: r.label + ": " + name + defaultLabel, Quoted: true}
}

// is reports whether a parameter has a value.
func (r *reader) is(name, text string) bool {
	v, ok := r.get(name)
	return ok && v.Text == text
}

// bad records that a value is wrong.
func (r *reader) bad(v settings.Value, format string, args ...any) {
	r.fail(v.Position, "%s = %q: %s", v.As, v.Text, fmt.Sprintf(format, args...))
}

// put writes a value that came from v.
func put(t *settings.Tree, key string, v settings.Value, text string) {
	v.Text = text
	t.Set(key, v)
}

// copy writes a parameter as it is.
func (r *reader) copy(name string, t *settings.Tree, key string) {
	if v, ok := r.get(name); ok {
		put(t, key, v, v.Text)
	}
}

// word writes a parameter whose words have others in swanctl.conf.
func (r *reader) word(name string, words map[string]string, t *settings.Tree, key string) {
	if v, ok := r.get(name); ok {
		if text, ok := r.translate(v, words); ok {
			put(t, key, v, text)
		}
	}
}

// translate returns the word that stands for a value.
func (r *reader) translate(v settings.Value, words map[string]string) (string, bool) {
	text, ok := words[v.Text]
	if !ok {
		r.bad(v, "expected one of %s", strings.Join(slices.Sorted(maps.Keys(words)), ", "))
	}
	return text, ok
}

var units = map[byte]uint64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}

const maxSeconds = 10 * 365 * 86400

// seconds reads a time.
func (r *reader) seconds(preset uint64, names ...string) (uint64, settings.Value) {
	v, ok := r.get(names...)
	if !ok {
		return preset, v
	}
	digits, unit := v.Text, uint64(1)
	if n := len(digits); n > 1 {
		if u, ok := units[digits[n-1]]; ok {
			digits, unit = digits[:n-1], u
		}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n > maxSeconds/unit {
		r.bad(v, "expected a time such as 30s, 10m, 4h or 1d")
		return preset, v
	}
	return n * unit, v
}

// number reads a number, less a suffix that it must have.
func (r *reader) number(name string, preset uint64, suffix string) (uint64, settings.Value) {
	v, ok := r.get(name)
	if !ok {
		return preset, v
	}
	digits, found := strings.CutSuffix(v.Text, suffix)
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || !found {
		r.bad(v, "expected a number%s", map[bool]string{true: " followed by " + suffix}[suffix != ""])
		return preset, v
	}
	return n, v
}

// rest reports the parameters that nobody asked for. As starter does, it goes on
// without them.
func (r *reader) rest(effects map[string]string) {
	names := append(slices.Collect(maps.Keys(r.read)), slices.Collect(maps.Keys(effects))...)
	for _, k := range r.sec.Keys() {
		effect, known := effects[k.Name]
		switch {
		case r.read[k.Name] || known && effect == "":
		case known:
			r.warn(k.Value.Position, "%s: %s is not honoured; it would %s", r.label, k.Name, effect)
		default:
			r.warn(k.Value.Position, "%s: the parameter %s is not known, and passed over%s", r.label, k.Name, suggest.DidYouMean(k.Name, names))
		}
	}
}

// list cuts a list at its commas.
func list(s string) []string {
	items := strings.Split(s, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return slices.DeleteFunc(items, func(s string) bool { return s == "" })
}
