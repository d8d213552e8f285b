package config

import (
	"io/fs"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// LoadBeside is Load with what VICI clients have loaded beside the files.
func LoadBeside(path string, loaded *Loaded) (*Config, error) {
	s, err := sourceOf(path)
	if err != nil {
		return nil, err
	}
	s.loaded = loaded
	return loadFrom(s)
}

// LoadFSBeside is LoadFS with what VICI clients have loaded.
func LoadFSBeside(fsys fs.FS, path string, loaded *Loaded) (*Config, error) {
	return loadFrom(source{fsys: fsys, files: []string{path}, loaded: loaded})
}

// hidden reports whether a connection of the files is not to be read.
func (l *Loaded) hidden(name string) bool {
	return l != nil && (slices.Contains(l.unloaded, name) ||
		slices.ContainsFunc(l.connections, func(s *settings.Section) bool { return s.Name == name }))
}

// hidesAuthority reports whether an authority of the files is not to be read.
func (l *Loaded) hidesAuthority(name string) bool {
	return l != nil && slices.ContainsFunc(l.authorities, func(s *settings.Section) bool { return s.Name == name })
}

// hiddenPool is hidden for a pool.
func (l *Loaded) hiddenPool(name string) bool {
	return l != nil && (slices.Contains(l.noPools, name) ||
		slices.ContainsFunc(l.pools, func(s *settings.Section) bool { return s.Name == name }))
}

// loadedParts adds what clients have loaded to what the files say.
func (l *loader) loadedParts() {
	p := l.loaded
	if p == nil {
		return
	}
	l.loadedConnections()
	p.applyPolicies(l.config)
	for _, s := range p.pools {
		l.pool(s)
	}
	for _, s := range p.authorities {
		l.authority(s)
	}
	for _, s := range p.secrets {
		l.config.IKE.Secrets = append(withoutSecret(l.config.IKE.Secrets, s.Name), s)
	}
	for _, s := range p.ppks {
		l.config.IKE.PPKs = append(withoutSecret(l.config.IKE.PPKs, s.Name), s)
	}
	for _, k := range p.keys {
		l.creds.keys = append(l.creds.keys, k.key)
	}
	l.creds.certs = append(l.creds.certs, p.certs...)
	l.creds.cas = append(l.creds.cas, p.cas...)
	l.creds.crls = append(l.creds.crls, p.crls...)
	l.config.Revocation.Signers = append(l.config.Revocation.Signers, p.signers...)
	if len(p.certs)+len(p.cas)+len(p.crls) > 0 {
		l.creds.used = true // they are listed, whether a connection needs them or not
	}
}
