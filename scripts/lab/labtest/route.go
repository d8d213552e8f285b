package labtest

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// Route is one route as 'ip -j route' shows it.
type Route struct {
	Type     string // blackhole, …; empty for a unicast one
	Dst      string
	Dev      string
	Gateway  string
	Protocol string
	Metric   int
	NHID     int // nexthop object
	Nexthops []struct {
		Gateway string
		Dev     string
		Flags   []string
	}
}

// Devices returns where the route sends packets, sorted. Nexthops whose link is
// down do not count.
func (r Route) Devices(t testing.TB, n *Netns) []string {
	t.Helper()
	if r.NHID != 0 {
		devices := devicesOf(t, n, r.NHID)
		slices.Sort(devices)
		return devices
	}
	var devices []string
	if r.Dev != "" {
		devices = append(devices, r.Dev)
	}
	for _, h := range r.Nexthops {
		if !slices.Contains(h.Flags, "linkdown") && !slices.Contains(h.Flags, "dead") {
			devices = append(devices, h.Dev)
		}
	}
	slices.Sort(devices)
	return devices
}

// Routes lists the namespace's routes of exactly one prefix in the main table.
func Routes(t testing.TB, n *Netns, prefix string) []Route {
	t.Helper()
	// -d: the type is shown, and so are the members of a nexthop group.
	out := n.Run(t, "ip", "-j", "-d", "route", "show", "exact", prefix)
	var routes []Route
	if err := json.Unmarshal([]byte(out), &routes); err != nil {
		t.Fatalf("ip route show %s: %v in %s", prefix, err, out)
	}
	for i := range routes {
		if routes[i].Type == "unicast" {
			routes[i].Type = ""
		}
	}
	return routes
}

// WantPaths is a condition for WaitFor: the best route of prefix goes over
// exactly these devices.
func WantPaths(t testing.TB, n *Netns, prefix string, devices ...string) func() error {
	slices.Sort(devices)
	return func() error {
		routes := Routes(t, n, prefix)
		if len(routes) == 0 {
			return fmt.Errorf("no route to %s", prefix)
		}
		best := slices.MinFunc(routes, func(a, b Route) int { return a.Metric - b.Metric })
		if got := best.Devices(t, n); !slices.Equal(got, devices) {
			return fmt.Errorf("%s goes over %v (%s metric %d), want %v", prefix, got, best.Type, best.Metric, devices)
		}
		return nil
	}
}

// FlowDevices returns the device that the kernel sends each of count TCP flows
// over, whose source ports follow each other: its own multipath hash decides.
func FlowDevices(t testing.TB, n *Netns, src, dst string, dport, sport, count int) []string {
	t.Helper()
	var queries strings.Builder
	for i := range count {
		// "iif" makes it a forwarded packet, whose source need not be ours; TCP is 6,
		// as a machine without /etc/protocols knows it too.
		fmt.Fprintf(&queries, "route get %s from %s iif lan ipproto 6 sport %d dport %d\n", dst, src, sport+i, dport)
	}
	out := mustRun(t, queries.String(), "ip", "-n", n.Name, "-j", "-batch", "-")
	var devices []string
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var routes []Route
		err := d.Decode(&routes)
		if err == io.EOF {
			break
		}
		if err != nil || len(routes) == 0 {
			t.Fatalf("ip route get: %v in %s", err, out)
		}
		devices = append(devices, routes[0].Dev)
	}
	if len(devices) != count {
		t.Fatalf("ip route get: %d answers to %d questions: %s", len(devices), count, out)
	}
	return devices
}

// InterfaceBytes returns the bytes that a device has received and sent.
func InterfaceBytes(t testing.TB, n *Netns, device string) (received, sent uint64) {
	t.Helper()
	out := n.Run(t, "ip", "-j", "-s", "link", "show", "dev", device)
	var links []struct {
		Stats struct {
			RX, TX struct{ Bytes uint64 }
		} `json:"stats64"`
	}
	if err := json.Unmarshal([]byte(out), &links); err != nil || len(links) != 1 {
		t.Fatalf("ip link show %s: %v in %s", device, err, out)
	}
	return links[0].Stats.RX.Bytes, links[0].Stats.TX.Bytes
}
