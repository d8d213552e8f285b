package labtest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// frrLib is where Debian keeps FRR's daemons.
const frrLib = "/usr/lib/frr"

// FRR is a zebra and a bgpd in a namespace.
type FRR struct {
	Zebra, BGPd *Process
	dir         string
}

// StartFRR starts FRR with bgpd's configuration conf. The namespace's interfaces
// should exist: bgpd learns of later ones slowly.
func StartFRR(t testing.TB, n *Netns, conf string) *FRR {
	t.Helper()
	f := &FRR{dir: RunDir(t)}
	file := WriteFile(t, filepath.Join(f.dir, "bgpd.conf"), conf)
	// The daemons give root up for the user frr.
	mustRun(t, "", "chown", "-R", "frr:frr", f.dir)
	socket := filepath.Join(f.dir, "zserv")
	common := func(name, config string) []string {
		return []string{"-z", socket, "-i", filepath.Join(f.dir, name+".pid"), "--vty_socket", f.dir, "-P", "0", "-f", config, "--log", "stdout"}
	}
	f.Zebra = startDaemon(t, n, "zebra-"+n.Role, nil, frrLib+"/zebra", common("zebra", "/dev/null")...)
	WaitFor(t, startTimeout, "zebra's socket in "+n.Role, f.Zebra.ready(t, func() error {
		_, err := os.Stat(socket)
		return err
	}))
	f.BGPd = startDaemon(t, n, "bgpd-"+n.Role, nil, frrLib+"/bgpd", common("bgpd", file)...)
	return f
}

// Show runs a 'show …' command of vtysh.
func (f *FRR) Show(command string) (string, error) {
	return output(exec.Command("vtysh", "--vty_socket", f.dir, "-c", command))
}

// WantEstablished is a condition for WaitFor: n sessions are up.
func (f *FRR) WantEstablished(t testing.TB, n int) func() error {
	return f.BGPd.ready(t, func() error {
		out, err := f.Show("show bgp ipv4 unicast summary json")
		if err != nil {
			return err
		}
		var summary struct {
			Peers map[string]struct{ State string }
		}
		if err := json.Unmarshal([]byte(out), &summary); err != nil {
			return err
		}
		up := 0
		for _, p := range summary.Peers {
			if p.State == "Established" {
				up++
			}
		}
		if up != n {
			return fmt.Errorf("%d BGP sessions are up, want %d", up, n)
		}
		return nil
	})
}
