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

// Container is a whole system of its own on the lab's files: systemd with its units, and a root on which what is installed
// or written touches nothing else. Its network is that of a namespace.
type Container struct {
	*Process
	init int // process ID of its systemd
}

// boot mounts the root, a layer in memory above the lab's, and becomes systemd there. It is the root of its mount namespace, too:
// AppArmor takes paths from there.
const boot = `set -e
mount -t tmpfs -o mode=755 layer "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" root "$1/root"
cp -a "$2/." "$1/root/"
cd "$1/root"
mount -t proc proc proc
mount -t sysfs sys sys
mount -t securityfs security sys/kernel/security
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount --rbind /dev dev
mount -t tmpfs -o mode=755 run run
mkdir run/lock
mount -t tmpfs tmp tmp
mkdir run/old
pivot_root . run/old
umount -l /run/old
exec env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=basic.target --log-target=console --show-status=no
`

// StartContainer boots systemd with the network of n. The files, by absolute names, are there from the beginning; a value that
// begins with "@" names a file to be copied.
func StartContainer(t testing.TB, n *Netns, files map[string]string) *Container {
	t.Helper()
	dir, tree := RunDir(t), RunDir(t)
	for name, content := range files {
		path := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if from, copied := strings.CutPrefix(content, "@"); copied {
			mustRun(t, "", "cp", from, path)
			continue
		}
		WriteFile(t, path, content)
	}
	script := WriteFile(t, filepath.Join(dir, "boot"), boot)
	if err := os.Mkdir(filepath.Join(dir, "layer"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &Container{}
	c.Process = startDaemon(t, n, "systemd-"+n.Role, nil, "unshare", "--pid", "--mount", "--fork", "--cgroup", "--kill-child", "--propagation", "private",
		"sh", script, filepath.Join(dir, "layer"), tree)
	t.Cleanup(func() { c.Kill(t) }) // systemd in it would not end for SIGTERM
	WaitFor(t, startTimeout, "systemd in "+n.Role, c.ready(t, func() error {
		pids, err := c.Children()
		if err != nil || len(pids) != 1 {
			return fmt.Errorf("children of unshare: %v, %v", pids, err)
		}
		c.init = pids[0]
		out, err := c.Try("systemctl", "is-system-running")
		if state := strings.TrimSpace(out); state != "running" && state != "degraded" {
			return fmt.Errorf("systemd is %q: %v", state, err)
		}
		return nil
	}))
	return c
}

// Try runs a program in the container and returns its standard output.
func (c *Container) Try(name string, args ...string) (string, error) {
	enter := []string{"-t", fmt.Sprint(c.init), "--mount", "--pid", "--net", "--cgroup", "--root", "--wd=/",
		"env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", name}
	return output(exec.Command("nsenter", append(enter, args...)...))
}

// Run is Try that fails t when the program does.
func (c *Container) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := c.Try(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Await waits until a program's output has the text.
func (c *Container) Await(t testing.TB, deadline time.Duration, text, name string, args ...string) {
	t.Helper()
	WaitFor(t, deadline, text+" from "+name+" "+strings.Join(args, " "), func() error {
		out, err := c.Try(name, args...)
		if !strings.Contains(out, text) {
			return fmt.Errorf("%q: %v", out, err)
		}
		return nil
	})
}
