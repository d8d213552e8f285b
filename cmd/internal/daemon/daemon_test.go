package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/handover"
	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

// peer is a daemon on the loopback interface with real sockets, files and VICI,
// over a fake kernel.
type peer struct {
	first   bool
	kernel  *xfrmtest.Kernel
	session *vici.Session
	file    string
	socket  string // of VICI
	log     *logBuffer
	upgrade chan os.Signal
	done    chan result
	stop    func() error
}

const peerConfig = `
ports {
  ike = %[1]d
  nat_t = %[2]d
}
connections {
  loop {
    local_addrs = %[3]s
    remote_addrs = %[4]s
    remote_port = %[5]d
    proposals = aes256gcm16-prfsha384-ecp384
    local {
      auth = psk
      id = %[3]s
    }
    remote {
      auth = psk
      id = %[4]s
    }
    children {
      net {
        local_ts = 0.0.0.0/0
        remote_ts = 0.0.0.0/0
        esp_proposals = aes256gcm16-ecp384
        interface = tun1
        start_action = %[6]s
      }
    }
  }
}
interfaces {
  tun1 {
    if_id = 1
    addresses = 169.254.21.5/31
  }
}
secrets {
  ike-loop { secret = "%[7]s" }
}
`

// canary is a pre-shared key that no log may hold.
const canary = "canary-7f3a9c"

func writePeerConfig(t testing.TB, file string, first bool, start, secret string) {
	t.Helper()
	port, other := testPorts().first, testPorts().second
	local, remote := "127.0.0.1", "127.0.0.2"
	if !first {
		port, other, local, remote = other, port, remote, local
	}
	// A remote port other than 500 is a NAT-T port: those packets carry the marker.
	text := fmt.Sprintf(peerConfig, port, port+1, local, remote, other+1, start, secret)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func startPeer(t testing.TB, first bool, start, secret string) *peer {
	t.Helper()
	dir := t.TempDir()
	p := &peer{first: first, kernel: xfrmtest.New(), file: filepath.Join(dir, "ipsecd.conf"), socket: filepath.Join(dir, "vici"), log: &logBuffer{}}
	writePeerConfig(t, p.file, first, start, secret)
	p.start(t, nil)
	return p
}

// result is what Run returned.
type result struct {
	next *handover.Bundle
	err  error
}

// start runs the daemon, which goes on with what another one has left.
func (p *peer) start(t testing.TB, inherited *handover.Bundle) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan result, 1)
	ready := make(chan struct{}, 1)
	p.upgrade, p.done = make(chan os.Signal, 1), done
	go func() {
		next, err := Run(ctx, Options{
			ConfigFile: p.file,
			VICI:       "unix://" + p.socket,
			Version:    "test",
			Program:    "/bin/true",
			LogLevel:   "debug",
			Log:        slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Kernel:     p.kernel,
			Rand:       rand.Reader,
			Upgrade:    p.upgrade,
			Inherited:  inherited,
			Notify: func(state ...string) {
				if strings.Join(state, " ") == "READY=1" {
					ready <- struct{}{}
				}
			},
		})
		done <- result{next, err}
	}()
	stopped := false
	p.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		select {
		case r := <-done:
			return r.err
		case <-time.After(30 * time.Second):
			return errors.New("the daemon does not stop")
		}
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("log of %v:\n%s", p.first, p.log)
		}
	})
	select {
	case <-ready:
	case r := <-done:
		done <- r
		t.Fatalf("the daemon ended: %v", r.err)
	case <-time.After(30 * time.Second):
		t.Fatal("the daemon does not get ready")
	}
	var err error
	if p.session, err = vici.NewSession(vici.WithAddr("unix", p.socket)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.session.Close() })
}

// up reports whether the peer's interface is up and it has both SAs.
func (p *peer) up() bool {
	list, err := p.kernel.Interfaces()
	sas, serr := p.kernel.SAs()
	return err == nil && serr == nil && len(list) == 1 && list[0].Up && len(sas) == 2
}

