package labtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// strongSwan's programs for ipsec.conf, and their files.
const (
	ipsecDir   = "/usr/lib/ipsec"
	starterPID = "/run/charon-systemd.pid" // of the daemon that starter has started
	strokeCtl  = "/run/charon.ctl"         // the socket over which it gives it its configuration
	lastConn   = "the-last-one"
)

// StrokePlugins are those of a charon that starter gives its configuration.
const StrokePlugins = CharonPlugins + " stroke"

// StartStarter has strongSwan's starter load ipsec.conf and ipsec.secrets from the
// daemon's directory, where the files are written first. The daemon must have
// StrokePlugins; only one of them can run at a time.
func (c *Charon) StartStarter(t testing.TB, n *Netns, files map[string]string) {
	t.Helper()
	writeFiles(t, c.Dir, files)
	conf := WriteFile(t, filepath.Join(c.Dir, "ipsec.conf"), files["ipsec.conf"]+"\nconn "+lastConn+"\n\tright=192.0.2.1\n\tauto=add\n")
	n.Run(t, filepath.Join(ipsecDir, "stroke"), "rereadsecrets")

	// starter removes the socket, starts a charon of its own, and waits for it 10 s: too
	// short for the lab. Ours runs already: what starter starts restores the socket, and
	// stands for it.
	daemon, socket := filepath.Join(ipsecDir, "charon-systemd"), filepath.Join(c.Dir, "stroke")
	if err := os.Link(strokeCtl, socket); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nln %s %s\necho $$ >%s\nexec sleep infinity\n", socket, strokeCtl, starterPID)
	if err := os.WriteFile(daemon, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		os.Remove(daemon)
		os.Remove(starterPID)
	})
	Start(t, n, "starter-"+n.Role, nil, filepath.Join(ipsecDir, "starter"), "--nofork", "--daemon", "charon-systemd", "--conf", conf)
	c.WaitLog(t, startTimeout, "added configuration '"+lastConn+"'")
}
