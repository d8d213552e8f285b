package main

import (
	"strings"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

func listSAs(s *session) error {
	return listing{"list-sas", "list-sa", "SAs", "", writeSA}.run(s, s.request("ike", "ike-id", "child", "child-id", "noblock"))
}

// monitor writes the SAs that come up or go down, until it is interrupted.
func monitor(s *session) error {
	return s.watch("IKE_SAs", func(event string, m *vici.Message) {
		if s.dumping() {
			s.dump(event+" event", m)
			return
		}
		eachSection(m, func(name string, sa *vici.Message) { writeSA(s, name, sa) })
	}, "ike-updown", "child-updown")
}

// writeSA writes an IKE_SA and its CHILD_SAs. Like the stock swanctl, it does not write one that comes without a section of
// them, as in the event ike-updown.
func writeSA(s *session, name string, sa *vici.Message) {
	if section(sa, "child-sas") == nil {
		return
	}
	initiator, responder := "*", ""
	if text(sa, "initiator") != "yes" {
		initiator, responder = "", "*"
	}
	s.printf("%s: #%s, %s, IKEv%s, %s_i%s %s_r%s\n", name, need(sa, "uniqueid"), need(sa, "state"), need(sa, "version"),
		need(sa, "initiator-spi"), initiator, need(sa, "responder-spi"), responder)
	s.printf("  local  '%s' @ %s[%s]%s\n", need(sa, "local-id"), need(sa, "local-host"), need(sa, "local-port"), bracketed(sa, "local-vips"))
	s.printf("  remote '%s' @ %s[%s]%s%s%s\n", need(sa, "remote-id"), need(sa, "remote-host"), need(sa, "remote-port"),
		optional(sa, " EAP: '%'", "remote-eap-id"), optional(sa, " XAuth: '%'", "remote-xauth-id"), bracketed(sa, "remote-vips"))
	if has(sa, "encr-alg") {
		s.printf("  %s%s/%s/%s%s\n", need(sa, "encr-alg"), optional(sa, "-%", "encr-keysize"),
			optional(sa, "%", "integ-alg")+optional(sa, "-%", "integ-keysize")+slashIf(sa, "integ-alg")+need(sa, "prf-alg"), need(sa, "dh-group"), ppk(sa))
	}
	if has(sa, "established") {
		s.printf("  established %ss ago%s%s\n", text(sa, "established"), optional(sa, ", rekeying in %s", "rekey-time"), optional(sa, ", reauth in %s", "reauth-time"))
	}
	for _, kind := range []string{"queued: ", "active: ", "passive:"} {
		if tasks := items(sa, "tasks-"+strings.TrimRight(kind, ": ")); tasks != "" {
			s.printf("  %s %s\n", kind, tasks)
		}
	}
	eachSection(section(sa, "child-sas"), func(_ string, child *vici.Message) { writeChildSA(s, child) })
}

func slashIf(m *vici.Message, key string) string {
	if has(m, key) {
		return "/"
	}
	return ""
}

func ppk(sa *vici.Message) string {
	if text(sa, "ppk") == "yes" {
		return "/PPK"
	}
	return ""
}

// optional writes a value in the place of the % in a pattern, and nothing if there is no value.
func optional(m *vici.Message, pattern, key string) string {
	if !has(m, key) {
		return ""
	}
	return strings.Replace(pattern, "%", text(m, key), 1)
}

// bracketed writes a list after a space, in brackets.
func bracketed(m *vici.Message, key string) string {
	if len(viciclient.List(m, key)) == 0 {
		return ""
	}
	return " [" + items(m, key) + "]"
}

func writeChildSA(s *session, c *vici.Message) {
	encap := ""
	if has(c, "encap") {
		encap = "-in-UDP"
	}
	esn := ""
	if has(c, "esn") {
		esn = "/ESN"
	}
	s.printf("  %s: #%s, reqid %s, %s, %s%s, %s:%s%s%s%s%s%s%s\n", need(c, "name"), need(c, "uniqueid"), need(c, "reqid"), need(c, "state"), need(c, "mode"), encap,
		need(c, "protocol"), optional(c, "%", "encr-alg"), optional(c, "-%", "encr-keysize"), integrity(c), optional(c, "-%", "integ-keysize"),
		optional(c, "/%", "prf-alg"), optional(c, "/%", "dh-group"), esn)
	s.printf("    installed %ss ago%s%s\n", need(c, "install-time"), optional(c, ", rekeying in %s", "rekey-time"), optional(c, ", expires in %s", "life-time"))
	for _, dir := range []string{"in ", "out"} {
		d := strings.TrimSpace(dir)
		s.printf("    %s %s%s%s, %6s bytes, %5s packets", dir, need(c, "spi-"+d), optional(c, "/%", "cpi-"+d), marks(c, d), need(c, "bytes-"+d), need(c, "packets-"+d))
		if has(c, "use-"+d) {
			s.printf(", %5ss ago", text(c, "use-"+d))
		}
		s.printf("\n")
	}
	if has(c, "label") {
		s.printf("    label  %s\n", text(c, "label"))
	}
	s.printf("    local  %s\n", needItems(c, "local-ts"))
	s.printf("    remote %s\n", needItems(c, "remote-ts"))
}

// integrity is the algorithm of that kind, behind a slash if there is another before it: AH has none.
func integrity(c *vici.Message) string {
	if has(c, "encr-alg") {
		return optional(c, "/%", "integ-alg")
	}
	return optional(c, "%", "integ-alg")
}

// marks are the mark and the interface ID of an SA, a dash for the mark that is not there.
func marks(c *vici.Message, dir string) string {
	mark, id := optional(c, "0x%", "mark-"+dir)+optional(c, "/0x%", "mark-mask-"+dir), optional(c, "|0x%", "if-id-"+dir)
	switch {
	case mark == "" && id == "":
		return ""
	case mark == "":
		mark = "-"
	}
	return " (" + mark + id + ")"
}
