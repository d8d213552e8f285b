package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
	"github.com/ipsecd/ipsecd/routing/lookup"
)

var text, section, items = viciclient.Text, viciclient.Section, viciclient.List

// status writes the state of the SAs; all adds the daemon's, the connections
// and what the SAs use.
func status(all bool) func(context.Context, environment, []string) error {
	return func(ctx context.Context, env environment, args []string) error {
		name := ""
		if len(args) == 1 {
			name = args[0]
		}
		return withDaemon(env, func(d *viciclient.Client) error {
			s := statusWriter{ctx, d, env.stdout, name, all}
			return s.write()
		})
	}
}

// statusWriter writes the status of the connections of a name, or of all.
type statusWriter struct {
	ctx  context.Context
	d    *viciclient.Client
	w    io.Writer
	name string
	all  bool
}

func (s *statusWriter) write() error {
	steps := []func() error{s.policies, s.securityAssociations}
	if s.all {
		steps = append([]func() error{s.daemon, s.pools, s.addresses, s.connections}, steps...)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *statusWriter) printf(format string, args ...any) { fmt.Fprintf(s.w, format, args...) }

// wanted reports whether a connection or child is asked for.
func (s *statusWriter) wanted(names ...string) bool {
	for _, n := range names {
		if s.name == "" || n == s.name {
			return true
		}
	}
	return false
}

// daemon writes what the daemon says of itself.
func (s *statusWriter) daemon() error {
	v, err := s.d.Do(s.ctx, viciclient.CallTime, "version")
	if err != nil {
		return err
	}
	st, err := s.d.Do(s.ctx, viciclient.CallTime, "stats")
	if err != nil {
		return err
	}
	s.printf("Status of IKE charon daemon (%s %s, %s %s, %s):\n", text(v, "daemon"), text(v, "version"), text(v, "sysname"), text(v, "release"), text(v, "machine"))
	s.printf("  uptime: %s, since %s\n", text(st, "uptime", "running"), text(st, "uptime", "since"))
	s.printf("  malloc: sbrk %s, mmap %s, used %s, free %s\n", text(st, "mallinfo", "sbrk"), text(st, "mallinfo", "mmap"), text(st, "mallinfo", "used"), text(st, "mallinfo", "free"))
	s.printf("  worker threads: %s of %s idle, %s working, job queue: %s, scheduled: %s\n",
		text(st, "workers", "idle"), text(st, "workers", "total"), priorities(section(section(st, "workers"), "active")), priorities(section(st, "queues")), text(st, "scheduled"))
	s.printf("  loaded plugins: charon")
	for _, p := range items(st, "plugins") {
		s.printf(" %s", p)
	}
	s.printf("\n")
	return nil
}

func priorities(m *vici.Message) string {
	return fmt.Sprintf("%s/%s/%s/%s", text(m, "critical"), text(m, "high"), text(m, "medium"), text(m, "low"))
}

// addresses writes the addresses at which the daemon can be reached; of a charon, which does not tell, all of the host's.
func (s *statusWriter) addresses() error {
	m, err := s.d.Do(s.ctx, viciclient.CallTime, "ipsecd-addresses")
	var list []string
	switch {
	case viciclient.UnknownCommand(err):
		var all []netip.Addr
		all, err = lookup.Filter{}.Addresses()
		for _, a := range all {
			list = append(list, a.String())
		}
	case err == nil:
		list = items(m, "addresses")
	}
	if err != nil {
		return err
	}
	s.printf("Listening IP addresses:\n")
	for _, a := range list {
		s.printf("  %s\n", a)
	}
	return nil
}
