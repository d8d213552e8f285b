package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// connections reads the section of that name.
func (l *loader) connections(sec *settings.Section) {
	for _, k := range sec.Keys() {
		l.fail(k.Value.Position, "found the key %s, expected connections: sections with the keys of one each", k.Name)
	}
	for _, s := range sec.Sections() {
		before := l.mark()
		c := l.connection(s)
		within(part{connection: s.Name}, l.errs[before.errs:])
		if !l.leaveOut(leftOut{connection: s.Name}, before) {
			l.config.IKE.Connections = append(l.config.IKE.Connections, c)
		}
	}
}

var uniqueWords = map[string]ike.UniquePolicy{
	"no": ike.UniqueNo, "never": ike.UniqueNever, "keep": ike.UniqueKeep, "replace": ike.UniqueReplace,
}

var childlessWords = map[string]ike.Childless{
	"allow": ike.ChildlessAllow, "prefer": ike.ChildlessPrefer, "force": ike.ChildlessForce, "never": ike.ChildlessNever,
}

var ocspWords = map[string]ike.OCSPPolicy{
	"reply": ike.OCSPReply, "request": ike.OCSPRequest, "both": ike.OCSPBoth, "never": ike.OCSPNever,
}

var fragmentationWords = map[string]bool{"yes": true, "accept": true, "force": true, "no": false}

var sendCertWords = map[string]ike.SendCert{"ifasked": ike.SendCertIfAsked, "always": ike.SendCertAlways, "never": ike.SendCertNever}

func (l *loader) connection(sec *settings.Section) *ike.Connection {
	r := l.section(sec, "connections.*", "connections."+sec.Name)
	c := ike.DefaultConnection()
	c.Name, c.Source = sec.Name, sec.Position.String()
	c.LocalPort = l.config.Ports.IKE
	read(r, "version", new(int), ikeVersion)
	read(r, "local_addrs", &c.LocalAddrs, parseAddrMatches(false))
	read(r, "remote_addrs", &c.RemoteAddrs, parseAddrMatches(true))
	read(r, "local_port", &c.LocalPort, number[uint16](0, 65535))
	read(r, "remote_port", &c.RemotePort, number[uint16](0, 65535))
	c.Proposals = r.proposals("proposals", suite.IKE)
	read(r, "encap", &c.ForceEncap, parseBool)
	read(r, "mobike", &c.MOBIKE, parseBool)
	read(r, "dpd_delay", &c.DPDDelay, parseDuration)
	read(r, "send_cert", &c.SendCert, word(sendCertWords))
	read(r, "send_certreq", &c.SendCertReq, parseBool)
	read(r, "ocsp", &c.OCSP, word(ocspWords))
	read(r, "fragmentation", &c.Fragmentation, word(fragmentationWords))
	read(r, "keyingtries", &c.KeyingTries, parseCount)
	read(r, "unique", &c.Unique, word(uniqueWords))
	read(r, "childless", &c.Childless, word(childlessWords))
	r.ifID("if_id_in", &c.IfIDIn, &c.IfIDInBy)
	r.ifID("if_id_out", &c.IfIDOut, &c.IfIDOutBy)
	r.lifetimes(&c)
	read(r, "vips", &c.VIPs, list(parseVIP))
	read(r, "pools", &c.Pools, func(s string) ([]string, error) { return split(s), nil })
	r.identity("ppk_id", &c.PPKID)
	read(r, "ppk_required", &c.PPKRequired, parseBool)
	r.warnUnsupported(unsupportedConnection)

	r.known["children"] = true
	for _, s := range sec.Section("children").Sections() {
		before := l.mark()
		child := l.childConfig(s, r.path, &c)
		if !l.leaveOut(leftOut{connection: sec.Name, child: s.Name}, before) {
			c.Children = append(c.Children, child)
		}
	}
	c.Local = r.auth("local", sec, !c.OnlyShunts())
	c.Remote = r.auth("remote", sec, !c.OnlyShunts())
	r.finish()
	c.Lines = lines(sec)
	return &c
}

// ikeVersion reads version: 0 is any, and we initiate with 2.
func ikeVersion(s string) (int, error) {
	switch n, err := parseUint(s); {
	case err == nil && (n == 0 || n == 2):
		return int(n), nil
	case err == nil && n == 1:
		return 0, unsupportedValue("IKEv1 is not supported")
	}
	return 0, errors.New("expected 2")
}

