package routerproto

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func sampleConfig() *Config {
	return &Config{
		BGP: BGP{
			AS: 65515, RouterID: netip.MustParseAddr("10.30.0.6"),
			Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")},
			Neighbors: []Neighbor{
				{Name: "oci1", Address: netip.MustParseAddr("169.254.21.4"), LocalAddress: netip.MustParseAddr("169.254.21.5"),
					AS: 31898, Interface: "oci1", HoldTime: 90 * time.Second, Password: "hunter2", ImportMax: 1000},
				{Name: "plain", Address: netip.MustParseAddr("fe80::1%eth1"), AS: 31898},
			},
		},
		Routing: Routing{
			Metric: 20, GuardMetric: 4096, MaxPaths: 16,
			Protect:        []netip.Prefix{netip.MustParsePrefix("10.2.0.0/16")},
			OuterEndpoints: []netip.Addr{netip.MustParseAddr("192.168.1.1")},
			Tunnels:        []Tunnel{{Name: "oci1", Interface: "oci1"}},
		},
	}
}

func sampleMessages() []Message {
	t := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return []Message{
		{Config: sampleConfig()},
		{Status: &Status{
			Time: t, Started: t, Phase: PhaseHold,
			Peers:        []Peer{{Name: "oci1", Address: netip.MustParseAddr("169.254.21.4"), State: "Established", Since: t, PrefixesReceived: 3}},
			Routes:       []Route{{Prefix: netip.MustParsePrefix("10.2.0.0/16"), Metric: 20, Nexthops: []Nexthop{{Interface: "oci1", Gateway: netip.MustParseAddr("169.254.21.4"), Up: true}}, Installed: true}},
			Guards:       []Guard{{Prefix: netip.MustParsePrefix("10.2.0.0/16"), Installed: true}},
			LastFailover: &Failover{Tunnel: "oci1", Time: t, Duration: 230 * time.Microsecond, Groups: 1, Routes: 100000},
			Counters:     Counters{RoutesInstalled: 1, RouteNexthops: 8},
		}},
		{Log: &Log{Time: t, Level: slog.LevelWarn, Message: "bgp session down", Attrs: []Attr{{"neighbor", "oci1"}}}},
	}
}

var equal = cmp.Options{
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmpopts.EquateEmpty(),
}

func TestRoundTrip(t *testing.T) {
	var stream bytes.Buffer
	for _, m := range sampleMessages() {
		b, err := Append(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		stream.Write(b)
	}
	for _, want := range sampleMessages() {
		got, err := Read(&stream)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, equal); d != "" {
			t.Errorf("changed on the way (-sent +received):\n%s", d)
		}
	}
	if _, err := Read(&stream); err != io.EOF {
		t.Errorf("at the end: %v, want io.EOF", err)
	}
}

func TestNoPrefixParses(t *testing.T) {
	for _, m := range sampleMessages() {
		b, err := Append(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n < len(b); n++ {
			if _, err := Read(bytes.NewReader(b[:n])); err == nil || errors.Is(err, io.EOF) {
				t.Fatalf("%d of %d bytes: %v, want an error other than io.EOF", n, len(b), err)
			}
		}
	}
}

func frameOf(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestReadRefuses(t *testing.T) {
	for want, b := range map[string][]byte{
		"limit":       binary.BigEndian.AppendUint32(nil, MaxFrame+1),
		"decode":      frameOf("{"),
		"version 2":   frameOf(`{"version":2,"log":{}}`),
		"exactly one": frameOf(`{"version":1}`),
		"one of":      frameOf(`{"version":1,"log":{},"status":{}}`),
		"unexpected":  append(binary.BigEndian.AppendUint32(nil, MaxFrame), "short"...),
	} {
		if _, err := Read(bytes.NewReader(b)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	if _, err := Append(nil, Message{}); err == nil {
		t.Error("an empty message was encoded")
	}
	if _, err := Append(nil, Message{Log: &Log{Message: strings.Repeat("x", MaxFrame)}}); err == nil {
		t.Error("a message beyond the limit was encoded")
	}
}

func TestSecretsTravelButAreNotPrinted(t *testing.T) {
	c := sampleConfig()
	b, err := Append(nil, Message{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(bytes.NewReader(b))
	if err != nil || m.Config.BGP.Neighbors[0].Password != "hunter2" {
		t.Fatalf("the password did not arrive: %v", err)
	}
	js, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "config", c, "password", c.BGP.Neighbors[0].Password)
	fmt.Fprintf(&out, "%s %v %+v %#v", js, *c, *c, *c)
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("printed: %s", out.String())
	}
}

func FuzzRead(f *testing.F) {
	for _, m := range sampleMessages() {
		b, err := Append(nil, m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(frameOf(`{"version":1,"config":{"bgp":{"neighbors":[{"name":"a","address":"::"}]}},"secrets":{"a":"b"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		// What was read can be written, and is read as the same again.
		again, err := Append(nil, m)
		if err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		n, err := Read(bytes.NewReader(again))
		if err != nil {
			t.Fatalf("written but not read: %v", err)
		}
		third, err := Append(nil, n)
		if err != nil || !bytes.Equal(again, third) {
			t.Fatalf("%v\n%s\n%s", err, again, third)
		}
	})
}
