// Package viciclient is the client side of VICI that the commands share.
package viciclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/strongswan/govici/vici"
)

// CallTime bounds a command that the daemon answers at once. govici needs some
// deadline: without one it gives up after five seconds of silence.
const CallTime = 30 * time.Second

// URIVariable is the environment variable that names the daemon's socket.
const URIVariable = "IPSECD_VICI"

// Client is a connection to the daemon.
type Client struct {
	*vici.Session
	URI string
}

// Unreachable says that no daemon answers.
type Unreachable struct {
	URI     string
	Command string // empty: while connecting
	Err     error
}

func (e *Unreachable) Error() string {
	err := e.Err
	if e.Command != "" {
		return fmt.Sprintf("%s at %s: %v", e.Command, e.URI, err)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Sprintf("cannot reach ipsecd at %s: %v", e.URI, err)
}

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Err }

// UnknownCommand reports whether the error is that of a daemon that does not know the command, as charon does
// not know ours. govici tells it by the type of the response.
func UnknownCommand(err error) bool {
	return err != nil && strings.Contains(err.Error(), "unexpected response type: 2")
}

// ErrURI says that a URI is not one of VICI's.
var ErrURI = errors.New("unix:///path or tcp://host:port is expected")

// Dial connects to a URI, unix:///path or tcp://host:port. The error is an
// *Unreachable or wraps ErrURI.
func Dial(uri string) (*Client, error) {
	scheme, addr, ok := strings.Cut(uri, "://")
	if !ok || scheme != "unix" && scheme != "tcp" || addr == "" {
		return nil, fmt.Errorf("--uri %s: %w", uri, ErrURI)
	}
	s, err := vici.NewSession(vici.WithAddr(scheme, addr))
	if err != nil {
		return nil, &Unreachable{URI: uri, Err: err}
	}
	return &Client{s, uri}, nil
}

// Do runs a command with the given keys and values and returns the reply. What
// the daemon refuses is an error in its own words; else it is an *Unreachable,
// or that of ctx.
func (c *Client) Do(ctx context.Context, limit time.Duration, command string, keyValues ...string) (*vici.Message, error) {
	args, err := Message(keyValues...)
	if err != nil {
		return nil, err
	}
	return c.Send(ctx, limit, command, args)
}

// Send is Do with a message of the caller's. A reply that refuses is returned, too.
func (c *Client) Send(ctx context.Context, limit time.Duration, command string, args *vici.Message) (*vici.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	m, err := c.Call(ctx, command, args)
	return m, c.explain(ctx, command, m, err)
}

// eventQueue is how many events may wait for their reader. govici drops those that
// find no room.
const eventQueue = 4096

// Stream runs a command that answers by events, and returns their messages.
func (c *Client) Stream(ctx context.Context, command, event string, keyValues ...string) ([]*vici.Message, error) {
	args, err := Message(keyValues...)
	if err != nil {
		return nil, err
	}
	var out []*vici.Message
	_, err = c.Follow(ctx, CallTime, event, func(m *vici.Message) { out = append(out, m) }, command, args)
	return out, err
}

// Follow is Send for a command that tells by events of a kind what it does: see has
// each of them as it comes.
// govici's own CallStreaming may take the reply for the end while events wait.
func (c *Client) Follow(ctx context.Context, limit time.Duration, event string, see func(*vici.Message), command string, args *vici.Message) (*vici.Message, error) {
	events := make(chan vici.Event, eventQueue)
	if err := c.Subscribe(event); err != nil {
		return nil, &Unreachable{URI: c.URI, Command: event, Err: err}
	}
	defer func() { _ = c.Unsubscribe(event) }()
	c.NotifyEvents(events)
	defer c.StopEvents(events)

	type answer struct {
		m   *vici.Message
		err error
	}
	replied := make(chan answer, 1)
	go func() {
		m, err := c.Send(ctx, limit, command, args)
		replied <- answer{m, err}
	}()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				a := <-replied // the connection ended
				return a.m, a.err
			}
			see(e.Message)
		case a := <-replied:
			for n := len(events); n > 0; n-- { // what came before the reply
				if e, ok := <-events; ok {
					see(e.Message)
				}
			}
			return a.m, a.err
		}
	}
}

// Watch hands each event of some kinds to see until ctx ends, which is no error, or the
// connection does.
func (c *Client) Watch(ctx context.Context, see func(event string, m *vici.Message), kinds ...string) error {
	events := make(chan vici.Event, eventQueue)
	c.NotifyEvents(events)
	defer c.StopEvents(events)
	for _, kind := range kinds {
		if err := c.Subscribe(kind); err != nil {
			return &Unreachable{URI: c.URI, Command: kind, Err: err}
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-events:
			if !ok {
				return &Unreachable{URI: c.URI, Command: Listening, Err: errEnded}
			}
			see(e.Name, e.Message)
		}
	}
}

// Listening is the Command of an Unreachable that has ended a Watch.
const Listening = "listening"

var errEnded = errors.New("the daemon ended the connection")

func (c *Client) explain(ctx context.Context, command string, m *vici.Message, err error) error {
	if err == nil {
		return nil
	}
	if m != nil {
		if text, ok := m.Get("errmsg").(string); ok {
			return errors.New(text)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Unreachable{URI: c.URI, Command: command, Err: err}
}

// Message makes a message of keys and values; those without a value are left out.
func Message(keyValues ...string) (*vici.Message, error) {
	m := vici.NewMessage()
	for i := 0; i+1 < len(keyValues); i += 2 {
		if keyValues[i+1] == "" {
			continue
		}
		if err := m.Set(keyValues[i], keyValues[i+1]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Text returns the value of a key, or of a key in sections: empty if there is none.
func Text(m *vici.Message, path ...string) string {
	for _, name := range path[:len(path)-1] {
		if m = Section(m, name); m == nil {
			return ""
		}
	}
	s, _ := m.Get(path[len(path)-1]).(string)
	return s
}

// Section returns a section of a message; nil if there is none.
func Section(m *vici.Message, name string) *vici.Message {
	s, _ := m.Get(name).(*vici.Message)
	return s
}

// List returns a list of a message; nil if there is none.
func List(m *vici.Message, name string) []string {
	l, _ := m.Get(name).([]string)
	return l
}
