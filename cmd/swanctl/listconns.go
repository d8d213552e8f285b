package main

import (
	"strings"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

func listConns(s *session) error {
	return listing{"list-conns", "list-conn", "connections", "", writeConn}.run(s, vici.NewMessage())
}

func writeConn(s *session, name string, c *vici.Message) {
	s.printf("%s: %s, %s", name, text(c, "version"), lifetimes(c))
	dpd := set(c, "dpd_delay")
	if dpd {
		s.printf(", dpd delay %ss", text(c, "dpd_delay"))
	}
	s.printf("\n")
	if has(c, "ppk_id") || has(c, "ppk_required") {
		s.printf("  ppk: %s\n", ppkTerms(c))
	}
	for _, key := range c.Keys() {
		switch key {
		case "local_addrs":
			s.each("  local:  ", c, key)
		case "remote_addrs":
			s.each("  remote: ", c, key)
		}
	}
	for _, key := range c.Keys() {
		sec := section(c, key)
		switch {
		case sec == nil:
		case key == "children":
			eachSection(sec, func(name string, child *vici.Message) { writeChild(s, name, child, dpd) })
		case strings.HasPrefix(key, "local"):
			writeAuth(s, "local", sec)
		case strings.HasPrefix(key, "remote"):
			writeAuth(s, "remote", sec)
		}
	}
}

// each writes the items of a list on a line each.
func (s *session) each(label string, m *vici.Message, key string) {
	for _, item := range viciclient.List(m, key) {
		s.printf("%s%s\n", label, clean(item))
	}
}

// set reports whether a number is there and not 0.
func set(m *vici.Message, key string) bool { v := text(m, key); return v != "" && v != "0" }

// lifetimes tells when the IKE_SAs are replaced: IKEv1 knows no other way than to authenticate anew.
func lifetimes(c *vici.Message) string {
	reauth, rekey := "no reauthentication", ", no rekeying"
	if set(c, "rekey_time") {
		rekey = ", rekeying every " + text(c, "rekey_time") + "s"
	}
	v1 := text(c, "version") == "IKEv1"
	switch {
	case set(c, "reauth_time"):
		reauth = "reauthentication every " + text(c, "reauth_time") + "s"
	case v1 && set(c, "rekey_time"):
		reauth = "reauthentication every " + text(c, "rekey_time") + "s"
	}
	if v1 {
		return reauth
	}
	return reauth + rekey
}

func ppkTerms(c *vici.Message) string {
	id, not := optional(c, "%, ", "ppk_id"), "not "
	if text(c, "ppk_required") == "yes" {
		not = ""
	}
	return id + not + "required"
}

func writeAuth(s *session, side string, a *vici.Message) {
	class := text(a, "class")
	if class == "" {
		class = "unspecified"
	}
	if eap := text(a, "eap-type"); class == "EAP" && eap != "" {
		class = eap
	}
	s.printf("  %s %s authentication:\n", side, class)
	for _, key := range []string{"id", "ca_id", "eap_id", "xauth_id", "aaa_id"} {
		if has(a, key) {
			s.printf("    %s: %s\n", key, text(a, key))
		}
	}
	for _, l := range []struct{ key, label string }{{"groups", "groups"}, {"cert_policy", "cert policy"}, {"certs", "certs"}, {"cacerts", "cacerts"}} {
		if v := items(a, l.key); v != "" {
			s.printf("    %s: %s\n", l.label, v)
		}
	}
}

func writeChild(s *session, name string, c *vici.Message, dpd bool) {
	s.printf("  %s: %s, %s", name, need(c, "mode"), rekeying(c))
	if dpd {
		s.printf(", dpd action is %s", need(c, "dpd_action"))
	}
	s.printf("\n")
	if has(c, "label") {
		s.printf("    label:  %s\n", text(c, "label"))
	}
	s.printf("    local:  %s\n", needItems(c, "local-ts"))
	s.printf("    remote: %s\n", needItems(c, "remote-ts"))
	for _, key := range []string{"interface", "priority"} {
		if has(c, key) {
			s.printf("    %s: %s\n", key, text(c, key))
		}
	}
}

// rekeying tells after which time, octets or packets a CHILD_SA is replaced.
func rekeying(c *vici.Message) string {
	if mode := text(c, "mode"); mode == "PASS" || mode == "DROP" {
		return "no rekeying"
	}
	var after []string
	for _, l := range []struct{ key, unit string }{{"rekey_time", "s"}, {"rekey_bytes", " bytes"}, {"rekey_packets", " packets"}} {
		if v := need(c, l.key); v != "0" {
			after = append(after, v+l.unit)
		}
	}
	if len(after) == 0 {
		return "no rekeying"
	}
	return "rekeying every " + strings.Join(after, " or ")
}
