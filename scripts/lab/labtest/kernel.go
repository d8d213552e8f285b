package labtest

import (
	"fmt"
	"os"
	"testing"
)

// NeedKernel fails a scenario whose name begins with TestNewKernel on a kernel that is too old for it: the lab runs
// those on a newer one.
func NeedKernel(t testing.TB, major, minor int) {
	t.Helper()
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	var x, y int
	if _, err := fmt.Sscanf(string(release), "%d.%d", &x, &y); err != nil {
		t.Fatalf("kernel release %q: %v", release, err)
	}
	if x < major || x == major && y < minor {
		t.Fatalf("this is Linux %d.%d, and %s takes %d.%d: 'make lab' runs it on the kernel of a later Debian", x, y, t.Name(), major, minor)
	}
}
