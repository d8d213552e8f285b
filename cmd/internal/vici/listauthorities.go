package vici

import "github.com/ipsecd/ipsecd/ike/auth"

// listAuthorities streams one list-authority event for each authority: those of the files, and those that
// clients have loaded.
func (c *call) listAuthorities() error {
	name := c.req.Keys["name"]
	for _, a := range c.ctl.Status().Config.Authorities {
		if name != "" && name != a.Name {
			continue
		}
		more := c.stream("list-authority", func(b *Builder) {
			b.Section(a.Name, func() {
				if a.CA != nil {
					b.Key("cacert", auth.Subject(a.CA).String())
				}
				b.List("crl_uris", a.CRLURIs)
				b.List("ocsp_uris", a.OCSPURIs)
				if a.CertURIBase != "" {
					b.Key("cert_uri_base", a.CertURIBase)
				}
			})
		})
		if !more {
			return nil
		}
	}
	return nil
}
