package daemon

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

// TestGovici runs govici's own tests, those that want a daemon among them, against us.
func TestGovici(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "vici")
	program := buildGovici(t, filepath.Join(dir, "govici"), socket)
	d := &restarted{t: t, dir: dir, socket: socket, log: &logBuffer{}}
	d.start()
	defer d.stop()

	// One of them has systemctl stop and start the daemon: this one leaves word for us and waits.
	script := fmt.Sprintf("#!/bin/sh\nset -e\ntouch '%[1]s/'$1.asked\nwhile [ ! -e '%[1]s/'$1.done ]; do sleep 0.05; done\nrm '%[1]s/'$1.done\n", dir)
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.v", "-test.timeout", "5m", "-integration")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	var out logBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			passed := strings.Count(out.String(), "--- PASS")
			if err != nil || passed < 50 || strings.Contains(out.String(), "--- SKIP") || d.restarts != 1 {
				t.Errorf("%v, %d tests passed, %d restarts\n%s\nour log:\n%s", err, passed, d.restarts, &out, d.log)
			}
			return
		case <-time.After(20 * time.Millisecond):
			d.serve("stop", d.stop)
			d.serve("start", d.start)
		}
	}
}

// buildGovici compiles the tests of the govici that we use, for our socket in the place of charon's. Tests of its own connection,
// which need no daemon and a package that the standard library no longer has, are left out.
func buildGovici(t *testing.T, dir, socket string) string {
	t.Helper()
	source, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/strongswan/govici").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(string(source)))); err != nil {
		t.Fatal(err)
	}
	const defaults = "vici/default_session_opts_unix.go"
	conn := filepath.Join(dir, "vici/client_conn_test.go")
	b, err := os.ReadFile(filepath.Join(dir, defaults))
	if err == nil {
		// Modules are read-only, and so are their copies.
		if err = os.Remove(filepath.Join(dir, defaults)); err == nil {
			err = os.Remove(conn)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	ours := strings.ReplaceAll(string(b), "/var/run/charon.vici", socket)
	if ours == string(b) {
		t.Fatalf("govici's default socket is not in its %s", defaults)
	}
	if err := os.WriteFile(filepath.Join(dir, defaults), []byte(ours), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "govici.test")
	cmd := exec.Command("go", "test", "-c", "-o", program, "./vici")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// restarted is a daemon that is stopped and started.
type restarted struct {
	t           *testing.T
	dir, socket string
	log         *logBuffer
	end         func()
	restarts    int
}

func (d *restarted) start() {
	d.t.Helper()
	file := filepath.Join(d.dir, "ipsecd.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, "ports {\n ike = %d\n nat_t = %d\n}\n", testPorts().govici, testPorts().govici+1), 0o600); err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	ready := make(chan bool, 1)
	go func() {
		_, err := Run(ctx, Options{
			ConfigFile: file, VICI: "unix://" + d.socket, Version: "test", LogLevel: "debug",
			Log:    slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Kernel: xfrmtest.New(), Rand: rand.Reader,
			Notify: func(state ...string) {
				if strings.Join(state, " ") == "READY=1" {
					select {
					case ready <- true:
					default: // after a reload
					}
				}
			},
		})
		done <- err
	}()
	select {
	case <-ready:
	case err := <-done:
		d.t.Fatalf("the daemon ended: %v", err)
	}
	d.end = func() {
		cancel()
		if err := <-done; err != nil {
			d.t.Error(err)
		}
	}
}

func (d *restarted) stop() { d.end() }

// serve does what systemctl was asked for.
func (d *restarted) serve(verb string, do func()) {
	if os.Remove(filepath.Join(d.dir, verb+".asked")) != nil {
		return
	}
	do()
	if verb == "start" {
		d.restarts++
	}
	if err := os.WriteFile(filepath.Join(d.dir, verb+".done"), nil, 0o600); err != nil {
		d.t.Error(err)
	}
}
