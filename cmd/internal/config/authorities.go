package config

import (
	"crypto/x509"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// Authority is one entry of the authorities section: a CA, and where to ask about the
// certificates that it has issued.
type Authority struct {
	Name        string
	CA          *x509.Certificate // nil: no certificate is named
	CRLURIs     []string          // as written: those that are files have been read
	OCSPURIs    []string
	CertURIBase string // is listed, and not used
}

// namedAuthority is a CA of the entry of that name.
type namedAuthority struct {
	name string
	auth.Authority
}

// authorities reads the section of that name: CAs that are trusted as those in
// the folder x509ca are, and whom to ask about the certificates that they have issued.
func (l *loader) authorities(sec *settings.Section) {
	for _, k := range sec.Keys() {
		l.fail(k.Value.Position, "found the key %s, expected sections such as site { cacert = ca.pem }", k.Name)
	}
	for _, s := range sec.Sections() {
		l.authority(s)
	}
}

func (l *loader) authority(s *settings.Section) {
	r := l.section(s, "authorities.*", "authorities."+s.Name)
	a := Authority{Name: s.Name}
	var cas []*x509.Certificate
	named := false
	for _, key := range []string{"cacert", "file"} {
		if v, ok := r.value(key); ok {
			named = true
			cas = append(cas, r.certificate(r.path+"."+key, folderCAs, v, v.Text)...)
		}
	}
	crls := r.uris("crl_uris", l.crlFile)
	a.OCSPURIs = r.uris("ocsp_uris", nil)
	if v, ok := r.value("crl_uris"); ok {
		a.CRLURIs = split(v.Text)
	}
	if v, ok := r.value("cert_uri_base"); ok {
		a.CertURIBase = v.Text
	}
	if len(cas) > 0 {
		a.CA = cas[0]
	}
	r.warnUnsupported(unsupportedAuthority)
	r.finish()
	switch {
	case named:
	case s.Position.File == LoadedFile:
		r.fail(s.Position, "CA certificate missing: %s", a.Name)
	default:
		r.warn(s.Position, "%s is without effect: it names no certificate of a CA; expected cacert = …", r.path)
	}
	for _, ca := range cas {
		l.creds.authorities = append(l.creds.authorities, namedAuthority{a.Name, auth.Authority{CA: ca, OCSP: a.OCSPURIs, CRLs: crls}})
	}
	l.config.Authorities = append(l.config.Authorities, a)
}

// uris reads a list of addresses that can be asked. A file is read at once, where that makes sense.
func (r *reader) uris(key string, file func(name string)) []string {
	v, _ := r.value(key)
	var out []string
	for _, uri := range split(v.Text) {
		name, isFile := strings.CutPrefix(uri, "file://")
		switch {
		case strings.HasPrefix(uri, "http://"):
			out = append(out, uri)
		case isFile && file != nil && strings.HasPrefix(name, "/"):
			file(name)
		default:
			r.warn(v.Position, "%s.%s = %q is not used; expected http://…", r.path, key, uri)
		}
	}
	return slices.Clip(out)
}

// crlFile reads a CRL that an authority names.
func (l *loader) crlFile(name string) { loadFile(l, name, parseCRLs, &l.creds.crls) }
