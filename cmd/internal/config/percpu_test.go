package config

import (
	"fmt"
	"slices"
	"testing"
)

// With encap, charon sends each CPU's packets from a port of its own. That this is not done is said, with the line.
func TestPerCPUSAs(t *testing.T) {
	for value, want := range map[string]bool{"no": false, "yes": true, "encap": true} {
		c := load(t, fmt.Sprintf(minimal, "", "per_cpu_sas = "+value))
		child := c.IKE.Connections[0].Children[0]
		if child.PerCPU != want {
			t.Errorf("%s: %v", value, child.PerCPU)
		}
		var warned []string
		if value == "encap" {
			warned = []string{"8: connections.hq.children.net.per_cpu_sas = encap is taken for yes: the SAs for the CPUs share the UDP port of the IKE SA"}
		}
		if got := warnings(c); !slices.Equal(got, warned) {
			t.Errorf("%s: warnings %q, want %q", value, got, warned)
		}
	}
}
