package labtest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Ipsecd is our daemon in a namespace.
type Ipsecd struct {
	*Process
	Vici
	Dir    string // of its configuration
	netns  *Netns
	config string // empty: the installed files
}

// StartIpsecd writes conf, and the other files beside it, into a directory and
// starts ipsecd there. It waits until the daemon answers.
func StartIpsecd(t testing.TB, n *Netns, conf string, files map[string]string) *Ipsecd {
	t.Helper()
	d := NewIpsecd(t, n, conf, files)
	d.Start(t)
	return d
}

// NewIpsecd is StartIpsecd without the start.
func NewIpsecd(t testing.TB, n *Netns, conf string, files map[string]string) *Ipsecd {
	t.Helper()
	dir := RunDir(t)
	writeFiles(t, dir, files)
	return &Ipsecd{
		Vici:   Vici{Path: filepath.Join(dir, "vici")},
		Dir:    dir,
		netns:  n,
		config: WriteFile(t, filepath.Join(dir, "ipsecd.conf"), conf),
	}
}

// StartInstalledIpsecd starts ipsecd without a word about its configuration: it finds the files of /etc, by names such as
// "ipsec.conf", in the place of those that the machine has there. The machine must have them.
func StartInstalledIpsecd(t testing.TB, n *Netns, files map[string]string) *Ipsecd {
	t.Helper()
	own := filepath.Join("/etc/netns", n.Name) // ip-netns(8) binds what is in it over /etc
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(own) })
	writeFiles(t, own, files)
	d := &Ipsecd{Vici: Vici{Path: filepath.Join(RunDir(t), "vici")}, Dir: own, netns: n}
	d.Start(t)
	return d
}

// writeFiles writes files below a directory.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		WriteFile(t, filepath.Join(dir, name), content)
	}
}

// Start runs the daemon, again after it was stopped or killed, and waits until
// it answers.
func (d *Ipsecd) Start(t testing.TB) {
	t.Helper()
	d.Launch(t)
	WaitFor(t, startTimeout, "ipsecd's socket in "+d.netns.Role, d.ready(t, func() error {
		_, err := d.Call("version")
		return err
	}))
}

// Launch is Start that does not wait.
func (d *Ipsecd) Launch(t testing.TB) {
	t.Helper()
	args := []string{"--vici", "unix://" + d.Path, "--log-level", "debug"}
	if d.config != "" {
		args = append(args, "--config", d.config)
	}
	d.Process = startDaemon(t, d.netns, "ipsecd-"+d.netns.Role, nil, ProgramPath(t, "ipsecd"), args...)
}

// HandOver asks the daemon for a handover to another process of the program that is there now, and waits until that answers.
func (d *Ipsecd) HandOver(t testing.TB) {
	t.Helper()
	const taken = "took over from the process before"
	times := strings.Count(d.Log(), taken)
	d.Signal(t, syscall.SIGUSR2)
	WaitFor(t, startTimeout, "another process of ipsecd in "+d.netns.Role, d.ready(t, func() error {
		if strings.Count(d.Log(), taken) == times {
			return errors.New("not yet")
		}
		_, err := d.Call("version")
		return err
	}))
}

// Ctl runs ipsecctl and returns what it printed.
func (d *Ipsecd) Ctl(args ...string) (string, error) {
	ctl, err := programPath("ipsecctl")
	if err != nil {
		return "", err
	}
	return output(exec.Command(ctl, append([]string{"--uri", "unix://" + d.Path}, args...)...))
}

// CtlJSON runs ipsecctl and decodes what it printed into v.
func (d *Ipsecd) CtlJSON(t testing.TB, v any, args ...string) {
	t.Helper()
	out, err := d.Ctl(args...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), v); err != nil {
		t.Fatalf("ipsecctl %s: %v in %s", strings.Join(args, " "), err, out)
	}
}

// LoadAll has the stock swanctl load a file of the daemon's directory.
func (d *Ipsecd) LoadAll(t testing.TB, file string) (string, error) {
	t.Helper()
	return d.swanctl(t, d.Dir, "--load-all", "--noprompt", "--file", filepath.Join(d.Dir, file))
}

// Ipsec runs our ipsec and returns what it printed.
func (d *Ipsecd) Ipsec(t testing.TB, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(ProgramPath(t, "ipsec"), args...)
	cmd.Env = append(os.Environ(), "IPSECD_VICI=unix://"+d.Path)
	return output(cmd)
}

// RouterPID returns the process id of the daemon's router child.
func (d *Ipsecd) RouterPID(t testing.TB) int {
	t.Helper()
	pids, err := d.Children()
	if err != nil || len(pids) != 1 {
		t.Fatalf("ipsecd has the children %v, want the router alone: %v", pids, err)
	}
	return pids[0]
}

// ProgramPath returns where a program of ours is: LAB_IPSECD for ipsecd,
// LAB_IPSECCTL for ipsecctl, else build/NAME of the source tree.
func ProgramPath(t testing.TB, name string) string {
	t.Helper()
	p, err := programPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func programPath(name string) (string, error) {
	if p := os.Getenv("LAB_" + strings.ToUpper(name)); p != "" {
		return p, nil
	}
	return filepath.Join(SourceRoot(), "build", name), nil
}

// SourceRoot returns the root of the source tree: the nearest directory above
// that has a go.mod.
func SourceRoot() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	for d := dir; d != "/"; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d
		}
	}
	return dir
}
