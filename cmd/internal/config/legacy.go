package config

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/ipsecconf"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/config/starter"
	"github.com/ipsecd/ipsecd/ike"
)

// InstalledFiles are those that are read unless one is named, in their order; those
// that are not there are passed over.
var InstalledFiles = []string{"/etc/strongswan.conf", "/etc/swanctl/swanctl.conf", DefaultPath, "/etc/ipsec.conf"}

// installed returns those of InstalledFiles that are there.
func installed(fsys fs.FS) []string {
	var list []string
	for _, name := range InstalledFiles {
		if _, err := fs.Stat(fsys, strings.TrimPrefix(name, "/")); !errors.Is(err, fs.ErrNotExist) {
			list = append(list, name)
		}
	}
	return list
}

// foreign reports whether a file is an ipsec.conf or ipsec.secrets.
func foreign(name, text string) bool {
	return ipsecconf.IsConf(name, text) || ipsecconf.IsSecrets(name, text)
}

// legacy reads the files of ipsec.conf's grammar, and returns what they say in the
// words of swanctl.conf: nil if there are none.
func (l *loader) legacy(local func(netip.Addr) bool) (*settings.Section, error) {
	var out *settings.Section
	for _, name := range l.file.Foreign {
		opts := starter.Options{
			Dir: path.Dir(name), Local: local, NoSwap: l.strokeOption("allow_swap") == "no",
			Taken: func(conn string) bool {
				return settings.Join(l.file.Root, out).Section("connections").Section(conn) != nil
			},
		}
		conf, secrets, err := l.parseLegacy(name)
		if err != nil {
			return nil, err
		}
		r := starter.Translate(conf, secrets, opts)
		for _, e := range r.Errors {
			l.errs = append(l.errs, e)
		}
		for _, w := range r.Warnings {
			l.warn(w.Position, "%s", w.Text)
		}
		out = settings.Join(out, r.Root)
	}
	return out, nil
}

// parseLegacy reads an ipsec.conf and the secrets that belong to it, or secrets
// alone.
func (l *loader) parseLegacy(name string) (conf *ipsecconf.File, secrets *ipsecconf.Secrets, err error) {
	secretsFile := name
	if text, err := fs.ReadFile(l.fsys, strings.TrimPrefix(name, "/")); err != nil || ipsecconf.IsConf(name, string(text)) {
		if conf, err = ipsecconf.Parse(l.fsys, name); err != nil {
			return nil, nil, err
		}
		l.readLegacy(conf.Names, conf.Warnings)
		l.starter = append(l.starter, conf.Names...)
		l.ipsecD = path.Join(path.Dir(name), starter.Folder)
		secretsFile = l.strokeOption("secrets_file")
		if secretsFile == "" {
			secretsFile = path.Join(path.Dir(name), starter.SecretsFile)
			if _, err := fs.Stat(l.fsys, strings.TrimPrefix(secretsFile, "/")); errors.Is(err, fs.ErrNotExist) {
				return conf, nil, nil
			}
		}
	}
	if secrets, err = ipsecconf.ParseSecrets(l.fsys, secretsFile); err != nil {
		return nil, nil, err
	}
	l.readLegacy(secrets.Names, secrets.Warnings)
	for _, name := range secrets.Names {
		if info, err := fs.Stat(l.fsys, strings.TrimPrefix(name, "/")); err == nil && info.Mode().Perm()&0o077 != 0 {
			l.warn(Position{File: name, Line: 1}, "these secrets can be read by others than their owner (mode %04o); run: chmod 600 %s", info.Mode().Perm(), name)
		}
	}
	return conf, secrets, nil
}

func (l *loader) readLegacy(names []string, warnings []*settings.Error) {
	l.config.Files = append(l.config.Files[:len(l.config.Files):len(l.config.Files)], names...)
	for _, w := range warnings {
		l.warn(w.Position, "%s", w.Text)
	}
}

// fromStarter reports whether a connection is one of ipsec.conf.
func (l *loader) fromStarter(c *ike.Connection) bool {
	return slices.Contains(l.starter, place(c).File)
}

// strokeOption returns an option of strongSwan's plug-in for ipsec.conf.
func (l *loader) strokeOption(name string) string {
	v, _ := l.file.Root.Section("charon").Section("plugins").Section("stroke").Value(name)
	return v.Text
}

// hostAddress returns whether an address is this host's.
func hostAddress() func(netip.Addr) bool {
	ours := map[netip.Addr]bool{}
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok {
			if addr, ok := netip.AddrFromSlice(n.IP); ok {
				ours[addr.Unmap()] = true
			}
		}
	}
	return func(a netip.Addr) bool { return ours[a] }
}
