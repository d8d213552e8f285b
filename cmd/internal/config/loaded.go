package config

import (
	"bytes"
	"crypto"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// Loaded is what VICI clients have loaded beside the files. It is never changed:
// its methods return a changed copy. A nil Loaded is empty.
type Loaded struct {
	connections sections
	pools       sections
	policies    []loadedPolicy
	*loadedCredentials
}

// loadedCredentials are replaced, not changed: as long as they are the same, so is what they are good for.
type loadedCredentials struct {
	authorities sections
	secrets     []auth.Secret
	ppks        []auth.Secret
	keys        []loadedKey
	certs, cas  []*x509.Certificate
	signers     []*x509.Certificate // of OCSP responses
	aas         []*x509.Certificate // of attribute authorities
	crls        []*x509.RevocationList
	pubkeys     []crypto.PublicKey
}

// loadedPolicy is a child whose trap, or shunt, a client has installed or uninstalled.
type loadedPolicy struct {
	connection, child string
	on                bool
	shunt             bool
	was               ike.ChildAction // as the configuration has it; one that says otherwise is right again
}

type loadedKey struct {
	id  string
	key auth.PrivateKey
}

func (l *Loaded) clone() *Loaded {
	if l == nil {
		return &Loaded{loadedCredentials: &loadedCredentials{}}
	}
	c := *l
	return &c
}

// cloneCredentials is clone for who changes credentials.
func (l *Loaded) cloneCredentials() *Loaded {
	c := l.clone()
	credentials := *c.loadedCredentials
	c.loadedCredentials = &credentials
	return c
}

// WithConnection adds a connection, or replaces that of its name, in the files too. One that is loaded already changes
// nothing: l itself is returned.
func (l *Loaded) WithConnection(s *settings.Section) *Loaded {
	c := l.clone()
	if c.connections.has(s) {
		return l
	}
	c.connections = c.connections.with(s)
	return c
}

// WithoutConnection takes a connection away, in the files too until they are read anew.
func (l *Loaded) WithoutConnection(name string) *Loaded {
	c := l.clone()
	c.connections = c.connections.unload(name)
	c.policies = slices.DeleteFunc(slices.Clone(c.policies), func(p loadedPolicy) bool { return p.connection == name })
	return c
}

// WithPool is WithConnection for a pool.
func (l *Loaded) WithPool(s *settings.Section) *Loaded {
	c := l.clone()
	if c.pools.has(s) {
		return l
	}
	c.pools = c.pools.with(s)
	return c
}

// WithoutPool is WithoutConnection for a pool.
func (l *Loaded) WithoutPool(name string) *Loaded {
	c := l.clone()
	c.pools = c.pools.unload(name)
	return c
}

// WithAuthority is WithConnection for an authority.
func (l *Loaded) WithAuthority(s *settings.Section) *Loaded {
	c := l.cloneCredentials()
	if c.authorities.has(s) {
		return l
	}
	c.authorities = c.authorities.with(s)
	return c
}

// WithoutAuthority takes an authority away that a client has loaded.
func (l *Loaded) WithoutAuthority(name string) *Loaded {
	c := l.cloneCredentials()
	c.authorities = c.authorities.without(name)
	return c
}

// WithSecret adds a pre-shared key, or replaces that of its name.
func (l *Loaded) WithSecret(s auth.Secret) *Loaded {
	c := l.cloneCredentials()
	if hasSecret(c.secrets, s) {
		return l
	}
	c.secrets = append(withoutSecret(c.secrets, s.Name), s)
	return c
}

// WithPPK adds a post-quantum pre-shared key (RFC 8784), or replaces that of its name.
func (l *Loaded) WithPPK(s auth.Secret) *Loaded {
	c := l.cloneCredentials()
	if hasSecret(c.ppks, s) {
		return l
	}
	c.ppks = append(withoutSecret(c.ppks, s.Name), s)
	return c
}

// WithoutSecret takes a pre-shared key away, of either kind.
func (l *Loaded) WithoutSecret(name string) *Loaded {
	c := l.cloneCredentials()
	c.secrets, c.ppks = withoutSecret(c.secrets, name), withoutSecret(c.ppks, name)
	return c
}

func hasSecret(list []auth.Secret, s auth.Secret) bool {
	return slices.ContainsFunc(list, func(o auth.Secret) bool { return o.Name == s.Name && reflect.DeepEqual(o, s) })
}

func withoutSecret(list []auth.Secret, name string) []auth.Secret {
	return slices.DeleteFunc(slices.Clone(list), func(s auth.Secret) bool { return s.Name == name })
}

// WithKey adds a private key in any form of the folder private, without a
// passphrase, and returns its name: SHA-1 of its SubjectPublicKeyInfo.
func (l *Loaded) WithKey(data []byte) (c *Loaded, id string, err error) {
	signer, err := ParsePrivateKey(data, nil)
	if err != nil {
		return nil, "", err
	}
	spki, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return nil, "", err
	}
	sum := sha1.Sum(spki)
	id = hex.EncodeToString(sum[:])
	key, err := auth.NewPrivateKey(id, signer)
	if err != nil {
		return nil, "", err
	}
	c = l.WithoutKey(id)
	c.keys = append(c.keys, loadedKey{id, key})
	return c, id, nil
}

// WithoutKey takes a private key away.
func (l *Loaded) WithoutKey(id string) *Loaded {
	c := l.cloneCredentials()
	c.keys = slices.DeleteFunc(slices.Clone(c.keys), func(k loadedKey) bool { return strings.EqualFold(k.id, id) })
	return c
}

