package routerproto

import (
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSocketpair passes messages both ways, as the two processes do, and sees
// the end when one of them is gone.
func TestSocketpair(t *testing.T) {
	parent, file, err := Socketpair()
	if err != nil {
		t.Fatal(err)
	}
	child, err := fromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Send(Message{Config: sampleConfig()}); err != nil {
		t.Fatal(err)
	}
	if m, err := child.Receive(); err != nil || m.Config == nil {
		t.Fatalf("the child received %+v, %v", m, err)
	}

	log := slog.New(NewLogHandler(func(l Log) error { return child.Send(Message{Log: &l}) }, slog.LevelInfo)).With("component", "router").WithGroup("g")
	log.Debug("not wanted")
	log.Warn("down", "neighbor", "oci1", slog.Group("x", "after", 3*time.Second))
	m, err := parent.Receive()
	if err != nil || m.Log == nil {
		t.Fatalf("the parent received %+v, %v", m, err)
	}
	want := []Attr{{"component", "router"}, {"g.neighbor", "oci1"}, {"g.x.after", "3s"}}
	if d := cmp.Diff(want, m.Log.Attrs); d != "" || m.Log.Message != "down" || m.Log.Level != slog.LevelWarn {
		t.Errorf("record %+v, attributes (-want +got):\n%s", m.Log, d)
	}
	if r := m.Log.Record(); r.NumAttrs() != 3 || r.Message != "down" {
		t.Errorf("as slog's record: %+v", r)
	}

	child.Close()
	if _, err := parent.Receive(); err != io.EOF {
		t.Errorf("after the child is gone: %v, want io.EOF", err)
	}
	if err := parent.Send(Message{Config: sampleConfig()}); err == nil {
		t.Error("sent to nobody without an error")
	}
}

func TestInheritedWithoutParent(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := fromFile(f); err == nil {
		c.Close()
		t.Error("/dev/null was taken for a socket")
	}
}

func TestReceiveSurvivesSlowWriter(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	c := NewConn(b)
	defer c.Close()
	frame, err := Append(nil, Message{Log: &Log{Message: "slow"}})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for i := range frame {
			a.Write(frame[i : i+1])
		}
	}()
	if m, err := c.Receive(); err != nil || m.Log.Message != "slow" {
		t.Errorf("%+v, %v", m, err)
	}
}
