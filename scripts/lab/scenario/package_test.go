//go:build lab

package scenario

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// packageConf is strongswan.conf of a host whose charon is started by ipsec, and reads swanctl.conf, too.
const packageConf = `charon {
    load = ` + labtest.CharonPlugins + ` stroke
    start-scripts { load = /usr/sbin/swanctl --load-all --noprompt }
}
swanctl { load = random openssl pem pkcs1 x509 pubkey }
`

// packageFiles are the operator's, and nobody else may change them.
var packageFiles = []string{"/etc/ipsec.conf", "/etc/ipsec.secrets", "/etc/swanctl/swanctl.conf", "/etc/strongswan.conf"}

// packageCommands are strongSwan's, in whose place are ours while the package is installed.
var packageCommands = []string{"/usr/sbin/ipsec", "/usr/sbin/swanctl"}

// ipsecConfOf writes connections in the older grammar.
func ipsecConfOf(conns []connection) (conf, secrets string) {
	for _, c := range conns {
		conf += fmt.Sprintf(`conn %s
    keyexchange=ikev2
    mobike=no
    authby=secret
    left=%s
    leftid=%s
    leftsubnet=%s
    right=%s
    rightid=%s
    rightsubnet=%s
    ike=%s!
    esp=%s!
    auto=start

`, c.name, c.local, c.localID, c.localTS, c.remote, c.remoteID, c.remoteTS, c.ike, c.esp)
		secrets += fmt.Sprintf("%s %s : PSK \"%s\"\n", c.localID, c.remoteID, c.psk)
	}
	return conf, secrets
}

// TestPackage installs the package on a host where charon has four tunnels, two of ipsec.conf and two of swanctl.conf: they are
// back within the promised time, without a change to a file. It upgrades under pings: none is lost. It removes: charon has them back.
func TestPackage(t *testing.T) {
	needIpsecd(t)
	p := newPair(t)
	var conns []connection
	for n := 1; n <= 4; n++ {
		c := p.policyTunnel(fmt.Sprint("site", n), n, "")
		c.start = true
		p.subnets(t, n, 1)
		conns = append(conns, c)
	}
	startCharon(t, p.them, reversed(conns), nil)
	conf, secrets := ipsecConfOf(conns[2:])
	host := labtest.StartContainer(t, p.us, map[string]string{
		"/etc/ipsec.conf": conf, "/etc/ipsec.secrets": secrets, "/etc/swanctl/swanctl.conf": swanctlConf(conns[:2]),
		"/etc/strongswan.conf": packageConf,
		"/root/ipsecd.deb":     "@" + filepath.Join(labtest.SourceRoot(), "build/deb/ipsecd-lab_0.deb"),
		"/root/later.deb":      "@" + filepath.Join(labtest.SourceRoot(), "build/deb/ipsecd-lab_1.deb"),
	})
	files := host.Run(t, "sha256sum", slices.Concat(packageFiles, packageCommands)...)
	host.Run(t, "systemctl", "enable", "--now", "strongswan-starter.service")
	await := func(who string, start time.Time) time.Duration {
		t.Helper()
		for n := range conns {
			awaitEcho(t, p.us, "-I", ours(n+1, 1), theirs(n+1, 1))
		}
		took := time.Since(start)
		t.Logf("four tunnels of %s after %v", who, took.Round(time.Millisecond))
		return took
	}
	unchanged := func(when string, want string, names ...string) {
		t.Helper()
		if now := host.Run(t, "sha256sum", names...); now != want {
			t.Errorf("%s changed files:\n%s\nbefore:\n%s", when, now, want)
		}
	}
	await("charon", time.Now())
	own := host.Run(t, "sha256sum", packageFiles...)

	host.Run(t, "dpkg", "-i", "/root/ipsecd.deb")
	if took := await("ipsecd", activated(t, host)); took > recoverTime() {
		t.Errorf("it took %v, want at most %v", took, recoverTime())
	}
	host.Run(t, "systemctl", "is-active", "ipsecd.service")
	host.Run(t, "systemd-analyze", "verify", "/usr/lib/systemd/system/ipsecd.service")
	confined(t, host)
	for _, name := range []string{"strongswan", "strongswan-starter", "ipsec"} {
		if id := strings.TrimSpace(host.Run(t, "systemctl", "show", "--property=Id", "--value", name+".service")); id != "ipsecd.service" {
			t.Errorf("%s.service is %s", name, id)
		}
	}
	if out := host.Run(t, "ipsec", "status"); !strings.Contains(out, "(4 up, 0 connecting)") {
		t.Errorf("ipsec status: %s", out)
	}
	// strongSwan's package has a profile for the path of its swanctl, which holds ours, too.
	host.Run(t, "touch", "/etc/apparmor.d/local/usr.sbin.swanctl")
	host.Run(t, "apparmor_parser", "--replace", "--skip-cache", "/etc/apparmor.d/usr.sbin.swanctl")
	if out := host.Run(t, "swanctl", "--help"); !strings.HasPrefix(out, "swanctl of ipsecd") {
		t.Errorf("swanctl --help: %s", out)
	}
	if out := host.Run(t, "swanctl", "--list-sas"); strings.Count(out, "ESTABLISHED") != 4 {
		t.Errorf("swanctl --list-sas: %s", out)
	}
	host.Run(t, "swanctl", "--load-creds", "--noprompt")
	host.Run(t, "apparmor_parser", "--remove", "/etc/apparmor.d/usr.sbin.swanctl")
	unchanged("the installation", own, packageFiles...)

	packageUpgrade(t, p, host)
	unchanged("the upgrade", own, packageFiles...)

	host.Run(t, "dpkg", "--remove", "ipsecd")
	await("charon again", time.Now())
	if enabled := strings.TrimSpace(host.Run(t, "systemctl", "is-enabled", "strongswan-starter.service")); enabled != "enabled" {
		t.Errorf("strongswan-starter is %s after the removal", enabled)
	}
	host.Run(t, "dpkg", "--purge", "ipsecd")
	unchanged("removal and purge", files, slices.Concat(packageFiles, packageCommands)...)
	if out, err := host.Try("sh", "-c", "ls -d /usr/sbin/ipsec.strongswan /usr/sbin/swanctl.strongswan /usr/sbin/ipsecd /var/lib/ipsecd /etc/ipsecd /etc/apparmor.d/usr.sbin.ipsecd 2>/dev/null"); out != "" {
		t.Errorf("left by the package: %s %v", out, err)
	}
}

