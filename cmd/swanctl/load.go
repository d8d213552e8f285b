package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// source is the file that is loaded, and the folder with the credentials that it names.
type source struct {
	root *settings.Section
	dir  string
}

// load is a command that loads parts of swanctl.conf. The first part that fails is the last one. A file that cannot be read
// changes nothing: the stock swanctl takes it for an empty one, and unloads everything.
func load(parts ...func(*session, source) error) func(*session) error {
	return func(s *session) error {
		from, err := s.read()
		if err != nil {
			return &failure{exitLoad, fmt.Sprintf("%v; nothing was loaded or unloaded", err)}
		}
		for _, part := range parts {
			if err := part(s, from); err != nil {
				return err
			}
		}
		return nil
	}
}

// configDir is where swanctl.conf is, unless SWANCTL_DIR or --file say otherwise.
const configDir = "/etc/swanctl"

func (s *session) read() (source, error) {
	dir := s.env.getenv("SWANCTL_DIR")
	if dir == "" {
		dir = configDir
	}
	name := s.value("file")
	if name == "" {
		name = filepath.Join(dir, "swanctl.conf")
	}
	name, err := filepath.Abs(name)
	if err != nil {
		return source{}, err
	}
	f, err := settings.Parse(os.DirFS("/"), name)
	if err != nil {
		return source{}, err
	}
	for _, w := range f.Warnings {
		s.complain("%v", w)
	}
	return source{f.Root, filepath.Dir(name)}, nil
}

// thing is a kind of what is loaded section by section.
type thing struct {
	section string // of swanctl.conf
	many    string
	one     string
	loaded  func(s *session) ([]string, error) // names of those that the daemon has
	message func(from source, sec *settings.Section) (*vici.Message, error)
}

// load loads each section, and unloads what the file no longer has. A section that cannot be loaded is not unloaded.
func (t thing) load(s *session, from source) error {
	had, err := t.loaded(s)
	if err != nil {
		return err
	}
	var loaded, failed, unloaded int
	for _, sec := range from.root.Section(t.section).Sections() {
		had = slices.DeleteFunc(had, func(name string) bool { return name == sec.Name })
		if t.loadOne(s, from, sec) {
			loaded++
		} else {
			failed++
		}
	}
	for _, name := range had {
		if s.unload("unload-"+t.one, t.noun(), "name", name) {
			unloaded++
		}
	}
	switch {
	case s.dumping():
	case loaded+failed == 0:
		s.printf("no %s found, %d unloaded\n", t.many, unloaded)
	case failed == 0:
		s.printf("successfully loaded %d %s, %d unloaded\n", loaded, t.many, unloaded)
	default:
		return &failure{exitLoad, fmt.Sprintf("loaded %d of %d %s, %d failed to load, %d unloaded", loaded, loaded+failed, t.many, failed, unloaded)}
	}
	return nil
}

// noun is what messages call one.
func (t thing) noun() string {
	if t.one == "conn" {
		return "connection"
	}
	return t.one
}

func (t thing) loadOne(s *session, from source, sec *settings.Section) bool {
	m, err := t.message(from, sec)
	if err != nil {
		s.complain("%v", err)
		return false
	}
	args := vici.NewMessage()
	_ = args.Set(sec.Name, m) // a message fits
	_, err = s.load("load-"+t.one, args)
	if err != nil {
		s.failed(err, "loading %s '%s' failed", t.noun(), sec.Name)
		return false
	}
	s.told("loaded %s '%s'\n", t.noun(), sec.Name)
	return true
}

// failed tells why something was not done, unless the reply that says so was dumped.
func (s *session) failed(err error, format string, args ...any) {
	switch {
	case !isRefusal(err):
		s.complain("%v", err)
	case !s.dumping():
		s.complain("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// told writes what was done, if replies are not dumped.
func (s *session) told(format string, args ...any) {
	if !s.dumping() {
		s.printf(format, args...)
		s.out.Flush()
	}
}

// refusal is the daemon's word for why it does not load something.
type refusal struct{ text string }

func (r refusal) Error() string { return r.text }

func isRefusal(err error) bool { _, ok := err.(refusal); return ok }

// load runs a command, and dumps its reply if that is wanted. Its error is a refusal, or that of call.
func (s *session) load(command string, args *vici.Message) (*vici.Message, error) {
	m, err := s.call(command, args)
	if err != nil {
		return nil, err
	}
	if s.dumping() {
		s.dump(command+" reply", m)
	}
	if text(m, "success") != "yes" {
		return m, refusal{errorText(m)}
	}
	return m, nil
}

// unload has the daemon forget something by its name.
func (s *session) unload(command, noun, key, name string) bool {
	args := vici.NewMessage()
	_ = args.Set(key, name) // strings fit
	_, err := s.load(command, args)
	if err != nil {
		s.failed(err, "unloading %s '%s' failed", noun, name)
	}
	return err == nil
}

// names asks for the names of what the daemon has.
func names(command, key string) func(*session) ([]string, error) {
	return func(s *session) ([]string, error) {
		m, err := s.call(command, vici.NewMessage())
		if err != nil {
			return nil, err
		}
		if s.dumping() {
			s.dump(command+" reply", m)
		}
		return slices.Clone(viciclient.List(m, key)), nil
	}
}
