package labtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// charon6Env says where the lab has put strongSwan 6 and its libraries.
const charon6Env = "LAB_CHARON6"

// StartCharon6 is StartCharon for strongSwan 6, which has several key exchanges and ML-KEM. It runs in a tree of its own,
// which shares what daemons need with the machine. The stock swanctl loads its configuration.
func StartCharon6(t testing.TB, n *Netns, options ...string) *Charon {
	t.Helper()
	root := os.Getenv(charon6Env)
	if _, err := os.Stat(filepath.Join(root, "usr/sbin/charon-systemd")); root == "" || err != nil {
		t.Fatalf("strongSwan 6 is not here (%s=%s): scripts/lab/lab fetches it, from the mirror that LAB_LATER_MIRROR names", charon6Env, root)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/proc", "/sys", "/dev", "/run"} {
		at := filepath.Join(root, dir)
		if !strings.Contains(string(mounts), " "+at+" ") {
			mustRun(t, "", "mount", "--bind", dir, at)
		}
	}
	return startCharon(t, n, options, "chroot", root, "/usr/sbin/charon-systemd")
}