// proposals reads a list of proposals, those that "default" stands for if the
// key is not set.
func (r *reader) proposals(key string, proto suite.Protocol) []suite.Proposal {
	ps := suite.DefaultProposals(proto)
	read(r, key, &ps, func(s string) ([]suite.Proposal, error) {
		got, err := suite.ParseProposals(proto, split(s))
		if err == nil && len(got) == 0 {
			err = errors.New("expected at least one proposal, or default")
		}
		return got, err
	})
	return ps
}

// auth reads the local or remote section of a connection. More than one of
// them would be rounds of authentication.
func (r *reader) auth(side string, conn *settings.Section, needed bool) ike.AuthConfig {
	a := ike.AuthConfig{Method: ike.AuthPSK}
	var found *settings.Section
	r.known[side] = true
	for _, s := range conn.Sections() {
		if !strings.HasPrefix(s.Name, side) {
			continue
		}
		r.known[s.Name] = true
		if found != nil {
			r.beyond(s.Position, "%s.%s: several rounds of authentication are not supported", r.path, s.Name)
			continue
		}
		found = s
	}
	switch {
	case found == nil && !needed:
		return a
	case found == nil:
		r.fail(conn.Position, "%s has no section %s; expected %s { auth = psk } or %s { auth = pubkey }", r.path, side, side, side)
		return a
	}
	s := r.section(found, "connections.*."+side, r.path+"."+found.Name)
	s.method(&a)
	s.identity("id", &a.ID)
	s.terms(side, &a.Terms)
	s.groups(side)
	s.warnUnsupported(unsupportedAuth)
	s.finish()
	return a
}

// groups reads the groups of which a peer must be a member by an attribute certificate. Without them more peers
// would be let in. In local they say nothing.
func (r *reader) groups(side string) {
	switch v, ok := r.value("groups"); {
	case !ok || len(split(v.Text)) == 0:
	case side == "remote":
		r.beyond(v.Position, "%s = %q: attribute certificates are not supported", r.key("groups"), v.Text)
	default:
		r.warn(v.Position, "%s is not honoured; it would let the peer in only as a member of these groups if it were in remote", r.key("groups"))
	}
}

// otherMethods are strongSwan's ways to authenticate that we do not know.
var otherMethods = map[string]bool{"eap": true, "xauth": true, "ed448": true}

// method reads auth: psk, or what is demanded of public keys. Not set it is pubkey.
func (r *reader) method(a *ike.AuthConfig) {
	a.Method = ike.AuthPubkey
	read(r, "auth", &a.Terms.Rule, func(s string) (auth.Rule, error) {
		if s == "psk" {
			a.Method = ike.AuthPSK
			return auth.Rule{}, nil
		}
		kind, _, _ := strings.Cut(s, "-")
		if otherMethods[kind] {
			return auth.Rule{}, unsupportedValue(strings.ToUpper(kind) + " is not supported")
		}
		rule, err := auth.ParseRule(s)
		if err != nil {
			err = fmt.Errorf("%w; or psk", err)
		}
		return rule, err
	})
	if a.Method == ike.AuthPubkey {
		r.creds.used = true
	}
}

// parseOID reads an object identifier.
func parseOID(s string) (x509.OID, error) {
	id, err := x509.ParseOID(s)
	if err != nil {
		return id, errors.New("expected an object identifier such as 1.3.6.1.4.1.36906.1.1.1")
	}
	return id, nil
}

var revocationWords = map[string]auth.RevocationPolicy{
	"relaxed": auth.RevocationRelaxed, "ifuri": auth.RevocationIfURI, "strict": auth.RevocationStrict,
}

// terms reads the certificates and keys of a local or remote section.
func (r *reader) terms(side string, t *auth.Terms) {
	t.Certs = append(r.certList("certs", folderCerts), r.certSections("cert", folderCerts, side == "local")...)
	t.Pubkeys = r.pubkeyList("pubkeys")
	if side == "local" {
		r.warnUnsupported(unsupportedLocal)
		r.warnSections("cacert", unsupportedLocal["cacerts"].effect)
		return
	}
	t.CACerts = append(r.certList("cacerts", folderCAs), r.certSections("cacert", folderCAs, false)...)
	r.identity("ca_id", &t.CAID)
	read(r, "cert_policy", &t.Policies, list(parseOID))
	read(r, "revocation", &t.Revocation, word(revocationWords))
}
