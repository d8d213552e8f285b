package labtest

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Capture is a tcpdump on one device.
type Capture struct {
	*Process
	path  string
	netns *Netns
}

// StartCapture records what crosses a device, headers only, and returns once
// tcpdump listens.
func StartCapture(t testing.TB, n *Netns, device string) *Capture {
	t.Helper()
	name := fmt.Sprintf("capture-%s-%s-%d", n.Role, device, time.Now().Unix())
	c := &Capture{path: filepath.Join(Artifacts(t), name+".pcap"), netns: n}
	c.Process = Start(t, n, name, nil, "tcpdump", "-n", "-U", "-s", "96", "--immediate-mode", "-Z", "root", "-i", device, "-w", c.path)
	c.WaitLog(t, startTimeout, "listening on")
	return c
}

// Finish stops the recording. Packets that tcpdump had to drop fail t: what was
// not seen cannot be counted.
func (c *Capture) Finish(t testing.TB) {
	t.Helper()
	c.Signal(t, syscall.SIGINT)
	if err := c.Wait(t, startTimeout); err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
	if !strings.Contains(c.Log(), "\n0 packets dropped by kernel") {
		t.Errorf("%s: the capture is not complete:\n%s", c.Name, tail(c.Log(), 4))
	}
}

// Count returns how many of the recorded packets match a filter (pcap-filter(7)).
func (c *Capture) Count(t testing.TB, filter string) int {
	t.Helper()
	out := mustRun(t, "", "tcpdump", "-Z", "root", "-n", "-r", c.path, "--count", filter)
	for line := range strings.Lines(out) {
		if number, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(rest, "packet") {
			if count, err := strconv.Atoi(number); err == nil {
				return count
			}
		}
	}
	t.Fatalf("tcpdump --count printed no count: %q", out)
	return 0
}

// Print returns the first packets that match, for a message.
func (c *Capture) Print(t testing.TB, filter string, limit int) string {
	t.Helper()
	return mustRun(t, "", "tcpdump", "-Z", "root", "-n", "-r", c.path, "-c", strconv.Itoa(limit), filter)
}

// WaitCount waits until at least want packets that match have been recorded.
func (c *Capture) WaitCount(t testing.TB, deadline time.Duration, filter string, want int) {
	t.Helper()
	WaitFor(t, deadline, filter+" on "+c.Name, c.ready(t, func() error {
		if got := c.Count(t, filter); got < want {
			return countError{got, want}
		}
		return nil
	}))
}

type countError struct{ got, want int }

func (e countError) Error() string {
	return "got " + strconv.Itoa(e.got) + ", want " + strconv.Itoa(e.want)
}