// message has the keys and values.
func message(t testing.TB, kv []string) *vici.Message {
	t.Helper()
	m := vici.NewMessage()
	for i := 0; i < len(kv); i += 2 {
		if err := m.Set(kv[i], kv[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (p *peer) call(t testing.TB, command string, kv ...string) (*vici.Message, error) {
	t.Helper()
	m := message(t, kv)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return p.session.Call(ctx, command, m)
}

// stream returns the names of the sections of a command's events.
func (p *peer) stream(t *testing.T, command, event string, kv ...string) (names []string, err error) {
	t.Helper()
	m := message(t, kv)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for m, err := range p.session.CallStreaming(ctx, command, event, m) {
		if err != nil {
			return names, err
		}
		names = append(names, m.Keys()...)
	}
	return names, nil
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

func TestTwoDaemons(t *testing.T) {
	b := startPeer(t, false, "none", canary)
	a := startPeer(t, true, "start", canary)
	eventually(t, "tunnel up on both sides", func() bool { return a.up() && b.up() })

	if _, err := b.call(t, "rekey", "child", "net"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "child rekeyed", func() bool { return strings.Contains(a.log.String(), "rekeyed") })
	if _, err := a.call(t, "rekey", "ike", "loop"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "IKE SA rekeyed", func() bool { return strings.Contains(b.log.String(), "IKE_SA loop[2] rekeyed") })
	if _, err := a.call(t, "terminate", "ike", "loop"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "tunnel down on both sides", func() bool {
		sasA, _ := a.kernel.SAs()
		sasB, _ := b.kernel.SAs()
		return len(sasA) == 0 && len(sasB) == 0
	})
	if list, err := a.kernel.Interfaces(); err != nil || list[0].Up {
		t.Errorf("the interface is still up: %v, %v", list, err)
	}
	if _, err := a.call(t, "initiate", "child", "net"); err != nil {
		t.Fatalf("initiate: %v", err)
	}
	eventually(t, "tunnel up again", func() bool { return a.up() && b.up() })
	if err := a.stop(); err != nil {
		t.Error(err)
	}
	if got := strings.TrimSpace(a.kernel.String()); got != "" {
		t.Errorf("the stopped daemon left in the kernel:\n%s", got)
	}
	eventually(t, "peer learned of the stop", func() bool { return !b.up() })
	for _, p := range []*peer{a, b} {
		if strings.Contains(p.log.String(), canary) {
			t.Error("the log holds the pre-shared key")
		}
	}
}

// The trap of a child comes and goes beside its SAs, and holds traffic when they are gone.
func TestInstallUninstall(t *testing.T) {
	b := startPeer(t, false, "none", canary)
	a := startPeer(t, true, "none", canary)
	outward := func() int {
		policies, err := a.kernel.Policies()
		if err != nil {
			t.Fatal(err)
		}
		return len(slices.DeleteFunc(policies, func(p xfrm.PolicyInfo) bool { return p.Dir != xfrm.DirOut }))
	}
	traps := func() string {
		list, err := a.stream(t, "list-policies", "list-policy", "trap", "yes")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(list, " ")
	}
	if _, err := a.call(t, "initiate", "child", "net"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "tunnel up", func() bool { return a.up() && b.up() })
	sas, _ := a.kernel.SAs()
	if got := traps(); got != "" {
		t.Errorf("traps before install: %s", got)
	}
	for range 2 { // the second time changes nothing
		if _, err := a.call(t, "install", "child", "net"); err != nil {
			t.Fatal(err)
		}
	}
	if got := traps(); got != "loop/net" {
		t.Errorf("traps after install: %s", got)
	}
	if after, _ := a.kernel.SAs(); len(after) != 2 || after[0].ID() != sas[0].ID() {
		t.Errorf("install touched the SAs: %v, before %v", after, sas)
	}
	if _, err := a.call(t, "terminate", "ike", "loop"); err != nil {
		t.Fatal(err)
	}
	if n := outward(); n != 1 {
		t.Errorf("%d outbound policies without SAs, want the trap's", n)
	}
	if _, err := a.call(t, "uninstall", "child", "net"); err != nil {
		t.Fatal(err)
	}
	if n := outward(); n != 0 || traps() != "" {
		t.Errorf("%d outbound policies after uninstall; listed: %q", n, traps())
	}
	for command, want := range map[string]string{"uninstall": "policy 'net' not found", "install": "configuration name not found"} {
		if _, err := a.call(t, command, "child", "net", "ike", map[string]string{"install": "nosuch"}[command]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", command, err, want)
		}
	}
}

func TestReload(t *testing.T) {
	b := startPeer(t, false, "none", canary)
	a := startPeer(t, true, "start", canary)
	eventually(t, "tunnel up", func() bool { return a.up() && b.up() })
	sas := a.kernel.String()

	if err := os.WriteFile(a.file, []byte("connections {\n  x {\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.call(t, "reload-settings"); err == nil || !strings.Contains(err.Error(), "ipsecd.conf:") {
		t.Errorf("a broken file was reloaded, or its error names no place: %v", err)
	}
	writePeerConfig(t, a.file, true, "start", canary)
	if _, err := a.call(t, "reload-settings"); err != nil {
		t.Error(err)
	}
	if got := a.kernel.String(); got != sas {
		t.Errorf("a reload of the same configuration touched the kernel:\n%s\nbefore:\n%s", got, sas)
	}
	writePeerConfig(t, a.file, true, "none\n        rekey_time = 10m", canary)
	plan, err := a.call(t, "ipsecd-reload", "dry-run", "yes")
	if err != nil || !strings.Contains(fmt.Sprint(plan.Get("plan")), "loop.net") {
		t.Errorf("plan %v, %v", plan.Get("plan"), err)
	}
	if got := a.kernel.String(); got != sas {
		t.Error("a dry run touched the kernel")
	}
}

func TestWrongKeyIsExplained(t *testing.T) {
	b := startPeer(t, false, "none", canary)
	a := startPeer(t, true, "none", "another")
	_, err := a.call(t, "initiate", "child", "net")
	if err == nil || !strings.Contains(err.Error(), "AUTHENTICATION_FAILED") || !strings.Contains(err.Error(), "ipsecd.conf:") {
		t.Errorf("initiate: %v; the error should name the notify and the place in the configuration", err)
	}
	if sas, _ := b.kernel.SAs(); len(sas) != 0 {
		t.Errorf("SAs with a wrong key: %v", sas)
	}
}

// A connection with a mistake keeps no other from being served, not even over VICI, and is reported until it is corrected.
func TestStartWithAMistake(t *testing.T) {
	dir := t.TempDir()
	p := &peer{kernel: xfrmtest.New(), file: filepath.Join(dir, "ipsecd.conf"), socket: filepath.Join(dir, "vici"), log: &logBuffer{}}
	writePeerConfig(t, p.file, false, "none", canary)
	text, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(more string) {
		t.Helper()
		if err := os.WriteFile(p.file, append(slices.Clone(text), more...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("connections { late {\n remote_addrs = 192.0.2.9\n local { auth = psk }\n remote { auth = psk }\n rekeytime = 4h\n} }\n")
	p.start(t, nil)
	if got := p.conns(t); !slices.Equal(got, []string{"loop"}) || strings.Count(p.log.String(), "a connection is left out for a mistake") != 1 || !strings.Contains(p.log.String(), "rekeytime") {
		t.Errorf("serves %v; log:\n%s", got, p.log)
	}
	p.loadConn(t, "client", "10.1.0.0/24", "none")
	if got := p.conns(t); !slices.Equal(got, []string{"loop", "client"}) {
		t.Errorf("with a client's, serves %v", got)
	}
	if _, err := p.call(t, "ipsecd-reload"); err == nil {
		t.Error("a reload takes the mistake")
	}
	write("")
	if _, err := p.call(t, "ipsecd-reload"); err != nil {
		t.Errorf("a reload of what is corrected: %v", err)
	}
	text = []byte(strings.Replace(string(text), "loop {", "loop {\n version = 1", 1))
	write("")
	if _, err := p.call(t, "ipsecd-reload"); err == nil || !strings.Contains(err.Error(), "IKEv1 is not supported") {
		t.Errorf("a reload takes the connection away: %v", err)
	}
	if got := p.conns(t); !slices.Contains(got, "loop") {
		t.Errorf("serves %v", got)
	}
}

// After a crash, the policies of a connection whose file has a mistake by now would go, and its traffic leave in the clear.
func TestNoStartWithAMistakeAfterACrash(t *testing.T) {
	b, a := startPeer(t, false, "none", canary), startPeer(t, true, "start", canary)
	eventually(t, "the tunnel", func() bool { return a.up() && b.up() })
	text, err := os.ReadFile(a.file)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "connections { late {\n remote_addrs = 192.0.2.9\n local { auth = psk }\n remote { auth = psk }\n rekeytime = 4h\n} }\n"...)
	if err := os.WriteFile(a.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := a.kernel.Policies()
	if err != nil || len(before) == 0 {
		t.Fatalf("%d policies, %v", len(before), err)
	}
	_, err = Run(t.Context(), Options{ConfigFile: a.file, VICI: "unix://" + a.socket + "2", Log: slog.New(slog.DiscardHandler), Kernel: a.kernel, Rand: rand.Reader, Notify: func(...string) {}})
	if err == nil || !strings.Contains(err.Error(), "rekeytime") {
		t.Errorf("started: %v", err)
	}
	if after, err := a.kernel.Policies(); err != nil || len(after) != len(before) {
		t.Errorf("%d policies, then %d, %v", len(before), len(after), err)
	}
}

// conns are the names that list-conns has.
func (p *peer) conns(t *testing.T) (names []string) {
	t.Helper()
	for m, err := range p.session.CallStreaming(t.Context(), "list-conns", "list-conn", nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, m.Keys()...)
	}
	return names
}
