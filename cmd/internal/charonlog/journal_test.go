package charonlog

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listen is a journal.
func listen(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func next(t *testing.T, c *net.UnixConn) string {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := c.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

// TestJournal: entries have charon's fields, also where the text has several lines, by the levels of their groups; a journal that is
// restarted gets the next one.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	socket := listen(t, path)
	j := &journal{socket: path}
	s := &sink{conf: Config{Journal: true, Default: 0, Levels: map[string]int{"ike": 1}}, lines: make(chan line, waiting), done: make(chan struct{})}
	go s.run(j)
	l := &Log{sinks: []*sink{s}}
	t.Cleanup(l.Close)
	log := slog.New(l.Handler(slog.DiscardHandler))

	sa := []any{"group", "IKE", "connection", "gw", "ike", 3}
	log.Info("retransmit 1", sa...)
	if got, want := next(t, socket), "MESSAGE=retransmit 1\nPRIORITY=6\nSYSLOG_IDENTIFIER=charon-systemd\nLEVEL=1\nTHREAD=0\nGROUP=IKE\nIKE_SA_UNIQUE_ID=3\nIKE_SA_NAME=gw\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	log.Info("not wanted", "group", "KNL")
	log.Log(Audit(context.Background()), slog.LevelInfo, "two\nlines", "group", "CHD")
	if got, want := next(t, socket), "MESSAGE\n\x09\x00\x00\x00\x00\x00\x00\x00two\nlines\nPRIORITY=5\n"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want it to begin with %q", got, want)
	}
	socket.Close()
	again := listen(t, path+"2")
	j2 := &journal{socket: path + "2"}
	defer j2.Close()
	if _, err := j2.Write([]byte("MESSAGE=x\n")); err != nil {
		t.Fatal(err)
	}
	next(t, again)
	j2.socket = path + "3"
	third := listen(t, j2.socket)
	again.Close()
	if _, err := j2.Write([]byte("MESSAGE=y\n")); err != nil || next(t, third) != "MESSAGE=y\n" {
		t.Errorf("after a restart: %v", err)
	}
}
