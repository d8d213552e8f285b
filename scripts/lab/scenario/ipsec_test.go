//go:build lab

package scenario

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// stroke is strongSwan's own program behind its ipsec command.
const stroke = "/usr/lib/ipsec/stroke"

// TestIpsecCommand: asked about the same charon at the same moment, our ipsec
// and strongSwan's write the same lines; asked about our daemon, ours writes
// lines of the same form.
func TestIpsecCommand(t *testing.T) {
	needIpsecd(t)
	p := newPair(t)
	tunnel := p.tunnel("one", 1, suites[0])
	us := startIpsecd(t, p.us, []connection{tunnel}, []tunnelInterface{p.usInterface(1)}, "")
	addInterfaces(t, p.them, []tunnelInterface{p.themInterface(1)})
	t.Cleanup(func() { removeInterfaces(t, p.them, []tunnelInterface{p.themInterface(1)}) })
	them := labtest.StartCharon(t, p.them, "load = "+labtest.CharonPlugins+" stroke")
	them.Load(t, swanctlConf(reversed([]connection{tunnel})))
	us.Initiate(t, tunnel.name)
	labtest.Ping(t, p.us, 3, p.themInner(1))

	for _, verb := range []string{"status", "statusall"} {
		theirs := p.them.Run(t, stroke, verb)
		ours := p.them.Run(t, "env", "IPSECD_VICI=unix://"+them.Path, labtest.ProgramPath(t, "ipsec"), verb)
		if d := gocmp.Diff(normalStatus(theirs), normalStatus(ours)); d != "" {
			t.Errorf("%s: -strongSwan's +ours:\n%s", verb, d)
		}
		// Seen from the other end, only the names of the ends and the SPIs differ.
		mine := p.us.Run(t, "env", "IPSECD_VICI=unix://"+us.Path, labtest.ProgramPath(t, "ipsec"), verb)
		if d := gocmp.Diff(shape(theirs), shape(mine)); d != "" {
			t.Errorf("%s of ipsecd: -charon +ipsecd:\n%s", verb, d)
		}
	}
	if out, err := p.us.Try("env", "IPSECD_VICI=unix://"+us.Path, labtest.ProgramPath(t, "ipsec"), "down", "one"); err != nil {
		t.Errorf("ipsec down: %v\n%s", err, out)
	}
	if out, err := p.us.Try("env", "IPSECD_VICI=unix://"+us.Path, labtest.ProgramPath(t, "ipsec"), "up", tunnel.name); err != nil {
		t.Errorf("ipsec up: %v\n%s", err, out)
	}
	labtest.Ping(t, p.us, 3, p.themInner(1))
}

var (
	changing = regexp.MustCompile(`\d+ (seconds?|minutes?|hours?|days?)|\d+s ago`)
	figures  = regexp.MustCompile(`\d+ bytes_|\(\d+ pkts?`)
	// private are the lines in which a daemon tells of itself.
	private = regexp.MustCompile(`^(Status of|  uptime|  malloc|  worker threads|  loaded plugins)`)
	spi     = regexp.MustCompile(`\b(?:[0-9a-f]{8}){1,2}(_[ior])\b\*?`)
)

// normalStatus is the status without what changes from one moment to the next; the
// addresses, which come in any order, are sorted.
func normalStatus(s string) []string {
	var lines, addresses []string
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\n")
		switch {
		case private.MatchString(line):
			line, _, _ = strings.Cut(strings.TrimSpace(line), " ")
		case strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") && strings.ContainsAny(line, ".:") && !strings.Contains(line, "["):
			addresses = append(addresses, line)
			continue
		}
		lines = append(lines, changing.ReplaceAllString(figures.ReplaceAllString(line, "N"), "T"))
	}
	slices.SortFunc(addresses, cmp.Compare[string])
	return append(lines, addresses...)
}

// shape is the form of a status's lines about SAs.
func shape(s string) []string {
	var out []string
	_, sas, _ := strings.Cut(s, "Security Associations")
	for _, line := range normalStatus(sas) {
		line = spi.ReplaceAllString(line, "SPI$1")
		line = regexp.MustCompile(`, (10|172)\.\S+`).ReplaceAllString(line, ", ENDS")
		line = regexp.MustCompile(`reqid \d+`).ReplaceAllString(line, "reqid N")
		out = append(out, regexp.MustCompile(`[\[{]\d+[\]}]`).ReplaceAllString(line, "{N}"))
	}
	return out
}
