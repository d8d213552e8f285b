package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/cmd/internal/vici"
	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
	"github.com/ipsecd/ipsecd/ike"
)

// result is what a run of the command did.
type result struct {
	status         int
	stdout, stderr string
}

// serve starts a daemon's VICI server and returns its URI.
func serve(t *testing.T, ctl *statustest.Control) string {
	t.Helper()
	uri := "unix://" + filepath.Join(t.TempDir(), "vici")
	s, err := vici.Listen(uri, ctl, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return uri
}

// ipsec runs the command; programs that it would run are written instead.
func ipsec(t *testing.T, uri string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	env := environment{
		stdout: &out, stderr: &errs,
		getenv: func(name string) string {
			if name == viciclient.URIVariable {
				return uri
			}
			return ""
		},
		exec: func(_ context.Context, env environment, name string, args ...string) error {
			_, err := out.WriteString(strings.Join(append([]string{name}, args...), " ") + "\n")
			return err
		},
	}
	status := run(t.Context(), args, env)
	return result{status, out.String(), errs.String()}
}

func wantLines(t *testing.T, want, got string) {
	t.Helper()
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestStatus(t *testing.T) {
	uri := serve(t, statustest.NewControl(statustest.New()))
	want := `Routed Connections:
           a{2}:  ROUTED, TUNNEL, reqid 2
           a{2}:   10.1.0.0/16 === 10.2.0.0/16
Security Associations (2 up, 1 connecting):
         lab[2]: ESTABLISHED 3 hours ago, 192.0.2.1[192.0.2.1]...192.0.2.77[192.0.2.77]
           a{9}:  INSTALLED, TUNNEL, reqid 2, ESP SPIs: c0ffee09_i decade09_o
           a{9}:   10.1.0.0/16 === 10.2.0.0/16
`
	wantLines(t, want, ipsec(t, uri, "status", "a").stdout)
}

// The figures of statusall are those that exporters read by pattern.
func TestStatusAll(t *testing.T) {
	uri := serve(t, statustest.NewControl(statustest.New()))
	got := ipsec(t, uri, "statusall", "hq")
	for _, want := range []string{
		"Connections:\n          hq:  192.0.2.1...203.0.113.7  IKEv2, dpddelay=10s\n" +
			"          hq:   local:  [192.0.2.1] uses pre-shared key authentication\n" +
			"          hq:   remote: [203.0.113.7] uses pre-shared key authentication\n" +
			"         net:   child:  0.0.0.0/0 === 0.0.0.0/0 TUNNEL\n",
		"          hq[1]: IKEv2 SPIs: 00000000000000a1_i* 00000000000000b1_r, rekeying in 60 minutes\n" +
			"          hq[1]: IKE proposal: AES_GCM_16_256/PRF_HMAC_SHA2_384/ECP_384\n",
		"         net{7}:  REKEYED, TUNNEL, reqid 1, expires in 37 minutes\n" +
			"         net{7}:   0.0.0.0/0 === 0.0.0.0/0\n",
		"         net{8}:  INSTALLED, TUNNEL, reqid 1, ESP in UDP SPIs: c0ffee08_i decade08_o\n" +
			"         net{8}:  AES_CBC_128/HMAC_SHA2_256_128/MODP_2048, 1500 bytes_i (15 pkts, 1s ago), 840 bytes_o (10 pkts, 2s ago), rekeying in 31 minutes\n" +
			"         net{8}:   0.0.0.0/0 === 0.0.0.0/0\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("missing:\n%s\nin:\n%s", want, got.stdout)
		}
	}
	if strings.Contains(got.stdout, "lab[") || got.status != exitOK {
		t.Errorf("status %d, output:\n%s", got.status, got.stdout)
	}
}

func TestNoMatch(t *testing.T) {
	uri := serve(t, statustest.NewControl(statustest.New()))
	got := ipsec(t, uri, "status", "nosuch")
	if got.stdout != "Security Associations (2 up, 1 connecting):\n  no match\n" || got.status != exitOK {
		t.Errorf("%+v", got)
	}
}

// Service scripts tell by the exit status whether the daemon runs.
func TestStopped(t *testing.T) {
	uri := "unix://" + filepath.Join(t.TempDir(), "none")
	for verb, want := range map[string]int{"status": exitStopped, "statusall": exitStopped, "reload": exitNotUp, "listcerts": exitNotUp} {
		got := ipsec(t, uri, verb)
		if got.status != want || !strings.Contains(got.stderr, "cannot reach ipsecd") {
			t.Errorf("%s: %+v, want status %d", verb, got, want)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"nosuch"}, {"up"}, {"status", "a", "b"}} {
		if got := ipsec(t, "unix:///nowhere", args...); got.status != exitUsage || got.stderr == "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestUp(t *testing.T) {
	ctl := statustest.NewControl(statustest.New())
	var asked ike.Event
	ctl.OnDo = func(ev ike.Event) { asked = ev }
	uri := serve(t, ctl)
	got := ipsec(t, uri, "up", "a")
	if want := (ike.Initiate{Connection: "lab", Child: "a"}); asked != want || got.status != exitOK ||
		!strings.HasSuffix(got.stdout, "connection 'a' established successfully\n") {
		t.Errorf("asked for %+v: %+v", asked, got)
	}
	got = ipsec(t, uri, "up", "nosuch")
	if got.status != exitFailed || got.stdout != "no config named 'nosuch'\n" {
		t.Errorf("%+v", got)
	}
}

func TestDown(t *testing.T) {
	for arg, want := range map[string]ike.Terminate{
		"lab": {Connection: "lab"}, "lab[2]": {Connection: "lab", IKEID: 2}, "a{9}": {Child: "a", ChildID: 9},
		"a{*}": {Child: "a"}, "[2]": {IKEID: 2}, "{9}": {ChildID: 9},
	} {
		ctl := statustest.NewControl(statustest.New())
		var asked ike.Event
		ctl.OnDo = func(ev ike.Event) {
			asked = ev
			st := statustest.New()
			st.Engine.IKESAs = nil
			ctl.Set(st)
		}
		if got := ipsec(t, serve(t, ctl), "down", arg); asked != want || got.status != exitOK {
			t.Errorf("down %s asked for %+v: %+v", arg, asked, got)
		}
	}
	uri := serve(t, statustest.NewControl(statustest.New()))
	for _, bad := range []string{"{", "[*]", "a{1", "nosuch"} {
		if got := ipsec(t, uri, "down", bad); got.status != exitFailed {
			t.Errorf("down %s: %+v", bad, got)
		}
	}
}

// A configuration with errors is told of, and the exit status says so.
func TestReload(t *testing.T) {
	ctl := statustest.NewControl(statustest.New())
	ctl.OnReload = func(bool) (string, error) { return "", errors.New("/etc/ipsec.conf:3: no such key") }
	got := ipsec(t, serve(t, ctl), "rereadall")
	if got.status != exitFailed || !strings.Contains(got.stderr, "/etc/ipsec.conf:3") {
		t.Errorf("%+v", got)
	}
}

func TestService(t *testing.T) {
	got := ipsec(t, "", "restart")
	if !strings.HasSuffix(got.stdout, "systemctl restart ipsecd.service\n") || got.status != exitOK {
		t.Errorf("%+v", got)
	}
}

func TestListAlgorithms(t *testing.T) {
	got := ipsec(t, serve(t, statustest.NewControl(statustest.New())), "listalgs")
	if !strings.Contains(got.stdout, "  aead:       AES_GCM_16[ipsecd]") {
		t.Errorf("%+v", got)
	}
}
