//go:build lab

package scenario

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestXFRMKernel runs the tests of package xfrm/nl that need a kernel with ESP.
func TestXFRMKernel(t *testing.T) { runXFRMTests(t) }

// TestNewKernelXFRM runs them on a kernel that has what Debian's own has not.
func TestNewKernelXFRM(t *testing.T) {
	labtest.NeedKernel(t, 6, 13)
	runXFRMTests(t)
}

func runXFRMTests(t *testing.T) {
	t.Helper()
	program := filepath.Join(labtest.SourceRoot(), "build/xfrm-nl.test")
	out, err := exec.Command(program, "-test.v", "-test.run", "^TestLab").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "--- PASS: TestLab"); n == 0 {
		t.Errorf("no test ran:\n%s", out)
	}
}
