package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/vici"
)

// script is what a daemon answers to each command.
type script map[string]answer

// answer is a reply after some events.
type answer struct {
	event  string
	events []func(*vici.Builder)
	reply  func(*vici.Builder)
}

// replying answers without events.
func replying(fill func(*vici.Builder)) answer { return answer{reply: fill} }

func success(b *vici.Builder) { b.Key("success", "yes") }

func refusing(b *vici.Builder) {
	b.Key("success", "no")
	b.Key("errmsg", "because")
}

// daemon serves a script and keeps the requests that it had.
type daemon struct {
	script
	listener net.Listener
	pushed   map[string][]func(*vici.Builder) // events by their name, for who registers for them
	hangUp   map[string]bool                  // after these

	mu       sync.Mutex
	requests []string
}

// serveScript starts a daemon, and returns its URI, too.
func serveScript(t *testing.T, s script) (*daemon, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vici")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{script: s, listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go d.serve(c)
		}
	}()
	return d, "unix://" + path
}

// take returns the requests since the last time.
func (d *daemon) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() { d.requests = nil }()
	return slices.Clone(d.requests)
}

// The types of packets that are served.
const (
	request, response, unknown           = 0, 1, 2
	register, unregister, confirm, event = 3, 4, 5, 7
)

func (d *daemon) serve(c net.Conn) {
	defer c.Close()
	for {
		kind, name, body, err := receive(c)
		if err != nil {
			return
		}
		if kind == register || kind == unregister {
			send(c, confirm, "", nil)
			if kind == register {
				for _, e := range d.pushed[name] {
					send(c, event, name, e)
				}
				if d.hangUp[name] {
					return
				}
			}
			continue
		}
		d.mu.Lock()
		d.requests = append(d.requests, fmt.Sprintf("%s %q", name, body))
		d.mu.Unlock()
		a, known := d.script[name]
		if !known {
			send(c, unknown, "", nil)
			continue
		}
		for _, e := range a.events {
			send(c, event, a.event, e)
		}
		send(c, response, "", a.reply)
	}
}

func receive(r io.Reader) (kind byte, name string, body []byte, err error) {
	var head [4]byte
	if _, err = io.ReadFull(r, head[:]); err != nil {
		return
	}
	body = make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err = io.ReadFull(r, body); err != nil {
		return
	}
	if len(body) < 2 || len(body) < 2+int(body[1]) {
		return 0, "", nil, errors.New("a packet without a name")
	}
	end := 2 + int(body[1])
	return body[0], string(body[2:end]), body[end:], nil
}

func send(w io.Writer, kind byte, name string, fill func(*vici.Builder)) {
	var b vici.Builder
	if fill != nil {
		fill(&b)
	}
	packet := []byte{kind}
	if name != "" {
		packet = append(append(packet, byte(len(name))), name...)
	}
	packet = append(packet, b.Bytes()...)
	_, _ = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(packet))), packet...))
}

// keys adds keys and values.
func keys(b *vici.Builder, keyValues ...string) {
	for i := 0; i+1 < len(keyValues); i += 2 {
		b.Key(keyValues[i], keyValues[i+1])
	}
}
