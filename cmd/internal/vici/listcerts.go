package vici

import (
	"crypto"
	"crypto/x509"
	"errors"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// The types and flags of certificates, in charon's words.
const (
	typePubkey = "PUBKEY"
	typeX509   = "X509"
	typeCRL    = "X509_CRL"
	typeOCSP   = "OCSP_RESPONSE"

	flagNone = "NONE"
	flagCA   = "CA"
	flagAA   = "AA"
	flagOCSP = "OCSP"
)

// certTypes are the types that requests may name.
var certTypes = []string{"ANY", typeX509, typeCRL, "OCSP_REQUEST", typeOCSP, "X509_AC", typePubkey, "PKCS10_REQUEST", "PGP"}

// listedCert is one event of list-certs.
type listedCert struct {
	kind, flag string // flag: of X.509 certificates only
	hasKey     bool
	data       []byte            // DER
	cert       *x509.Certificate // of X.509 certificates
	issuer     auth.Identity     // of CRLs
}

// listCerts streams one list-cert event for each certificate, public key, CRL and OCSP response: those of the folders,
// those that connections name, and those that were loaded or fetched. type and flag choose, as ANY and
// left out do not; subject is a distinguished name or an alternative name.
func (c *call) listCerts() error {
	kind, flag := strings.ToUpper(c.req.Keys["type"]), strings.ToUpper(c.req.Keys["flag"])
	subject := c.req.Keys["subject"]
	for _, l := range c.certificates() {
		switch {
		case kind != "" && kind != "ANY" && kind != l.kind:
		case flag != "" && flag != "ANY" && flag != l.flag:
		case subject != "" && !l.named(subject):
		default:
			if !c.stream("list-cert", l.write) {
				return nil
			}
		}
	}
	return nil
}

func (l *listedCert) write(b *Builder) {
	b.Key("type", l.kind)
	if l.flag != "" {
		b.Key("flag", l.flag)
	}
	b.Flag("has_privkey", l.hasKey)
	b.Key("data", string(l.data))
}

// named reports whether a certificate has the name, or the issuer of a CRL.
func (l *listedCert) named(name string) bool {
	id, err := auth.Parse(name)
	switch {
	case err != nil:
		return false
	case l.cert != nil:
		return auth.Names(l.cert, id)
	}
	return l.kind == typeCRL && id.Matches(l.issuer)
}

// certificates lists everything once, in charon's order.
func (c *call) certificates() []listedCert {
	st := c.ctl.Status()
	list := publicKeys(st)
	x509s := x509Certificates(st)
	for _, flag := range []string{flagNone, flagCA, flagAA, flagOCSP} {
		for _, l := range x509s {
			if l.flag == flag {
				list = append(list, l)
			}
		}
	}
	fetched := c.ctl.Fetched()
	for _, crl := range st.Config.IKE.Credentials.CRLs() {
		list = append(list, listedCert{kind: typeCRL, data: crl.Raw, issuer: issuerOf(crl)})
	}
	for _, der := range fetched.CRLs {
		if crl, err := x509.ParseRevocationList(der); err == nil {
			list = append(list, listedCert{kind: typeCRL, data: der, issuer: issuerOf(crl)})
		}
	}
	for _, der := range fetched.OCSP {
		list = append(list, listedCert{kind: typeOCSP, data: der})
	}
	return list
}

func issuerOf(crl *x509.RevocationList) auth.Identity {
	return auth.Identity{Type: auth.IDASN1DN, Data: string(crl.RawIssuer)}
}

// publicKeys lists the keys that are used without a certificate.
func publicKeys(st *status.Status) (list []listedCert) {
	store := st.Config.IKE.Credentials
	seen := map[string]bool{}
	add := func(keys []crypto.PublicKey) {
		for _, k := range keys {
			der, err := x509.MarshalPKIXPublicKey(k)
			if err == nil && !seen[string(der)] {
				seen[string(der)] = true
				list = append(list, listedCert{kind: typePubkey, hasKey: store.HasPublic(k), data: der})
			}
		}
	}
	add(st.Loaded.PublicKeys())
	for _, terms := range allTerms(st) {
		add(terms.Pubkeys)
	}
	return list
}

func allTerms(st *status.Status) (list []*auth.Terms) {
	for _, conn := range st.Config.IKE.Connections {
		for _, a := range []*ike.AuthConfig{&conn.Local, &conn.Remote} {
			list = append(list, &a.Terms)
		}
	}
	return list
}

func x509Certificates(st *status.Status) (list []listedCert) {
	store := st.Config.IKE.Credentials
	seen := map[string]bool{}
	add := func(certs []*x509.Certificate, flag string) {
		for _, cert := range certs {
			if !seen[string(cert.Raw)] {
				seen[string(cert.Raw)] = true
				list = append(list, listedCert{kind: typeX509, flag: flag, hasKey: store.HasKey(cert), data: cert.Raw, cert: cert})
			}
		}
	}
	for _, l := range store.Certificates() {
		add([]*x509.Certificate{l.Cert}, map[bool]string{true: flagCA, false: flagNone}[l.CA])
	}
	for _, terms := range allTerms(st) {
		add(terms.Certs, flagNone)
		add(terms.CACerts, flagCA)
	}
	add(st.Config.AACerts, flagAA)
	add(st.Config.Revocation.Signers, flagOCSP)
	return list
}

// flushCerts drops what was fetched: that of a type, or everything. What was loaded or is in files stays.
func (c *call) flushCerts() error {
	kind := strings.ToUpper(c.req.Keys["type"])
	if kind == "" {
		kind = "ANY"
	}
	if !slices.Contains(certTypes, kind) {
		return errors.New("invalid certificate type " + single(c.req.Keys["type"]))
	}
	c.ctl.Flush(kind == "ANY" || kind == typeCRL, kind == "ANY" || kind == typeOCSP)
	return c.ok()
}
