package config

import (
	"cmp"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/config/suggest"
	"github.com/ipsecd/ipsecd/ike"
)

// Load reads and checks a configuration file and all that it includes; without a
// path, the installed ones. The error joins every fault found, each with its file
// and line; it wraps fs.ErrNotExist if there is no such file.
func Load(path string) (*Config, error) {
	s, err := sourceOf(path)
	if err != nil {
		return nil, err
	}
	return loadFrom(s)
}

// sourceOf returns the files that a path stands for.
func sourceOf(path string) (source, error) {
	fsys := os.DirFS("/")
	if path == "" {
		return source{fsys: fsys, files: installed(fsys), local: hostAddress()}, nil
	}
	abs, err := filepath.Abs(path)
	return source{fsys: fsys, files: []string{abs}, local: hostAddress()}, err
}

// LoadFS is Load for an absolute path in a file system whose root is "/", on a
// host without addresses.
func LoadFS(fsys fs.FS, path string) (*Config, error) {
	return loadFrom(source{fsys: fsys, files: []string{path}})
}

// source is where a configuration comes from.
type source struct {
	fsys  fs.FS
	files []string              // absolute
	local func(netip.Addr) bool // whether an address is this host's; nil: none is
}

func loadFrom(s source) (*Config, error) {
	f, err := readFrom(s)
	if err != nil {
		return nil, err
	}
	return f.Beside(nil)
}

// defaults is the Config of empty files.
func defaults() *Config {
	return &Config{
		IKE: ike.Config{Limits: ike.DefaultLimits(), Timing: ike.DefaultTiming(), RoutabilityCheck: true},
		Routing: Routing{
			Metric: DefaultMetric, GuardMetric: DefaultGuardMetric,
			MaxPaths: DefaultMaxPaths, Table: DefaultTable, Sysctls: true,
			VirtualIPs:   VirtualIPs{Install: true},
			SourceRoutes: SourceRoutes{Install: true, Table: DefaultSourceTable, Priority: DefaultSourceTable},
		},
		Updown:     Updown{Timeout: DefaultUpdownTimeout, DNS: true},
		Control:    Control{VICI: DefaultVICI},
		Revocation: Revocation{OCSP: true, CRL: true, Timeout: DefaultFetchTimeout},
		Ports:      Ports{IKE: DefaultIKEPort, NATT: DefaultNATTPort},
	}
}

// root reads the sections of the file, those first that others build on.
func (l *loader) root(root *settings.Section) {
	r := l.section(root, "", "")
	// The daemon of strongSwan's that is started by systemd has a section of its own,
	// whose options come before those of charon.
	r.known["charon"], r.known["charon-systemd"] = true, true
	if sec := settings.Join(root.Section("charon-systemd"), root.Section("charon")); sec != nil {
		l.charon(sec)
	}
	for _, s := range []struct {
		name string
		read func(*settings.Section)
	}{
		{"ports", l.ports}, {"limits", l.limits}, {"timing", l.timing},
		{"interfaces", l.interfaces},
		{"pools", l.pools}, {"connections", l.connections},
		{"secrets", l.secrets}, {"authorities", l.authorities},
		{"bgp", l.bgp},
		{"routing", l.routing}, {"metrics", l.metrics}, {"control", l.control},
	} {
		r.known[s.name] = true
		if sec := root.Section(s.name); sec != nil {
			s.read(sec)
		}
	}
	l.protect(r)
	l.otherSections(r)
}

// ignoredSections are strongSwan's that say nothing to us.
var ignoredSections = map[string]string{
	"swanctl": "configure swanctl", "charon-nm": "configure charon-nm",
	"charon-cmd": "configure charon-cmd", "libtls": "configure TLS", "libimcv": "configure integrity measurement", "libtnccs": "configure TNC",
	"pki": "configure pki", "starter": "configure starter", "pool": "configure ipsec pool", "manager": "configure the manager",
	"medsrv": "configure the mediation server", "scepclient": "configure scepclient", "attest": "configure attest", "sec-updater": "configure sec-updater",
}

// otherSections reports what is left at the root: sections of strongSwan's that
// have no effect, templates that nothing uses, and mistakes.
func (l *loader) otherSections(r *reader) {
	var names []string
	for n := range r.known {
		names = append(names, n)
	}
	for _, k := range r.sec.Keys() {
		if !r.known[k.Name] {
			l.fail(k.Value.Position, "unknown key %s outside of sections%s", k.Name, suggest.DidYouMean(k.Name, names))
		}
	}
	for _, s := range r.sec.Sections() {
		effect, ignored := ignoredSections[s.Name]
		meant := suggest.DidYouMean(s.Name, names)
		switch {
		case r.known[s.Name] || l.file.Referenced(s.Name):
		case ignored && empty(s):
		case ignored:
			l.warn(s.Position, "section %s is not honoured; it would %s", s.Name, effect)
		case meant != "":
			l.fail(s.Position, "unknown section %s%s", s.Name, meant)
		default:
			l.warn(s.Position, "section %s is not used: nothing refers to it", s.Name)
		}
	}
}

// sortErrors puts the errors in the order of the files and their lines.
func (l *loader) sortErrors() {
	place := func(err error) (int, int) {
		var e *settings.Error
		if !errors.As(err, &e) {
			return -1, 0
		}
		return slices.Index(l.config.Files, e.File), e.Line
	}
	slices.SortStableFunc(l.errs, func(a, b error) int {
		fileA, lineA := place(a)
		fileB, lineB := place(b)
		return cmp.Or(cmp.Compare(fileA, fileB), cmp.Compare(lineA, lineB))
	})
}
