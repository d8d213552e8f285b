package main

import (
	"strings"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// listing is a command that answers by events.
type listing struct {
	command, event string
	what           string // the events, for the message if there are none
	label          string // of an event; empty: its name
	write          func(s *session, name string, sec *vici.Message)
}

// run writes the sections of each event.
func (l listing) run(s *session, args *vici.Message) error {
	label := l.label
	if label == "" {
		label = l.event
	}
	return s.list(l.command, l.event, label, l.what, args, func(m *vici.Message) {
		eachSection(m, func(name string, sec *vici.Message) { l.write(s, name, sec) })
	})
}

// list runs a command that answers by events, and has each of them written.
func (s *session) list(command, event, label, what string, args *vici.Message, write func(*vici.Message)) error {
	m, err := s.follow(viciclient.CallTime, what, event, func(m *vici.Message) {
		if s.dumping() {
			s.dump(label+" event", m)
			return
		}
		write(m)
	}, command, args)
	if err != nil {
		return err
	}
	if s.dumping() {
		s.dump(command+" reply", m)
		return nil
	}
	return refused(command, m)
}

func listPolicies(s *session) error {
	args := s.request("child", "trap", "drop", "pass")
	if !s.has("trap") && !s.has("drop") && !s.has("pass") {
		for _, key := range []string{"trap", "drop", "pass"} {
			_ = args.Set(key, "yes")
		}
	}
	return listing{"list-policies", "list-policy", "policies", "", writePolicy}.run(s, args)
}

func writePolicy(s *session, name string, p *vici.Message) {
	s.printf("%s, %s\n", name, need(p, "mode"))
	s.printf("  local:  %s\n", needItems(p, "local-ts"))
	s.printf("  remote: %s\n", needItems(p, "remote-ts"))
}

func listAuthorities(s *session) error {
	return listing{"list-authorities", "list-authority", "authorities", "list-authorities", writeAuthority}.run(s, s.request("name"))
}

// writeAuthority writes the keys of an authority in their order.
func writeAuthority(s *session, name string, a *vici.Message) {
	s.printf("%s:\n", name)
	for _, key := range a.Keys() {
		switch v := a.Get(key).(type) {
		case string:
			s.printf("  %s: %s\n", clean(key), clean(v))
		case []string:
			for i, item := range v {
				label := strings.TrimSuffix(clean(key), ":") + ":"
				if key == "crl_uris" {
					label = "crl_uris: "
					if i > 0 {
						label = strings.Repeat(" ", len(label))
					}
				}
				s.printf("  %s %s\n", label, clean(item))
			}
		}
	}
}
