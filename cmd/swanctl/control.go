package main

import (
	"fmt"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// selectors are the options that say what a command is about, in the order of their keys.
var selectors = []string{"child", "ike", "child-id", "ike-id", "force", "reauth", "peer-ip", "peer-id", "gateway"}

// control is a command that changes SAs. With log it shows what the daemon logs meanwhile.
func control(command, log string) func(*session) error {
	return func(s *session) error {
		args := s.request(selectors...)
		if n := number(s.value("timeout")); n != 0 {
			_ = args.Set("timeout", fmt.Sprint(n*1000))
		}
		var m *vici.Message
		var err error
		if log == "" {
			m, err = s.call(command, args)
		} else {
			_ = args.Set("loglevel", fmt.Sprint(s.loglevel()))
			m, err = s.follow(controlTime, "log", log, s.logLine, command, args)
		}
		if err != nil {
			return err
		}
		return s.completed(command, command+" reply", m)
	}
}

// completed writes the reply of a command, or that it has succeeded.
func (s *session) completed(command, label string, m *vici.Message) error {
	if s.dumping() {
		s.dump(label, m)
		return nil
	}
	if err := refused(command, m); err != nil {
		return err
	}
	s.printf("%s completed successfully\n", command)
	return nil
}

// number reads the digits at the beginning of a text, as the stock swanctl does: 5s is 5.
func number(text string) (n int) {
	_, _ = fmt.Sscan(text, &n)
	return n
}

func (s *session) loglevel() int {
	if s.has("loglevel") {
		return number(s.value("loglevel"))
	}
	return 1
}

// logLine writes a line of the daemon's log that belongs to the command.
func (s *session) logLine(m *vici.Message) {
	if s.dumping() {
		s.dump("log", m)
		return
	}
	s.printf("[%3s] %s\n", text(m, "group"), text(m, "msg"))
}

// policies installs or uninstalls the policies of a child. As with the stock swanctl, --raw has no effect on them.
func policies(command string) func(*session) error {
	return func(s *session) error {
		delete(s.options, "raw")
		m, err := s.call(command, s.request("child", "ike"))
		if err != nil {
			return err
		}
		return s.completed(command, command+"\n reply", m)
	}
}

// simple is a command that says nothing when it has succeeded.
func simple(command string, options ...string) func(*session) error {
	return func(s *session) error {
		m, err := s.call(command, s.request(options...))
		if err != nil {
			return err
		}
		if s.dumping() {
			s.dump(command+" reply", m)
			return nil
		}
		return refused(command, m)
	}
}

// followLog writes the daemon's log until it is interrupted.
func followLog(s *session) error {
	return s.watch("log", func(_ string, m *vici.Message) {
		if s.dumping() {
			s.dump("log", m)
			return
		}
		s.printf("%02d[%3s] ", number(text(m, "thread")), text(m, "group"))
		s.printf("%s\n", text(m, "msg"))
	}, "log")
}

// watch hands events to see until it is interrupted. what is what they are about.
func (s *session) watch(what string, see func(string, *vici.Message), events ...string) error {
	err := s.d.Watch(s.ctx, func(event string, m *vici.Message) {
		see(event, m)
		s.out.Flush()
	}, events...)
	if err == nil {
		s.complain("disconnecting...")
		return nil
	}
	if u, ok := err.(*viciclient.Unreachable); ok && u.Command != viciclient.Listening {
		return unregistered(what, u)
	}
	return &failure{exitRequest, err.Error()}
}
