package starter

import (
	"net/netip"

	"github.com/ipsecd/ipsecd/cmd/internal/config/ipsecconf"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// Position is a place in a file.
type Position = settings.Position

// Options are what the files do not say.
type Options struct {
	Dir    string                 // the directory of ipsec.conf, absolute
	Local  func(netip.Addr) bool  // whether an address is this host's; nil: none is known to be
	NoSwap bool                   // never swap left and right
	Taken  func(name string) bool // whether there is a connection of that name already; nil: none
}

// Result is what the files say.
type Result struct {
	Root     *settings.Section // with the sections connections, secrets, authorities and pools
	Errors   []*settings.Error
	Warnings []*settings.Error
}

// Translate writes an ipsec.conf and an ipsec.secrets in the words of swanctl.conf.
// Either may be nil.
func Translate(f *ipsecconf.File, s *ipsecconf.Secrets, o Options) Result {
	t := &translator{opts: o, root: settings.NewTree("", Position{})}
	if f != nil {
		t.setup(f.Setup)
		for _, ca := range f.CAs {
			t.ca(ca)
		}
		for _, c := range f.Conns {
			t.conn(c)
		}
	}
	if s != nil {
		t.secrets(s)
	}
	t.result.Root = t.root.Section()
	return t.result
}

type translator struct {
	opts   Options
	root   *settings.Tree
	unique string         // of config setup, in swanctl's words
	strict settings.Value // strictcrlpolicy, in swanctl's words
	conns  []written
	result Result
}

func (t *translator) fail(at Position, format string, args ...any) {
	t.result.Errors = append(t.result.Errors, at.Errorf(format, args...))
}

func (t *translator) warn(at Position, format string, args ...any) {
	t.result.Warnings = append(t.result.Warnings, at.Errorf(format, args...))
}
