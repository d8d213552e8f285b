package main

import (
	"fmt"
	"strings"

	"github.com/strongswan/govici/vici"
)

// securityAssociations writes the IKE SAs and their CHILD_SAs.
func (s *statusWriter) securityAssociations() error {
	list, err := s.d.Stream(s.ctx, "list-sas", "list-sa")
	if err != nil {
		return err
	}
	up, connecting, shown := 0, 0, 0
	for _, m := range list {
		for _, name := range m.Keys() {
			switch text(m, name, "state") {
			case "CONNECTING":
				connecting++
			default:
				up++
			}
		}
	}
	s.printf("Security Associations (%d up, %d connecting):\n", up, connecting)
	auth, err := s.authClasses()
	if err != nil {
		return err
	}
	for _, m := range list {
		for _, name := range m.Keys() {
			sa := section(m, name)
			if sa == nil || !s.wanted(name) && !s.wantedSA(section(sa, "child-sas")) {
				continue
			}
			shown++
			s.ikeSA(name, sa, auth[name])
		}
	}
	switch {
	case shown > 0:
	case s.name == "":
		s.printf("  none\n")
	default:
		s.printf("  no match\n")
	}
	return nil
}

func (s *statusWriter) wantedSA(children *vici.Message) bool {
	if children == nil {
		return false
	}
	for _, k := range children.Keys() {
		if s.wanted(text(children, k, "name")) {
			return true
		}
	}
	return false
}

// authClasses returns how we authenticate, by connection.
func (s *statusWriter) authClasses() (map[string]string, error) {
	if !s.all {
		return nil, nil
	}
	list, err := s.d.Stream(s.ctx, "list-conns", "list-conn")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, m := range list {
		for _, name := range m.Keys() {
			out[name] = text(m, name, "local-1", "class")
		}
	}
	return out, nil
}

func (s *statusWriter) ikeSA(name string, sa *vici.Message, auth string) {
	label := fmt.Sprintf("%12s[%s]", name, text(sa, "uniqueid"))
	state := text(sa, "state")
	s.printf("%s: %s", label, state)
	if since := text(sa, "established"); since != "" {
		s.printf(" %s ago", span(since))
	}
	s.printf(", %s[%s]...%s[%s]\n", text(sa, "local-host"), text(sa, "local-id"), text(sa, "remote-host"), text(sa, "remote-id"))
	if s.all {
		s.ikeDetails(label, sa, state, auth)
	}
	children := section(sa, "child-sas")
	if children == nil {
		return
	}
	for _, k := range children.Keys() {
		if c := section(children, k); s.wanted(name, text(c, "name")) {
			s.childSA(c)
		}
	}
}

func (s *statusWriter) ikeDetails(label string, sa *vici.Message, state, auth string) {
	mine, theirs := "*", ""
	if text(sa, "initiator") != "yes" {
		mine, theirs = "", "*"
	}
	s.printf("%s: IKEv%s SPIs: %s_i%s %s_r%s", label, text(sa, "version"), text(sa, "initiator-spi"), mine, text(sa, "responder-spi"), theirs)
	rekey, reauth := text(sa, "rekey-time"), text(sa, "reauth-time")
	if rekey != "" {
		s.printf(", rekeying in %s", span(rekey))
	}
	if reauth != "" {
		s.printf(", %s reauthentication in %s", auth, span(reauth))
	}
	if rekey == "" && reauth == "" && state == "ESTABLISHED" {
		s.printf(", rekeying disabled")
	}
	s.printf("\n")
	if text(sa, "encr-alg") != "" {
		s.printf("%s: IKE proposal: %s\n", label, algorithms(sa, "prf-alg", "dh-group"))
	}
	for _, kind := range []string{"queued", "active", "passive"} {
		if tasks := items(sa, "tasks-"+kind); len(tasks) > 0 {
			s.printf("%s: Tasks %s: %s \n", label, kind, strings.Join(tasks, " "))
		}
	}
}

func (s *statusWriter) childSA(c *vici.Message) {
	label := fmt.Sprintf("%12s{%s}", text(c, "name"), text(c, "uniqueid"))
	state := text(c, "state")
	s.printf("%s:  %s, %s, reqid %s", label, state, text(c, "mode"), text(c, "reqid"))
	switch state {
	case "REKEYED", "REKEYING":
		if left := text(c, "life-time"); left != "" {
			s.printf(", expires in %s", span(left))
		}
		s.printf("\n")
	case "INSTALLED":
		proto := text(c, "protocol")
		if text(c, "encap") == "yes" {
			proto += " in UDP"
		}
		s.printf(", %s SPIs: %s_i %s_o\n", proto, text(c, "spi-in"), text(c, "spi-out"))
		if s.all {
			s.childDetails(label, c)
		}
	default:
		s.printf("\n")
	}
	s.printf("%s:   %s === %s\n", label, selectors(c, "local-ts"), selectors(c, "remote-ts"))
}

func (s *statusWriter) childDetails(label string, c *vici.Message) {
	s.printf("%s:  %s, %s, %s", label, algorithms(c, "dh-group"), traffic(c, "in", "i"), traffic(c, "out", "o"))
	if rekey := text(c, "rekey-time"); rekey != "" {
		s.printf(", rekeying in %s\n", span(rekey))
	} else {
		s.printf(", rekeying disabled\n")
	}
}

// traffic writes how much went one way, and when last.
func traffic(c *vici.Message, dir, suffix string) string {
	out := fmt.Sprintf("%s bytes_%s", text(c, "bytes-"+dir), suffix)
	if ago := text(c, "use-"+dir); ago != "" {
		n, plural := text(c, "packets-"+dir), "s"
		if n == "1" {
			plural = ""
		}
		out += fmt.Sprintf(" (%s pkt%s, %ss ago)", n, plural, ago)
	}
	return out
}
