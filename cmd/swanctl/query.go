package main

import (
	"fmt"
	"strings"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// query runs a command that only answers, and has its reply written.
func (s *session) query(command, label string, args *vici.Message, write func(m *vici.Message)) error {
	m, err := s.call(command, args)
	if err != nil {
		return err
	}
	if s.dumping() {
		s.dump(label+" reply", m)
		return nil
	}
	if err := refused(command, m); err != nil {
		return err
	}
	write(m)
	return nil
}

func counters(s *session) error {
	args := s.request("name")
	if s.has("all") {
		args = s.request("all")
	}
	if s.has("reset") {
		m, err := s.call("reset-counters", args)
		if err != nil {
			return err
		}
		return s.completed("reset-counters", "counters reply", m)
	}
	return s.query("get-counters", "counters", args, func(m *vici.Message) {
		eachSection(section(m, "counters"), func(name string, c *vici.Message) {
			if name == "" {
				name = "global"
			}
			s.printf("%s:\n", name)
			for _, key := range c.Keys() {
				s.printf("  %-22s: %s\n", clean(key), text(c, key))
			}
		})
	})
}

func listPools(s *session) error {
	return s.query("get-pools", "get-pools", s.request("leases", "name"), func(m *vici.Message) {
		eachSection(m, func(name string, p *vici.Message) {
			usage := fmt.Sprintf("%s / %s / %s", text(p, "online"), text(p, "offline"), text(p, "size"))
			s.printf("%-20s %-30s %16s\n", name, text(p, "base"), usage)
			eachSection(section(p, "leases"), func(_ string, l *vici.Message) {
				s.printf("  %-30s %-8s '%s'\n", text(l, "address"), text(l, "status"), text(l, "identity"))
			})
		})
	})
}

func listAlgorithms(s *session) error {
	return s.query("get-algorithms", "get-algorithms", vici.NewMessage(), func(m *vici.Message) {
		eachSection(m, func(kind string, list *vici.Message) {
			s.printf("%s:\n", kind)
			for _, name := range list.Keys() {
				s.printf("  %s[%s]\n", clean(name), text(list, name))
			}
		})
	})
}

func stats(s *session) error {
	return s.query("stats", "stats", vici.NewMessage(), func(m *vici.Message) {
		s.printf("uptime: %s, since %s\n", text(m, "uptime", "running"), text(m, "uptime", "since"))
		s.printf("worker threads: %s total, %s idle, working: %s\n", text(m, "workers", "total"), text(m, "workers", "idle"), priorities(m, "workers", "active"))
		s.printf("job queues: %s\n", priorities(m, "queues"))
		s.printf("jobs scheduled: %s\n", text(m, "scheduled"))
		s.printf("IKE_SAs: %s total, %s half-open\n", text(m, "ikesas", "total"), text(m, "ikesas", "half-open"))
		if section(m, "mem") != nil {
			s.printf("memory usage: %s bytes, %s allocations\n", text(m, "mem", "total"), text(m, "mem", "allocs"))
		}
		if section(m, "mallinfo") != nil {
			s.printf("mallinfo: sbrk %s, mmap %s, used %s, free %s\n", text(m, "mallinfo", "sbrk"), text(m, "mallinfo", "mmap"), text(m, "mallinfo", "used"), text(m, "mallinfo", "free"))
		}
		s.printf("loaded plugins:")
		for _, p := range viciclient.List(m, "plugins") {
			s.printf(" %s", clean(p))
		}
		s.printf("\n")
	})
}

// priorities writes the numbers of jobs of each priority.
func priorities(m *vici.Message, path ...string) string {
	var list []string
	for _, p := range []string{"critical", "high", "medium", "low"} {
		list = append(list, text(m, append(path[:len(path):len(path)], p)...))
	}
	return strings.Join(list, "/")
}

func showVersion(s *session) error {
	if !s.has("daemon") {
		s.printf("strongSwan swanctl %s\n", version) // whose place it takes: scripts compare it
		return nil
	}
	return s.query("version", "version", vici.NewMessage(), func(m *vici.Message) {
		s.printf("strongSwan %s %s (%s, %s, %s)\n", text(m, "version"), text(m, "daemon"), text(m, "sysname"), text(m, "release"), text(m, "machine"))
	})
}
