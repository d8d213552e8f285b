package config

import (
	"slices"
	"strings"
)

// unsupported is a key of strongSwan's that is known and not honoured.
type unsupported struct {
	harmless []string // values that ask for nothing: no warning
	effect   string   // what it would have done
}

var unsupportedConnection = map[string]unsupported{
	"aggressive":     {[]string{"no"}, "use IKEv1 aggressive mode"},
	"pull":           {[]string{"yes"}, "push virtual addresses with IKEv1 mode config"},
	"dscp":           {[]string{"000000"}, "set the DSCP field of IKE packets"},
	"dpd_timeout":    {[]string{"0s", "0"}, "bound liveness checks of IKEv1; for IKEv2 retransmission does (section timing)"},
	"mediation":      {[]string{"no"}, "act as a mediation connection"},
	"mediated_by":    {effect: "use a mediation connection"},
	"mediation_peer": {effect: "name a mediation peer"},
}

var unsupportedAuth = map[string]unsupported{
	"round":    {[]string{"0", "1"}, "order several rounds of authentication"},
	"eap_id":   {effect: "set the identity for EAP"},
	"aaa_id":   {effect: "set the identity of the AAA server"},
	"xauth_id": {effect: "set the identity for XAuth"},
}

// unsupportedLocal are keys of remote that charon takes in local, too.
var unsupportedLocal = map[string]unsupported{
	"cacerts":     {effect: "name the CAs of the peer's certificate if it were in remote"},
	"ca_id":       {effect: "name the CA of the peer's certificate if it were in remote"},
	"cert_policy": {effect: "demand policies of the peer's certificate if it were in remote"},
	"revocation":  {[]string{"relaxed"}, "say how strictly the peer's certificate is checked if it were in remote"},
}

var unsupportedAuthority = map[string]unsupported{
	"cert_uri_base": {effect: "say where peers find certificates"},
	"handle":        {effect: "name a certificate on a smartcard"},
	"slot":          {effect: "name the slot of a smartcard"},
	"module":        {effect: "name the module of a smartcard"},
}

var unsupportedChild = map[string]unsupported{
	"ipcomp":     {[]string{"no"}, "compress packets"},
	"label":      {effect: "attach a security label"},
	"label_mode": {[]string{"system"}, "choose how security labels are used"},
}

// warnUnsupported reads the keys of a table and warns about those that ask for
// something.
func (r *reader) warnUnsupported(table map[string]unsupported) {
	for key := range table {
		r.known[key] = true
	}
	for _, k := range r.sec.Keys() {
		u, ok := table[k.Name]
		if !ok || slices.Contains(u.harmless, normal(k.Value.Text)) {
			continue
		}
		r.warn(k.Value.Position, "%s.%s is not honoured; it would %s", r.path, k.Name, u.effect)
	}
}

// warnSections warns about sections whose names begin so.
func (r *reader) warnSections(prefix, effect string) {
	for _, s := range r.sec.Sections() {
		if strings.HasPrefix(s.Name, prefix) {
			r.known[s.Name] = true
			r.warn(s.Position, "%s.%s is not honoured; it would %s", r.path, s.Name, effect)
		}
	}
}

// normal maps the other words for yes and no to these.
func normal(s string) string {
	if b, err := parseBool(s); err == nil && s != "0" && s != "1" {
		return map[bool]string{true: "yes", false: "no"}[b]
	}
	return strings.ToLower(s)
}