// confined checks that the process runs under its AppArmor profile. What the profile forbids it would have failed at.
func confined(t *testing.T, host *labtest.Container) {
	t.Helper()
	main := strings.TrimSpace(host.Run(t, "systemctl", "show", "--property=MainPID", "--value", "ipsecd.service"))
	if got := strings.TrimSpace(host.Run(t, "cat", "/proc/"+main+"/attr/current")); got != "ipsecd (enforce)" {
		t.Errorf("ipsecd is confined by %q", got)
	}
}

// activated returns when systemd began to start ipsecd, with charon stopped just before.
func activated(t *testing.T, host *labtest.Container) time.Time {
	t.Helper()
	var microseconds, uptime float64
	if _, err := fmt.Sscan(host.Run(t, "systemctl", "show", "--property=InactiveExitTimestampMonotonic", "--value", "ipsecd.service"), &microseconds); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(host.Run(t, "cat", "/proc/uptime"), &uptime); err != nil {
		t.Fatal(err)
	}
	return time.Now().Add(-time.Duration((uptime - microseconds/1e6) * float64(time.Second)))
}

// packageUpgrade installs a later version under pings in both directions.
func packageUpgrade(t *testing.T, p *pair, host *labtest.Container) {
	t.Helper()
	pid := func() string {
		return strings.TrimSpace(host.Run(t, "systemctl", "show", "--property=MainPID", "--value", "ipsecd.service"))
	}
	before, sas := pid(), host.Run(t, "sh", "-c", "ip xfrm state | grep proto | sort")
	var pings []*labtest.Pinger
	interval := rekeyPing
	for n := 1; n <= 4; n++ {
		pings = append(pings,
			labtest.StartPing(t, p.us, interval, "-I", ours(n, 1), theirs(n, 1)),
			labtest.StartPing(t, p.them, interval, "-I", theirs(n, 1), ours(n, 1)))
		interval = 10 * rekeyPing // emulated, dpkg takes a minute beside four like the first
	}
	host.Run(t, "dpkg", "-i", "/root/later.deb")
	labtest.WaitFor(t, deployTime, "the new program in the place of the old one", func() error {
		// The old program's file is deleted.
		if exe := strings.TrimSpace(host.Run(t, "readlink", "/proc/"+before+"/exe")); !strings.HasSuffix(exe, "/usr/sbin/ipsecd") {
			return fmt.Errorf("process %s runs %s", before, exe)
		}
		_, err := host.Try("ipsecctl", "version")
		return err
	})
	for _, ping := range pings {
		if result := ping.Stop(t); result.Lost > 0 {
			t.Errorf("%s: %v", ping.Name, result)
		}
	}
	if after := pid(); after != before {
		t.Errorf("the upgrade restarted the service: process %s, then %s", before, after)
	}
	if after := host.Run(t, "sh", "-c", "ip xfrm state | grep proto | sort"); after != sas {
		t.Errorf("other SAs:\n%s\nbefore:\n%s", after, sas)
	}
	host.Run(t, "systemctl", "is-active", "ipsecd.service")
}
