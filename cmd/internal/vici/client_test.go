package vici

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
)

// listenOn starts a server on a daemon in the given state; it returns its socket's path.
func listenOn(t *testing.T, ctl *statustest.Control) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.vici")
	srv, err := Listen("unix://"+path, ctl, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return path
}

// serve is listenOn with a govici client. It is for commands that stream nothing:
// govici may take a reply before the events that came ahead of it.
func serve(t *testing.T, st *status.Status) (*statustest.Control, *vici.Session) {
	t.Helper()
	ctl := statustest.NewControl(st)
	s, err := vici.NewSession(vici.WithAddr("unix", listenOn(t, ctl)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return ctl, s
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// rawClient speaks packets.
type rawClient struct {
	net.Conn
	t *testing.T
}

func dial(t *testing.T, path string) rawClient {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return rawClient{c, t}
}

func (c rawClient) send(p packet) {
	c.t.Helper()
	b, err := p.append(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

func (c rawClient) receive() packet {
	c.t.Helper()
	p, err := readPacket(c)
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

func (c rawClient) register(event string) {
	c.t.Helper()
	c.send(packet{kind: eventRegister, name: event})
	if p := c.receive(); p.kind != eventConfirm {
		c.t.Fatalf("registering %s was answered with packet type %d", event, p.kind)
	}
}

// call runs a command and returns the events ahead of its reply, and the reply,
// as swanctl --raw writes them.
func (c rawClient) call(command string, keyValues ...string) (events []string, reply string) {
	c.t.Helper()
	var args Builder
	for i := 0; i+1 < len(keyValues); i += 2 {
		args.Key(keyValues[i], keyValues[i+1])
	}
	c.send(packet{kind: cmdRequest, name: command, body: args.Bytes()})
	for {
		switch p := c.receive(); p.kind {
		case eventPacket:
			events = append(events, dump(c.t, p.body))
		case cmdResponse:
			return events, dump(c.t, p.body)
		default:
			c.t.Fatalf("%s was answered with packet type %d", command, p.kind)
		}
	}
}

// dump writes a message in the order of its elements.
func dump(t *testing.T, message []byte) string {
	t.Helper()
	var b strings.Builder
	space := func() {
		if s := b.String(); s != "" && !strings.HasSuffix(s, "{") && !strings.HasSuffix(s, "[") {
			b.WriteByte(' ')
		}
	}
	text := func(lengthOctets int) string {
		n := int(message[0])
		if lengthOctets == 2 {
			n = int(binary.BigEndian.Uint16(message))
		}
		s := string(message[lengthOctets : lengthOctets+n])
		message = message[lengthOctets+n:]
		return s
	}
	for len(message) > 0 {
		kind := message[0]
		message = message[1:]
		switch kind {
		case sectionStart:
			space()
			b.WriteString(text(1) + " {")
		case sectionEnd:
			b.WriteByte('}')
		case keyValue:
			space()
			fmt.Fprintf(&b, "%s=%s", text(1), text(2))
		case listStart:
			space()
			b.WriteString(text(1) + "=[")
		case listItem:
			space()
			b.WriteString(text(2))
		case listEnd:
			b.WriteByte(']')
		default:
			t.Fatalf("element of type %d", kind)
		}
	}
	return b.String()
}
