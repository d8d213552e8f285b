package config

import (
	"slices"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// hide takes out of what the files say what clients have unloaded, or loaded something else in the place of.
func (l *loader) hide(p *Loaded) {
	c := l.config
	c.IKE.Connections = shown(c.IKE.Connections, p.connections, connectionName)
	c.IKE.Pools = shown(c.IKE.Pools, p.pools, poolName)
	c.Authorities = shown(c.Authorities, p.authorities, authorityName)
	l.creds.authorities = shown(l.creds.authorities, p.authorities, func(a namedAuthority) string { return a.name })
	c.IKE.Secrets = withoutSecrets(c.IKE.Secrets, p.secrets)
	c.IKE.PPKs = withoutSecrets(c.IKE.PPKs, p.ppks)
}

// withoutSecrets returns list without those that have the names of others.
func withoutSecrets(list, others []auth.Secret) []auth.Secret {
	if len(list) == 0 {
		return nil
	}
	names := make(map[string]bool, len(others))
	for i := range others {
		names[others[i].Name] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(s auth.Secret) bool { return names[s.Name] })
}

// loadedParts adds what clients have loaded, but for connections, to what the files say.
func (l *loader) loadedParts(p *Loaded) {
	p.applyPolicies(l.config)
	for _, s := range p.pools.list {
		l.pool(s)
	}
	for _, s := range p.authorities.list {
		l.authority(s)
	}
	l.config.IKE.Secrets = append(l.config.IKE.Secrets, p.secrets...)
	l.config.IKE.PPKs = append(l.config.IKE.PPKs, p.ppks...)
	for _, k := range p.keys {
		l.creds.keys = append(l.creds.keys, k.key)
	}
	l.creds.certs = append(l.creds.certs, p.certs...)
	l.creds.cas = append(l.creds.cas, p.cas...)
	l.creds.crls = append(l.creds.crls, p.crls...)
	l.config.Revocation.Signers = append(l.config.Revocation.Signers, p.signers...)
	l.config.AACerts = append(l.config.AACerts, p.aas...)
	if len(p.certs)+len(p.cas)+len(p.crls) > 0 {
		l.creds.used = true // they are listed, whether a connection needs them or not
	}
}
