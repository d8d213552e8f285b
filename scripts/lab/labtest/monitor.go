package labtest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// RouteMonitor is an 'ip monitor' of links, nexthops and routes.
type RouteMonitor struct {
	*Process
}

// StartRouteMonitor watches a namespace's routing from now on.
func StartRouteMonitor(t testing.TB, n *Netns) *RouteMonitor {
	t.Helper()
	m := &RouteMonitor{Start(t, n, "monitor-"+n.Role, nil, "ip", "-ts", "monitor", "link", "nexthop", "route")}
	// It prints nothing when it is ready; an event of ours, repeated, shows that it is.
	WaitFor(t, startTimeout, "ip monitor", m.ready(t, func() error {
		n.IP(t, "link set lo down", "link set lo up")
		if !strings.Contains(m.Log(), ": lo:") {
			return errors.New("silent")
		}
		return nil
	}))
	return m
}

// monitorLine matches an event of 'ip -ts monitor' with its time.
var monitorLine = regexp.MustCompile(`^\[([0-9T:.-]+)\] (.*)$`)

// groupEvent matches a nexthop group that was set.
var groupEvent = regexp.MustCompile(`^id \d+ group `)

// GroupDelay returns the time from a device's going down to the next change of a
// nexthop group, as far as the reader of both events can tell.
func (m *RouteMonitor) GroupDelay(device string) (time.Duration, error) {
	return groupDelay(m.Log(), device)
}

func groupDelay(log, device string) (time.Duration, error) {
	var down time.Time
	for line := range strings.Lines(log) {
		f := monitorLine.FindStringSubmatch(strings.TrimSpace(line))
		if f == nil {
			continue
		}
		at, err := time.Parse("2006-01-02T15:04:05.999999", f[1])
		if err != nil {
			return 0, err
		}
		event := f[2]
		switch {
		case strings.Contains(event, ": "+device+"@") || strings.Contains(event, ": "+device+":"):
			if flags, _, _ := strings.Cut(event, ">"); !strings.Contains(flags, "UP") {
				down = at
			}
		case !down.IsZero() && groupEvent.MatchString(event):
			return at.Sub(down), nil
		}
	}
	if down.IsZero() {
		return 0, fmt.Errorf("ip monitor saw no event of %s going down", device)
	}
	return 0, fmt.Errorf("ip monitor saw no change of a group after %s went down", device)
}
