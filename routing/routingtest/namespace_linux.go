package routingtest

import (
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netns"
)

// Namespace moves the test's thread into a network namespace of its own until the test ends. It needs root.
func Namespace(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("a network namespace is needed (run as root)")
	}
	runtime.LockOSThread()
	before, err := netns.Get()
	if err != nil {
		t.Fatal(err)
	}
	ns, err := netns.New()
	if err != nil {
		t.Fatalf("a network namespace is needed: %v", err)
	}
	t.Cleanup(func() {
		_ = netns.Set(before)
		_ = ns.Close()
		_ = before.Close()
		runtime.UnlockOSThread()
	})
}
