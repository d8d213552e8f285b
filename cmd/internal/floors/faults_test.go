package floors

import (
	"slices"
	"strings"
	"testing"
)

// runsPrograms are the packages that may start a program, and which one.
var runsPrograms = map[string]string{
	"cmd/internal/updown": "the scripts that the operator names; what peers send reaches their environment only",
	"cmd/internal/daemon": "ipsecd itself, as the router process and to try a new version",
	"cmd/ipsec":           "systemctl, for the operator's start, stop and restart; iptables for leftfirewall, with addresses as arguments",
}

// TestFault_CVE_2023_28771_NoShell: in Zyxel's firewalls, what a peer sent ended up in a command. Here nothing that
// handles messages starts a program, and what starts programs makes no command of what it was sent.
func TestFault_CVE_2023_28771_NoShell(t *testing.T) {
	for _, p := range list(t) {
		rel, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours || strings.HasPrefix(rel, "scripts/") || !slices.Contains(p.Imports, "os/exec") {
			continue
		}
		if _, ok := runsPrograms[rel]; !ok {
			t.Errorf("%s starts programs", rel)
		}
	}
}
