package vici

import (
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
)

func TestUnknownCommandAndEvent(t *testing.T) {
	_, s := serve(t, statustest.New())
	if _, err := s.Call(testContext(t), "no-such-command", nil); err == nil {
		t.Error("an unknown command was answered")
	}
	if err := s.Subscribe("no-such-event"); err == nil {
		t.Error("an unknown event was registered")
	}
}

// A client that registers for events and never reads is closed; others go on.
func TestSlowClientHarmsOnlyItself(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	if err := s.Subscribe("log"); err != nil {
		t.Fatal(err)
	}
	big := make([]byte, 60000)
	for i := range big {
		big[i] = 'x'
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range outQueue * 8 {
			ctl.Publish(ike.Note{Group: "IKE", Text: string(big)})
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("a client that does not read holds up the daemon's notes")
	}
}

// A client that sends what is no VICI is dropped or ignored; the next client is
// served, and so is one whose command finds a fault in the daemon.
func TestBadClientHarmsOnlyItself(t *testing.T) {
	ctl := statustest.NewControl(statustest.New())
	path := listenOn(t, ctl)
	for name, bad := range map[string]string{
		"huge segment":     "\xff\xff\xff\xff",
		"empty segment":    "\x00\x00\x00\x00",
		"unknown type":     "\x00\x00\x00\x01\x99",
		"name cut":         "\x00\x00\x00\x03\x00\x09a",
		"undecodable body": "\x00\x00\x00\x0a\x00\x07version\x99",
		"a server's own":   "\x00\x00\x00\x01\x05",
	} {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := io.WriteString(c, bad); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	s, err := vici.NewSession(vici.WithAddr("unix", path))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctl.OnReload = func(bool) (string, error) { panic("fault") }
	if _, err := s.Call(testContext(t), "reload-settings", nil); err == nil || !strings.Contains(err.Error(), "internal error in ipsecd") {
		t.Errorf("a fault was answered with %v", err)
	}
	if _, err := s.Call(testContext(t), "version", nil); err != nil {
		t.Error(err)
	}
}

// A second daemon does not take the socket; a file that a dead one left is no
// hindrance.
func TestListenTakesOnlyADeadSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.vici")
	log := slog.New(slog.DiscardHandler)
	first, err := Listen("unix://"+path, statustest.NewControl(statustest.New()), log)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen("unix://"+path, statustest.NewControl(statustest.New()), log); err == nil || !strings.Contains(err.Error(), "another daemon listens there") {
		t.Errorf("second listener: %v", err)
	}
	first.Close()
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	again, err := Listen("unix://"+path, statustest.NewControl(statustest.New()), log)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if _, err := Listen("udp://x", nil, log); err == nil || !strings.Contains(err.Error(), "unix:///path or tcp://host:port") {
		t.Errorf("wrong URI: %v", err)
	}
}
