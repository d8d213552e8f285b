package updown

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// syncBuffer is a log that goroutines share.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func selector(s string) ike.TrafficSelector { return ike.PrefixSelector(netip.MustParsePrefix(s)) }

// event is about a CHILD_SA with one pair of networks.
func event(up bool, id uint32, script string) ike.UpDown {
	return ike.UpDown{
		Up: up,
		Child: &ike.ChildSA{
			ID: id, Connection: "gw", ReqID: 7, Config: &ike.ChildConfig{Name: "net", Updown: script},
			Local: addr("192.0.2.1"), Remote: addr("192.0.2.2"),
			LocalTS: []ike.TrafficSelector{selector("10.1.0.0/16")}, RemoteTS: []ike.TrafficSelector{selector("10.2.0.0/16")},
		},
		SA: ike.IKESAInfo{
			ID: 3, Local: netip.MustParseAddrPort("192.0.2.1:500"), Remote: netip.MustParseAddrPort("192.0.2.2:500"),
			LocalID: auth.Identity{Type: auth.IDFQDN, Data: "a.example"}, RemoteID: auth.Identity{Type: auth.IDFQDN, Data: "b.example"},
		},
	}
}

func newRunner(t *testing.T, o Options) (*Runner, *syncBuffer) {
	t.Helper()
	var log syncBuffer
	return New(slog.New(slog.NewTextHandler(&log, nil)), o, func(netip.Addr, netip.Addr) string { return "eth0" }), &log
}

// await waits until a condition holds.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func closeAll(t *testing.T, r *Runner) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if !r.Close(ctx) {
		t.Fatal("scripts are still running")
	}
}

// TestScript has a real shell tell what it is told, and its output in the log; at the end what is up goes down.
func TestScript(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	r, log := newRunner(t, Options{Timeout: time.Minute, DNS: true})
	r.Put(event(true, 1, `echo "$PLUTO_VERB $PLUTO_CONNECTION $PLUTO_INTERFACE $PLUTO_MY_CLIENT" | tee -a `+file+`; echo oops >&2`))
	await(t, "the script's output", func() bool { return strings.Contains(log.String(), "oops") })
	closeAll(t, r)
	got, err := os.ReadFile(file)
	if want := "up-client net eth0 10.1.0.0/16\ndown-client net eth0 10.1.0.0/16\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v; expected %q", got, err, want)
	}
	for _, want := range []string{`msg="updown: up-client net eth0 10.1.0.0/16" group=CHD connection=gw child=net`, `msg="updown: oops"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, log)
		}
	}
}

// TestOrder tells the events of one tunnel in order, also when a new CHILD_SA takes over before the old one goes; a tunnel
// that went up and down unseen is not told.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	gate, file := filepath.Join(dir, "gate"), filepath.Join(dir, "out")
	script := fmt.Sprintf(`touch %[1]s.waits; while [ ! -e %[1]s ]; do sleep 0.01; done; echo "${PLUTO_VERB%%%%-*}-$PLUTO_UNIQUEID" >> %[2]s`, gate, file)
	r, _ := newRunner(t, Options{Timeout: time.Minute})
	put := func(up bool, sa uint32) {
		ev := event(up, sa, script)
		ev.SA.ID = sa
		r.Put(ev)
	}
	put(true, 1)
	await(t, "the first script, which waits", func() bool { _, err := os.Stat(gate + ".waits"); return err == nil })
	put(false, 1)
	put(true, 2)
	put(false, 2) // with the one before, unseen
	put(true, 3)
	put(true, 4)
	put(false, 3)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	closeAll(t, r)
	got, err := os.ReadFile(file)
	if want := "up-1 down-1 up-3 up-4 down-3 down-4"; err != nil || strings.Join(strings.Fields(string(got)), " ") != want {
		t.Errorf("%s, %v; expected %s", got, err, want)
	}
}

// TestTimeout ends a script that hangs, with what it has started.
func TestTimeout(t *testing.T) {
	r, log := newRunner(t, Options{Timeout: 100 * time.Millisecond})
	r.Put(event(true, 1, "sleep 1000 & sleep 1000; echo survived"))
	await(t, "the end of the script", func() bool { return strings.Contains(log.String(), "killed") })
	closeAll(t, r)
	if s := log.String(); strings.Count(s, "updown script was killed") != 2 || strings.Contains(s, "updown: survived") {
		t.Errorf("log:\n%s", s)
	}
}

// TestProgramLeftBehind does not wait for what a script has started and left, though that has its output open.
func TestProgramLeftBehind(t *testing.T) {
	r, log := newRunner(t, Options{Timeout: time.Minute})
	r.Put(event(true, 1, `[ "$PLUTO_VERB" = down-client ] || { sleep 60 & echo "left $!"; }`))
	await(t, "the start of the script", func() bool { return strings.Contains(log.String(), "updown: left ") })
	_, rest, _ := strings.Cut(log.String(), "updown: left ")
	var pid int
	if _, err := fmt.Sscan(strings.Trim(strings.Fields(rest)[0], `"`), &pid); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	closeAll(t, r)
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the program has ended: nothing is tested: %v", err)
	}
	if s := log.String(); strings.Contains(s, "killed") || strings.Contains(s, "failed") {
		t.Errorf("log:\n%s", s)
	}
}

// TestFailure names the script that fails.
func TestFailure(t *testing.T) {
	r, log := newRunner(t, Options{Timeout: time.Minute})
	r.Put(event(true, 1, "exit 3"))
	await(t, "the failure", func() bool { return strings.Contains(log.String(), "failed") })
	closeAll(t, r)
	if s := log.String(); !strings.Contains(s, `level=WARN msg="updown script failed" group=CHD connection=gw child=net script="exit 3" err="exit status 3"`) {
		t.Errorf("log:\n%s", s)
	}
}
