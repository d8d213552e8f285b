package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// session is a command while it runs.
type session struct {
	ctx context.Context
	env environment
	d   *viciclient.Client
	out *bufio.Writer
	options
}

func newSession(ctx context.Context, env environment, d *viciclient.Client, opts options) *session {
	return &session{ctx, env, d, bufio.NewWriter(env.stdout), opts}
}

func (s *session) printf(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// complain writes a line to standard error, after what was written so far.
func (s *session) complain(format string, args ...any) {
	s.out.Flush()
	fmt.Fprintf(s.env.stderr, format+"\n", args...)
}

// dumping reports whether messages are to be written as they are.
func (s *session) dumping() bool { return s.has("raw") || s.has("pretty") }

// dump writes a message as it is.
func (s *session) dump(label string, m *vici.Message) {
	dump(s.out, label, m, s.has("pretty"))
	s.out.Flush()
}

// controlTime bounds commands that wait for peers: the daemon itself gives up before.
const controlTime = 24 * time.Hour

// request makes a message of options, in their order.
func (s *session) request(names ...string) *vici.Message {
	m := vici.NewMessage()
	for _, name := range names {
		if v, ok := s.options[name]; ok {
			_ = m.Set(name, v) // strings fit
		}
	}
	return m
}

// call runs a command. A refusal is nil beside the reply that tells it.
func (s *session) call(command string, args *vici.Message) (*vici.Message, error) {
	m, err := s.d.Send(s.ctx, viciclient.CallTime, command, args)
	return s.answered(command, m, err)
}

// follow is call for a command that tells by events what it does. what is what they are about, for the message if there are no such events.
func (s *session) follow(limit time.Duration, what, event string, see func(*vici.Message), command string, args *vici.Message) (*vici.Message, error) {
	m, err := s.d.Follow(s.ctx, limit, event, func(m *vici.Message) {
		see(m)
		s.out.Flush()
	}, command, args)
	var u *viciclient.Unreachable
	if errors.As(err, &u) && u.Command == event {
		return nil, unregistered(what, u)
	}
	return s.answered(command, m, err)
}

func unregistered(what string, u *viciclient.Unreachable) error {
	return &failure{exitRequest, fmt.Sprintf("registering for %s failed: %s", what, reason(u.Err))}
}

func (s *session) answered(command string, m *vici.Message, err error) (*vici.Message, error) {
	if err == nil || m != nil {
		return m, nil
	}
	var u *viciclient.Unreachable
	if errors.As(err, &u) {
		err = u.Err
	}
	return nil, &failure{exitRequest, fmt.Sprintf("%s request failed: %s", command, reason(err))}
}

// reason is a cause in words for people, not in govici's for what the daemon does not know.
func reason(err error) string {
	switch {
	case viciclient.UnknownCommand(err):
		return "The daemon does not know this command"
	case strings.Contains(err.Error(), "unknown event type"):
		return "The daemon does not know this event"
	}
	return sentence(err)
}

// sentence begins with a capital letter, as the C library's errors do.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// refused returns the error of a reply that says no.
func refused(command string, m *vici.Message) error {
	if text(m, "success") == "yes" {
		return nil
	}
	if _, told := m.Get("success").(string); !told {
		return nil
	}
	return &failure{exitFailed, fmt.Sprintf("%s failed: %s", command, errorText(m))}
}

// errorText is the daemon's reason, which may have several lines.
func errorText(m *vici.Message) string {
	lines := strings.Split(viciclient.Text(m, "errmsg"), "\n")
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
