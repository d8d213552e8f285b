package labtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// CharonPlugins are named one by one: the default set has crashed.
const CharonPlugins = "random nonce openssl curve25519 kdf hmac sha1 sha2 aes gcm chapoly pem pkcs1 x509 pubkey constraints kernel-netlink socket-default vici"

// SwanctlPlugins keep the stock swanctl from probing every algorithm of the kernel for half a
// minute.
const SwanctlPlugins = "random openssl pem pkcs1 x509 pubkey"

// startTimeout is how long a daemon may take until it answers.
const startTimeout = 120 * time.Second

// Charon is strongSwan's daemon in a namespace. Several run side by side.
type Charon struct {
	*Process
	Vici
	Dir string // of its files
}

// StartCharon starts charon, without any connection. Options are lines of
// strongswan.conf, "keep_alive = 2s", that replace those below.
func StartCharon(t testing.TB, n *Netns, options ...string) *Charon {
	t.Helper()
	return startCharon(t, n, options, "charon-systemd")
}

// startCharon starts it by a command.
func startCharon(t testing.TB, n *Netns, options []string, command string, args ...string) *Charon {
	t.Helper()
	dir := RunDir(t)
	c := &Charon{Vici: Vici{Path: filepath.Join(dir, "vici")}, Dir: dir}
	conf := WriteFile(t, filepath.Join(dir, "strongswan.conf"), fmt.Sprintf(`
charon-systemd {
    load = %s
    install_routes = no
    install_virtual_ip = no
    retransmit_timeout = 4.0
    retransmit_tries = 5
    half_open_timeout = 120
    threads = 16
    plugins { vici { socket = unix://%s }
              stroke { secrets_file = %s } }
    filelog { stderr { default = 1
                       ike_name = yes
                       flush_line = yes } }
    %s
}
`, CharonPlugins, c.Path, filepath.Join(dir, "ipsec.secrets"), strings.Join(options, "\n")))
	c.Process = startDaemon(t, n, "charon-"+n.Role, []string{"STRONGSWAN_CONF=" + conf}, command, args...)
	WaitFor(t, startTimeout, "charon's socket in "+n.Role, c.ready(t, func() error {
		_, err := c.Call("version")
		return err
	}))
	return c
}

// Files writes files into swanctl's folders, by names such as "x509/gw.pem", for Load to find.
func (c *Charon) Files(t testing.TB, files map[string]string) {
	t.Helper()
	writeFiles(t, c.Dir, files)
}

// Load makes a swanctl.conf the whole configuration, by the stock swanctl.
func (c *Charon) Load(t testing.TB, conf string) {
	t.Helper()
	file := WriteFile(t, filepath.Join(c.Dir, "swanctl.conf"), conf)
	if _, err := c.swanctl(t, c.Dir, "--load-all", "--noprompt", "--file", file); err != nil {
		t.Fatal(err)
	}
}

// swanctl runs the stock swanctl against a daemon. It finds its options in dir.
func (v Vici) swanctl(t testing.TB, dir string, args ...string) (string, error) {
	t.Helper()
	conf := WriteFile(t, filepath.Join(dir, "swanctl-options.conf"), fmt.Sprintf("swanctl { load = %s }\n", SwanctlPlugins))
	cmd := exec.Command("swanctl", append(args, "--uri", "unix://"+v.Path)...)
	cmd.Env = append(os.Environ(), "STRONGSWAN_CONF="+conf)
	return output(cmd)
}