// WithCertificate adds certificates, in PEM or DER.
func (l *Loaded) WithCertificate(data []byte, ca bool) (*Loaded, error) {
	certs, err := parseCertificates(data)
	if err != nil {
		return nil, err
	}
	c := l.cloneCredentials()
	if ca {
		c.cas = united(c.cas, certs, (*x509.Certificate).Equal)
	} else {
		c.certs = united(c.certs, certs, (*x509.Certificate).Equal)
	}
	return c, nil
}

// united returns list with those of more that it does not have: clients load the same again and again.
func united[T any](list, more []T, same func(a, b T) bool) []T {
	list = slices.Clone(list)
	for _, m := range more {
		if !slices.ContainsFunc(list, func(o T) bool { return same(o, m) }) {
			list = append(list, m)
		}
	}
	return list
}

// WithOCSPSigner adds certificates of OCSP responders that are trusted for every CA, in PEM or DER.
func (l *Loaded) WithOCSPSigner(data []byte) (*Loaded, error) {
	certs, err := parseCertificates(data)
	if err != nil {
		return nil, err
	}
	c := l.cloneCredentials()
	c.signers = united(c.signers, certs, (*x509.Certificate).Equal)
	return c, nil
}

// WithAACert adds certificates of attribute authorities, in PEM or DER: they are listed.
func (l *Loaded) WithAACert(data []byte) (*Loaded, error) {
	certs, err := parseCertificates(data)
	if err != nil {
		return nil, err
	}
	c := l.cloneCredentials()
	c.aas = united(c.aas, certs, (*x509.Certificate).Equal)
	return c, nil
}

// WithPublicKey adds a public key without a certificate, in PEM or DER. It is listed; connections have the
// keys that they trust among their own pubkeys.
func (l *Loaded) WithPublicKey(data []byte) (*Loaded, error) {
	key, err := parsePublicKeyFile(data)
	if err != nil {
		return nil, err
	}
	c := l.cloneCredentials()
	c.pubkeys = united(c.pubkeys, []crypto.PublicKey{key}, func(a, b crypto.PublicKey) bool {
		e, ok := a.(interface{ Equal(crypto.PublicKey) bool })
		return ok && e.Equal(b)
	})
	return c, nil
}

// PublicKeys returns the public keys without a certificate.
func (l *Loaded) PublicKeys() []crypto.PublicKey { return l.clone().pubkeys }

// WithCRL adds revocation lists, in PEM or DER. One that is older than another of its issuer goes.
func (l *Loaded) WithCRL(data []byte) (*Loaded, error) {
	crls, err := parseCRLs(data)
	if err != nil {
		return nil, err
	}
	c := l.cloneCredentials()
	c.crls = slices.Clone(c.crls)
	for _, n := range crls {
		c.crls = slices.DeleteFunc(c.crls, func(o *x509.RevocationList) bool {
			return bytes.Equal(o.RawIssuer, n.RawIssuer) && bytes.Equal(o.AuthorityKeyId, n.AuthorityKeyId) && !o.ThisUpdate.After(n.ThisUpdate)
		})
		c.crls = append(c.crls, n)
	}
	return c, nil
}

// WithoutCredentials takes everything away that clients loaded but connections, authorities and pools.
func (l *Loaded) WithoutCredentials() *Loaded {
	c := l.clone()
	c.loadedCredentials = &loadedCredentials{authorities: c.authorities}
	return c
}

// After returns what stays when the files have been read anew into c: the
// files' own connections and secrets are right again.
func (l *Loaded) After(c *Config) *Loaded {
	if l == nil {
		return nil
	}
	n := l.cloneCredentials()
	n.connections = remaining(n.connections, c.IKE.Connections, connectionName)
	n.policies = n.policiesAfter(c)
	n.pools = remaining(n.pools, c.IKE.Pools, poolName)
	n.authorities = remaining(n.authorities, c.Authorities, authorityName)
	n.secrets, n.ppks = withoutSecrets(n.secrets, c.IKE.Secrets), withoutSecrets(n.ppks, c.IKE.PPKs)
	return n
}

// SecretNames returns the names of the pre-shared keys.
func (l *Loaded) SecretNames() (names []string) {
	c := l.clone()
	for _, s := range slices.Concat(c.secrets, c.ppks) {
		names = append(names, s.Name)
	}
	return names
}

// KeyIDs returns the names of the private keys.
func (l *Loaded) KeyIDs() (ids []string) {
	for _, k := range l.clone().keys {
		ids = append(ids, k.id)
	}
	return ids
}

// Authorities returns the names of the authorities.
func (l *Loaded) Authorities() (names []string) {
	for _, s := range l.clone().authorities.list {
		names = append(names, s.Name)
	}
	return names
}

// LoadedFile is the file that messages name for what a VICI client has loaded.
const LoadedFile = "VICI"

// Swanctl reports whether swanctl may unload a connection when its file has it
// no more: a client has loaded it, or it is in swanctl's own files.
func Swanctl(c *ike.Connection) bool { return swanctls(c.Source) }

// SwanctlPool is Swanctl for a pool.
func SwanctlPool(p *ike.Pool) bool { return swanctls(p.Source) }

func swanctls(source string) bool {
	file, _, _ := strings.Cut(source, ":")
	return file == LoadedFile || path.Base(file) == "swanctl.conf" || path.Base(path.Dir(file)) == "conf.d"
}
