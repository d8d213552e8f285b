package config

import (
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// checkCertificates refuses a connection with public key authentication that lacks a
// certificate, a key or somebody to trust, and points out what has expired. It returns the connection, with another
// identity of ours if the certificate does not confirm that of ipsec.conf.
func (l *loader) checkCertificates(c *ike.Connection) *ike.Connection {
	now := time.Now()
	if c.Local.Method == ike.AuthPubkey {
		own, err := l.config.IKE.Credentials.Credential(&c.Local.Terms, c.Local.ID, nil, now)
		switch {
		case err != nil:
			l.lacks(c, "connections.%s.local: %v", c.Name, err)
		case own.Problem(now) != nil:
			l.warn(place(c), "connections.%s.local: %v", c.Name, own.Problem(now))
		case !own.Confirmed() && l.fromStarter(c):
			l.warn(place(c), "connections.%s: the certificate does not confirm leftid '%v'; its subject '%v' is used", c.Name, own.ID, auth.Subject(own.Cert))
			renamed := *c // the files' own is not changed
			renamed.Local.ID = auth.Subject(own.Cert)
			c = &renamed
		case !own.Confirmed():
			l.warn(place(c), "connections.%s.local.id: the certificate does not confirm '%v', so that many peers will refuse it; its subject is '%v'", c.Name, own.ID, auth.Subject(own.Cert))
		}
	}
	t := c.Remote.Terms
	if c.Remote.Method == ike.AuthPubkey && len(t.Certs)+len(t.CACerts)+len(t.Pubkeys) == 0 && !l.config.IKE.Credentials.Trusts() {
		l.lacks(c, "connections.%s.remote: nobody is trusted: put the CA of the peer's certificate into the folder x509ca, or name it in cacerts", c.Name)
	}
	return c
}
