package labtest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Children returns the ids of the process's own children.
func (p *Process) Children() ([]int, error) {
	// Each is listed under the thread that started it.
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.PID()))
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, f := range strings.Fields(string(b)) {
			pid, err := strconv.Atoi(f)
			if err != nil {
				return nil, err
			}
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// PeakMemory returns how many octets of memory the process has had at most (VmHWM of
// proc_pid_status(5)).
func (p *Process) PeakMemory(t testing.TB) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var kib int
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	t.Fatalf("no VmHWM in the status of %s", p.Name)
	return 0
}

// CryptoDriver returns the driver that the kernel prefers for an algorithm
// (/proc/crypto), or an empty string when it has none. The kernel lists one only
// once it has been used.
func CryptoDriver(t testing.TB, algorithm string) string {
	t.Helper()
	f, err := os.Open("/proc/crypto")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	best, bestPriority := "", -1
	var name, driver string
	for s := bufio.NewScanner(f); s.Scan(); {
		key, value, _ := strings.Cut(s.Text(), ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "name":
			name = value
		case "driver":
			driver = value
		case "priority":
			if p, _ := strconv.Atoi(value); name == algorithm && p > bestPriority {
				best, bestPriority = driver, p
			}
		}
	}
	return best
}
