package starter

import (
	"path"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/ipsecconf"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// setup reads config setup. What concerns connections is kept for them.
func (t *translator) setup(sec *ipsecconf.Section) {
	t.unique = defaultUnique
	if sec == nil {
		return
	}
	r := t.reader(sec)
	if v, ok := r.get("uniqueids"); ok {
		if text, ok := r.translate(v, uniqueWords); ok {
			t.unique = text
		}
	}
	if v, ok := r.get("strictcrlpolicy"); ok {
		if text, ok := r.translate(v, strictWords); ok {
			t.strict = v
			t.strict.Text = text
		}
	}
	r.rest(setupEffects)
}

// ca reads a section of that kind: a CA, and where its revocation lists are.
func (t *translator) ca(sec *ipsecconf.Section) {
	r := t.reader(sec)
	auto, hasAuto := r.get("auto")
	action := ""
	if hasAuto {
		action, _ = r.translate(auto, autoWords)
	}
	out := settings.NewTree(sec.Name, sec.Position)
	if v, ok := r.get("cacert"); ok {
		if strings.HasPrefix(v.Text, "%") {
			r.bad(v, "certificates on smartcards are not supported; expected the name of a file in %s/%s", Folder, FolderCAs)
		} else {
			put(out, "file", v, t.inFolder(FolderCAs, v.Text))
		}
	}
	r.uris(out, "crl_uris", "crluri", "crluri1", "crluri2")
	r.uris(out, "ocsp_uris", "ocspuri", "ocspuri1", "ocspuri2")
	r.copy("certuribase", out, "cert_uri_base")
	r.rest(caEffects)
	if action == "" {
		return // ignore is the default
	}
	dst := t.root.Sub("authorities", sec.Position).Sub(sec.Name, sec.Position)
	for _, k := range out.Section().Keys() {
		dst.Set(k.Name, k.Value)
	}
}

// uris writes the values of several parameters as one list.
func (r *reader) uris(t *settings.Tree, key string, names ...string) {
	var all []string
	var first settings.Value
	for _, n := range names {
		if v, ok := r.get(n); ok {
			if all == nil {
				first = v
			}
			all = append(all, v.Text)
		}
	}
	if all != nil {
		put(t, key, first, strings.Join(all, ", "))
	}
}

// inFolder returns the name of a file that is relative to a folder of ipsec.d.
func (t *translator) inFolder(folder, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(t.opts.Dir, Folder, folder, name)
}
