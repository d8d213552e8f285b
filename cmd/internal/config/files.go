package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// Files is what configuration files said when they were read. Configurations are made of it and of what VICI clients
// have loaded, without another look at the disk: what is edited there waits for a reload. It is not for concurrent use.
type Files struct {
	read    *loader // what is wrong in the files is in it
	folders *loader // the credentials beside them; nil until somebody needs them
	known   map[*settings.Section]readConnection
	checked checked
}

// ReadFiles reads a configuration file and all that it includes; without a path, the installed ones. What is wrong in
// them, Beside says; the error is that of files that cannot be read at all, and wraps fs.ErrNotExist if there is none.
func ReadFiles(path string) (*Files, error) {
	s, err := sourceOf(path)
	if err != nil {
		return nil, err
	}
	return readFrom(s)
}

// ReadFS is ReadFiles for an absolute path in a file system whose root is "/", on a host without addresses.
func ReadFS(fsys fs.FS, path string) (*Files, error) {
	return readFrom(source{fsys: fsys, files: []string{path}})
}

func readFrom(s source) (*Files, error) {
	if len(s.files) == 0 {
		return nil, fmt.Errorf("%w: none of %s", fs.ErrNotExist, strings.Join(InstalledFiles, ", "))
	}
	file, err := settings.ParseAll(s.fsys, s.files, foreign)
	if err != nil {
		return nil, err
	}
	l := &loader{
		fsys: s.fsys, file: file, config: defaults(), child: ike.DefaultChild(),
		schema: map[string]map[string]bool{}, creds: credentials{passphrases: map[string]passphrase{}},
	}
	l.config.Files = file.Names
	for _, w := range file.Warnings {
		l.warn(w.Position, "%s", w.Text)
	}
	root, err := l.legacy(s.local)
	if err != nil {
		return nil, err
	}
	l.root(settings.Join(file.Root, root))
	return &Files{read: l, known: map[*settings.Section]readConnection{}}, nil
}

// Beside returns the configuration that the files and what VICI clients have loaded make together. The error joins every
// fault found, each with its file and line.
func (f *Files) Beside(p *Loaded) (*Config, error) {
	l := f.together(p)
	l.checkPools()
	l.checkSharedPolicies()
	l.checkInterfaces()
	return l.result()
}

// Edited is Beside for one thing more that a client has loaded. It does not point out where connections are at odds with
// each other, so as not to look at all of them for each one that is loaded: a reload does.
func (f *Files) Edited(p *Loaded) (*Config, error) { return f.together(p).result() }

func (l *loader) result() (*Config, error) {
	if len(l.errs) > 0 {
		l.sortErrors()
		return nil, errors.Join(l.errs...)
	}
	return l.config, nil
}

// together makes one of what the files say and what clients have loaded, and checks each connection.
func (f *Files) together(p *Loaded) *loader {
	l := f.read.copy()
	if p != nil {
		l.hide(p)
		f.loadedConnections(l, p.connections.list)
		l.loadedParts(p)
	}
	if l.creds.used {
		l.add(f.credentials())
	}
	f.check(l, p)
	return l
}

// credentials returns a loader of what is in the folders beside the files. They are read once.
func (f *Files) credentials() *loader {
	if f.folders == nil {
		f.folders = f.read.blank()
		f.folders.readFolders()
	}
	return f.folders
}

// copy returns a loader that goes on from here and leaves this one as it is.
func (l *loader) copy() *loader {
	n, c := *l, *l.config
	n.config = &c
	n.errs = slices.Clip(n.errs)
	c.Warnings, c.Credentials, c.Authorities = slices.Clip(c.Warnings), slices.Clip(c.Credentials), slices.Clip(c.Authorities)
	c.IKE.Pools, c.Revocation.Signers, c.AACerts = slices.Clip(c.IKE.Pools), slices.Clip(c.Revocation.Signers), slices.Clip(c.AACerts)
	c.IKE.Connections = slices.Clone(c.IKE.Connections)
	n.creds.certs, n.creds.cas, n.creds.crls = slices.Clip(n.creds.certs), slices.Clip(n.creds.cas), slices.Clip(n.creds.crls)
	n.creds.keys, n.creds.authorities = slices.Clip(n.creds.keys), slices.Clip(n.creds.authorities)
	return &n
}

// blank returns a loader among the same files that has nothing yet: what comes of a part is in it alone.
func (l *loader) blank() *loader {
	n, c := *l, *l.config
	n.config, n.errs, n.unsupported = &c, nil, nil
	c.Warnings, c.Credentials, c.Revocation.Signers, c.AACerts = nil, nil, nil, nil
	n.creds = credentials{passphrases: l.creds.passphrases}
	return &n
}

// add adds what came of a part: credentials, and what is said about it.
func (l *loader) add(part *loader) {
	l.errs = append(l.errs, part.errs...)
	l.config.Warnings = append(l.config.Warnings, part.config.Warnings...)
	l.config.Credentials = union(l.config.Credentials, part.config.Credentials)
	l.config.Revocation.Signers = append(l.config.Revocation.Signers, part.config.Revocation.Signers...)
	l.config.AACerts = append(l.config.AACerts, part.config.AACerts...)
	l.creds.certs = append(l.creds.certs, part.creds.certs...)
	l.creds.cas = append(l.creds.cas, part.creds.cas...)
	l.creds.crls = append(l.creds.crls, part.creds.crls...)
	l.creds.keys = append(l.creds.keys, part.creds.keys...)
}
