package charonlog

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// both returns a logger that writes to the places and, from info on, to nowhere.
func both(t *testing.T, list ...Config) (*slog.Logger, *Log) {
	t.Helper()
	l := &Log{}
	if err := l.Configure(list); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return slog.New(l.Handler(slog.DiscardHandler)), l
}

func content(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFile checks charon's lines and levels.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	log, l := both(t,
		Config{File: file("plain"), Default: 1, Append: true},
		Config{File: file("audit"), Default: 0, Append: true, IKEName: true, ShowLevel: true},
		Config{File: file("ike"), Default: -1, Levels: map[string]int{"ike": 2}, Append: true, Stamp: true, TimeFormat: "%b %e %T", AddMS: true},
		Config{File: file("none"), Default: -1, Append: true},
	)
	sa := []any{"group", "IKE", "connection", "gw", "ike", 3}
	log.Log(Audit(context.Background()), slog.LevelInfo, "IKE_SA gw[3] established between a...b", sa...)
	log.Info("retransmit 1 of request with message ID 0", sa...)
	log.Debug("sending DPD request", sa...)
	log.Warn("kernel refused a change", "what", "SA", "err", "no room")
	l.Close()
	want := map[string]string{
		"plain": "00[IKE] IKE_SA gw[3] established between a...b\n00[IKE] retransmit 1 of request with message ID 0\n00[DMN] kernel refused a change what=SA err=no room\n",
		"audit": "00[IKE0] <gw|3> IKE_SA gw[3] established between a...b\n",
		"none":  "",
	}
	for name, text := range want {
		if got := content(t, file(name)); got != text {
			t.Errorf("%s:\n%s\nexpected\n%s", name, got, text)
		}
	}
	stamped := regexp.MustCompile(`^([A-Z][a-z]{2} [ 123]\d \d\d:\d\d:\d\d\.\d{3} 00\[IKE\] .*\n){3}$`)
	if got := content(t, file("ike")); !stamped.MatchString(got) || !strings.Contains(got, "sending DPD request") {
		t.Errorf("ike:\n%s", got)
	}
}

// TestReopen follows logrotate, appends to what is there, and empties a file that is not to be appended to.
func TestReopen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	conf := Config{File: file, Default: 1, Append: true}
	log, l := both(t, conf)
	log.Info("one")
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	if err := l.Configure([]Config{conf}); err != nil {
		t.Fatal(err)
	}
	log.Info("two")
	if err := l.Configure([]Config{conf}); err != nil {
		t.Fatal(err)
	}
	log.Info("three")
	l.Close()
	if a, b := content(t, file+".1"), content(t, file); a != "00[DMN] one\n" || b != "00[DMN] two\n00[DMN] three\n" {
		t.Errorf("%q, %q", a, b)
	}
	conf.Append = false
	if err := l.Configure([]Config{conf, {File: filepath.Join(file, "no", "such"), Default: 1}}); err == nil {
		t.Error("what cannot be opened is not told")
	}
	log.Info("four")
	l.Close()
	if got := content(t, file); got != "00[DMN] four\n" {
		t.Errorf("%q", got)
	}
}

// TestSlowSink does not hold up who logs, and counts what is lost.
func TestSlowSink(t *testing.T) {
	r, w := net.Pipe() // nobody reads yet
	s := &sink{conf: Config{File: "x", Default: 1, FlushLine: true}, lines: make(chan line, waiting), done: make(chan struct{})}
	go s.run(w)
	const lines = 3 * waiting
	for range lines {
		s.put(line{group: "IKE", text: "x"})
	}
	got := make(chan string)
	go func() {
		var all strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := r.Read(buf)
			all.Write(buf[:n])
			if err != nil {
				got <- all.String()
				return
			}
		}
	}()
	s.close()
	text := <-got
	written := strings.Count(text, "00[IKE] x\n")
	if !strings.Contains(text, "lines of the log are missing") || written >= lines || written < waiting {
		t.Errorf("%d lines of %d were written; ends in %q", written, lines, text[max(0, len(text)-200):])
	}
}

// TestStrftime compares with what date(1) writes.
func TestStrftime(t *testing.T) {
	at := time.Date(2026, 3, 2, 4, 5, 6, 0, time.UTC)
	for format, want := range map[string]string{
		"%b %e %T": "Mar  2 04:05:06", "%Y-%m-%dT%H:%M:%S%z": "2026-03-02T04:05:06+0000", "%F %R %a %j %y %p": "2026-03-02 04:05 Mon 061 26 AM",
		"%s": "1772424306", "100%% %Q %": "100% %Q %", "%d.%m.%Y": "02.03.2026", "": "",
	} {
		if got := strftime(format, at); got != want {
			t.Errorf("%s: %s, expected %s", format, got, want)
		}
	}
}
