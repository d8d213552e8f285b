package labtest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// modules are loaded before the first scenario; a kernel that has them built in
// does not mind.
var modules = []string{
	"xfrm_user", "esp4", "esp6", "xfrm_interface",
	"aesni_intel", "gcm", "seqiv", "echainiv", "authenc", "cbc", "chacha20poly1305",
	"veth", "dummy", "nf_tables", "nf_nat", "nft_chain_nat",
}

// Main runs the scenarios of m, and refuses to outside of the lab: they change
// the network of the machine they run on. Their names it lists anywhere.
func Main(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" {
		os.Exit(m.Run())
	}
	if os.Getenv("LAB_GUEST") != "1" && os.Getenv("LAB") != "host" {
		fmt.Fprintln(os.Stderr, "the scenarios run in the lab: use 'make lab', or 'make lab LAB=host' on a machine that may be changed")
		os.Exit(1)
	}
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "the scenarios make network namespaces: they must run as root")
		os.Exit(1)
	}
	// Which of them exist depends on the kernel; a scenario that lacks one says so itself.
	_ = exec.Command("modprobe", append([]string{"-qa"}, modules...)...).Run()
	os.Exit(m.Run())
}

// Artifacts returns the directory that t's logs and captures go to. The lab
// brings it back to the host.
func Artifacts(t testing.TB) string {
	t.Helper()
	share := os.Getenv("LAB_SHARE")
	if share == "" {
		share = t.TempDir()
	}
	// Subtests share their parent's directory, so that files are where the daemons are.
	name, _, _ := strings.Cut(t.Name(), "/")
	dir := filepath.Join(share, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// RunDir returns a fresh directory in memory for t's configuration files and
// sockets. Its path is short: a socket's has room for 107 bytes.
func RunDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/run", "lab-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// WriteFile writes a file that only root can read, as keys ask for.
func WriteFile(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
