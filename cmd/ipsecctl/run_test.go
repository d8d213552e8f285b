package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/cmd/internal/vici"
	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// daemon is a VICI server on a daemon in a given state.
type daemon struct {
	*statustest.Control
	uri string
}

func startDaemon(t *testing.T) *daemon {
	t.Helper()
	d := &daemon{statustest.NewControl(statustest.New()), "unix://" + filepath.Join(t.TempDir(), "s.vici")}
	srv, err := vici.Listen(d.uri, d.Control, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return d
}

// result is what a run of ipsecctl gave.
type result struct {
	status         int
	stdout, stderr string
}

// ctl runs ipsecctl in an environment of these variables.
func ctl(t *testing.T, vars map[string]string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	status := run(ctx, append([]string{"ipsecctl"}, args...), environment{
		stdout: &out, stderr: &errs, tty: vars["tty"] != "", getenv: func(k string) string { return vars[k] },
	})
	return result{status, out.String(), errs.String()}
}

// at runs ipsecctl on the daemon.
func (d *daemon) at(t *testing.T, args ...string) result {
	t.Helper()
	return ctl(t, map[string]string{viciclient.URIVariable: d.uri}, args...)
}

func compare(t *testing.T, want, got result) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.AllowUnexported(result{})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// What the operator typed wrongly is named, and the exit status says so.
func TestUsageErrors(t *testing.T) {
	d := startDaemon(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"shwo"}, `unknown command "shwo": one of show, sa, reload, check-config, version is expected`},
		{[]string{"show", "tunnel"}, `unknown command "tunnel": one of sa, policy, routes, pools, bgp is expected`},
		{[]string{"show", "sa", "hq"}, `unexpected argument "hq"`},
		{[]string{"show", "--frob"}, "flag provided but not defined: -frob; see ipsecctl --help"},
		{[]string{"sa"}, "sa: list, up, down or rekey is expected"},
		{[]string{"sa", "upp", "hq"}, `unknown command "upp": one of list, up, down, rekey is expected`},
		{[]string{"sa", "up"}, "up: one NAME is expected: a connection, a child, or connection/child"},
		{[]string{"sa", "down", "a", "b"}, "down: one NAME is expected: a connection, a child, or connection/child"},
		{[]string{"reload", "now"}, `unexpected argument "now"`},
		{[]string{"version", "now"}, `unexpected argument "now"`},
		{[]string{"-s", "tdb"}, "-s tdb: sa, flow or all is expected"},
		{[]string{"show", "--uri", "/run/x"}, "--uri /run/x: unix:///path or tcp://host:port is expected"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			compare(t, result{exitUsage, "", "ipsecctl: " + tt.want + "\n"}, d.at(t, tt.args...))
		})
	}
}

func TestUnreachable(t *testing.T) {
	uri := "unix://" + filepath.Join(t.TempDir(), "none.vici")
	want := "ipsecctl: cannot reach ipsecd at " + uri + ": connect: no such file or directory; is it running? (systemctl status ipsecd)\n"
	for _, args := range [][]string{{"show"}, {"sa", "up", "hq"}, {"reload"}, {"-s", "all"}} {
		compare(t, result{exitUnreachable, "", want}, ctl(t, nil, append(args, "--uri", uri)...))
	}
	compare(t, result{exitUnreachable, "ipsecctl " + buildVersion() + "\n", want}, ctl(t, nil, "version", "--uri", uri))
}

// strongSwan's daemon at the socket is told from ours that is not there.
func TestOtherDaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.vici")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for _, reply := range []string{
			"\x00\x00\x00\x01\x02",                             // the command is unknown
			"\x00\x00\x00\x11\x01\x03\x06daemon\x00\x06charon", // version
		} {
			if err := skipPacket(c); err != nil {
				return
			}
			if _, err := io.WriteString(c, reply); err != nil {
				return
			}
		}
		// govici may see the end of the connection before the reply in front of it.
		_ = skipPacket(c)
	}()
	compare(t, result{exitUnreachable, "", "ipsecctl: charon answers at unix://" + path + ", not ipsecd: stop it, or name ipsecd's socket with --uri\n"},
		ctl(t, nil, "show", "--uri", "unix://"+path))
}

// skipPacket reads a packet of VICI: its length may come apart from the rest.
func skipPacket(c net.Conn) error {
	var length uint32
	if err := binary.Read(c, binary.BigEndian, &length); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, c, int64(length))
	return err
}

// An option may stand anywhere, also behind the arguments and in front of the
// command; the one given comes before the environment.
func TestOptionsAnywhere(t *testing.T) {
	d := startDaemon(t)
	want := d.at(t, "show", "bgp", "--json")
	if want.status != exitOK || !strings.HasPrefix(want.stdout, "{") {
		t.Fatalf("%+v", want)
	}
	wrong := map[string]string{viciclient.URIVariable: "unix:///nonexistent"}
	for _, args := range [][]string{
		{"--uri", d.uri, "--json", "show", "bgp"},
		{"show", "--json", "--uri=" + d.uri, "bgp"},
		{"--json", "show", "bgp", "--vici", d.uri},
	} {
		compare(t, want, ctl(t, wrong, args...))
	}
	d.OnReload = func(bool) (string, error) { return "nothing changes; 3 unchanged\n", nil }
	if got := d.at(t, "sa", "rekey", "lab/a", "--json"); got.status != exitOK || !strings.HasPrefix(got.stdout, "{") {
		t.Errorf("an option behind the argument: %+v", got)
	}
	if got := d.at(t, "sa", "rekey", "--", "--json"); got.status != exitFailed || !strings.Contains(got.stderr, "no connection or child is named --json") {
		t.Errorf("an argument behind --: %+v", got)
	}
}

// Colour is for terminals whose owners want it.
func TestColour(t *testing.T) {
	d := startDaemon(t)
	for _, tt := range []struct {
		vars map[string]string
		args []string
		want bool
	}{
		{map[string]string{"tty": "yes"}, nil, true},
		{map[string]string{"tty": "yes"}, []string{"--no-color"}, false},
		{map[string]string{"tty": "yes", "NO_COLOR": "1"}, nil, false},
		{map[string]string{"tty": "yes", "TERM": "dumb"}, nil, false},
		{nil, nil, false},
	} {
		got := ctl(t, tt.vars, append([]string{"--uri", d.uri, "show"}, tt.args...)...)
		if got.status != exitOK || strings.Contains(got.stdout, "\x1b[") != tt.want {
			t.Errorf("%v %v: colour is not %v in %+v", tt.vars, tt.args, tt.want, got)
		}
	}
}

// The command line stays small and cannot be brought down by what it does not
// use: GoBGP belongs to the router process.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 50 {
		t.Fatalf("%d dependencies: nothing was tested", len(deps))
	}
	for _, d := range deps {
		for _, forbidden := range []string{"osrg/gobgp", "google.golang.org/grpc", "prometheus/", "vishvananda/netlink", "ipsecd/cmd/internal/daemon/", "ipsecd/cmd/internal/vici/"} {
			if strings.Contains(d+"/", forbidden) {
				t.Errorf("depends on %s", d)
			}
		}
	}
}
