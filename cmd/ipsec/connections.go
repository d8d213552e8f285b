package main

import (
	"strings"

	"github.com/strongswan/govici/vici"
)

// connections writes the configured connections.
func (s *statusWriter) connections() error {
	list, err := s.d.Stream(s.ctx, "list-conns", "list-conn")
	if err != nil {
		return err
	}
	s.printf("Connections:\n")
	for _, m := range list {
		for _, name := range m.Keys() {
			if c := section(m, name); c != nil && (s.wanted(name) || s.wantedChild(section(c, "children"))) {
				s.connection(name, c)
			}
		}
	}
	return nil
}

func (s *statusWriter) wantedChild(children *vici.Message) bool {
	return children != nil && s.wanted(children.Keys()...)
}

func (s *statusWriter) connection(name string, c *vici.Message) {
	s.printf("%12s:  %s...%s  %s", name, strings.Join(items(c, "local_addrs"), ","), strings.Join(items(c, "remote_addrs"), ","), text(c, "version"))
	if d := text(c, "dpd_delay"); d != "" && d != "0" {
		s.printf(", dpddelay=%ss", d)
	}
	s.printf("\n")
	for _, key := range c.Keys() {
		side, _, _ := strings.Cut(key, "-")
		if a := section(c, key); a != nil && (side == "local" || side == "remote") {
			s.auth(name, side+":", a)
		}
	}
	children := section(c, "children")
	if children == nil {
		return
	}
	for _, child := range children.Keys() {
		k := section(children, child)
		s.printf("%12s:   child:  %s === %s %s", child, selectors(k, "local-ts"), selectors(k, "remote-ts"), text(k, "mode"))
		if a := text(k, "dpd_action"); a != "" && a != "none" {
			s.printf(", dpdaction=%s", a)
		}
		s.printf("\n")
	}
}

func (s *statusWriter) auth(name, side string, a *vici.Message) {
	id := text(a, "id")
	if id == "" {
		id = "%any"
	}
	s.printf("%12s:   %-8s[%s] uses %s authentication\n", name, side, id, text(a, "class"))
	for _, cert := range items(a, "certs") {
		s.printf("%12s:    cert:  \"%s\"\n", name, cert)
	}
	for _, ca := range items(a, "cacerts") {
		s.printf("%12s:    ca:    \"%s\"\n", name, ca)
	}
}

func selectors(m *vici.Message, key string) string { return strings.Join(items(m, key), " ") }

// policies writes the shunts and the traps, under a heading if there are any.
func (s *statusWriter) policies() error {
	for _, kind := range []struct{ title, key string }{{"Shunted Connections:", "pass"}, {"Shunted Connections:", "drop"}, {"Routed Connections:", "trap"}} {
		list, err := s.d.Stream(s.ctx, "list-policies", "list-policy", kind.key, "yes")
		if err != nil {
			return err
		}
		title := kind.title
		for _, m := range list {
			for _, full := range m.Keys() {
				p := section(m, full)
				if p == nil || !s.wanted(text(p, "child"), text(p, "ike")) {
					continue
				}
				if title != "" {
					s.printf("%s\n", title)
					title = ""
				}
				s.policy(kind.key, p)
			}
		}
	}
	return nil
}

func (s *statusWriter) policy(kind string, p *vici.Message) {
	name, local, remote := text(p, "child"), selectors(p, "local-ts"), selectors(p, "remote-ts")
	if kind != "trap" {
		s.printf("%12s:  %s === %s %s\n", name, local, remote, text(p, "mode"))
		return
	}
	id := text(p, "reqid")
	if id == "" {
		id = "0"
	}
	s.printf("%12s{%s}:  ROUTED, %s, reqid %s\n", name, id, text(p, "mode"), id)
	s.printf("%12s{%s}:   %s === %s\n", name, id, local, remote)
}
