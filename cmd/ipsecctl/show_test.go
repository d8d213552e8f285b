package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
)

// What is printed is what package show makes of the daemon's status; the
// layout is tested there.
func TestShow(t *testing.T) {
	d := startDaemon(t)
	r := show.NewReport(statustest.New())
	for _, tt := range []struct {
		args  []string
		write func(*bytes.Buffer) error
	}{
		{[]string{"show"}, func(b *bytes.Buffer) error { return show.WriteTunnels(b, r, show.Style{}) }},
		{[]string{"show", "sa"}, func(b *bytes.Buffer) error { return show.WriteSAs(b, r, show.Style{}) }},
		{[]string{"sa", "list"}, func(b *bytes.Buffer) error { return show.WriteSAs(b, r, show.Style{}) }},
		{[]string{"show", "policy"}, func(b *bytes.Buffer) error { return show.WritePolicies(b, r) }},
		{[]string{"show", "flow"}, func(b *bytes.Buffer) error { return show.WritePolicies(b, r) }},
		{[]string{"show", "routes"}, func(b *bytes.Buffer) error { return show.WriteRoutes(b, r) }},
		{[]string{"show", "bgp"}, func(b *bytes.Buffer) error { return show.WriteBGP(b, r, show.Style{}) }},
		{[]string{"-s", "sa"}, func(b *bytes.Buffer) error { return show.OpenBSD(b, r, "sa") }},
		{[]string{"-s", "flow"}, func(b *bytes.Buffer) error { return show.OpenBSD(b, r, "flow") }},
		{[]string{"-s", "all"}, func(b *bytes.Buffer) error { return show.OpenBSD(b, r, "all") }},
	} {
		var want bytes.Buffer
		if err := tt.write(&want); err != nil {
			t.Fatal(err)
		}
		compare(t, result{exitOK, want.String(), ""}, d.at(t, tt.args...))
	}
}

// Each view's JSON is that part of the report; "show" has all of it.
func TestShowJSON(t *testing.T) {
	d := startDaemon(t)
	for _, tt := range []struct{ command, keys string }{
		{"show", "bgp policies pools reload router routes sas software started taken tunnels version"},
		{"show sa", "sas taken version"},
		{"sa list", "sas taken version"},
		{"show policy", "policies taken version"},
		{"show routes", "router routes taken version"},
		{"show pools", "pools taken version"},
		{"show bgp", "bgp router taken version"},
		{"-s all", "policies sas taken version"},
	} {
		got := d.at(t, append(strings.Fields(tt.command), "--json")...)
		var v map[string]any
		if err := json.Unmarshal([]byte(got.stdout), &v); err != nil || got.status != exitOK {
			t.Errorf("%s: %v: %+v", tt.command, err, got)
		}
		var keys []string
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if s := strings.Join(keys, " "); s != tt.keys {
			t.Errorf("%s: keys %s, want %s", tt.command, s, tt.keys)
		}
	}
	var part struct{ SAs []show.SA }
	if err := json.Unmarshal([]byte(d.at(t, "show", "sa", "--json").stdout), &part); err != nil {
		t.Fatal(err)
	}
	if got := part.SAs[0].Children[1]; got.SPIIn != "c0ffee08" || got.Traffic.BytesIn != 1500 || got.Traffic.PacketsOut != 10 {
		t.Errorf("CHILD_SA %+v", got)
	}
}

// A report of more than one reply arrives whole.
func TestShowManySAs(t *testing.T) {
	d := startDaemon(t)
	st := statustest.New()
	for range 3000 {
		st.Engine.IKESAs = append(st.Engine.IKESAs, st.Engine.IKESAs[0])
	}
	d.Set(st)
	got := d.at(t, "show", "sa")
	if n := strings.Count(got.stdout, "ESTABLISHED"); got.status != exitOK || n != 3002 {
		t.Errorf("status %d, %d established SAs, want 3002; %s", got.status, n, got.stderr)
	}
}

func TestNoSecretIsPrinted(t *testing.T) {
	d := startDaemon(t)
	for _, command := range []string{"show", "show sa", "show policy", "show routes", "show bgp", "-s all", "version"} {
		for _, option := range []string{"--json", "--no-color"} {
			got := d.at(t, append(strings.Fields(command), option)...)
			if out := got.stdout + got.stderr; strings.Contains(out, statustest.Canary) || strings.Contains(out, "Y2FuYXJ5LXBzay") {
				t.Errorf("%s %s prints the secret", command, option)
			}
		}
	}
}
