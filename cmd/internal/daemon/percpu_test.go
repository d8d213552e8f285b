package daemon

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

// On a kernel without SAs for one CPU the children that ask for them are named, with where they are written and what it takes.
func TestCPUs(t *testing.T) {
	child := ike.DefaultChild()
	child.Name, child.Source, child.PerCPU = "net", "swanctl.conf:9", true
	plain := ike.DefaultChild()
	for _, c := range []struct {
		kernel   xfrm.Kernel
		children []*ike.ChildConfig
		some     bool
		warned   string
	}{
		{xfrmtest.New(), []*ike.ChildConfig{&plain, &child}, true, ""},
		{xfrmtest.New(), []*ike.ChildConfig{&plain}, false, ""},
		{xfrmtest.NewWith(0), []*ike.ChildConfig{&plain, &child}, false, "6.13"},
		{xfrmtest.NewWith(0), []*ike.ChildConfig{&plain}, false, ""},
	} {
		var log bytes.Buffer
		d := &Daemon{opts: Options{Kernel: c.kernel}, log: slog.New(slog.NewTextHandler(&log, nil))}
		conf := &config.Config{}
		conf.IKE.Connections = []*ike.Connection{{Name: "gw", Children: c.children}}
		if n := d.cpus(conf); n > 0 != c.some {
			t.Errorf("%d CPUs", n)
		}
		got := log.String()
		if c.warned == "" && got != "" || !strings.Contains(got, c.warned) || c.warned != "" && !strings.Contains(got, "swanctl.conf:9") {
			t.Errorf("warned %q, want %q", got, c.warned)
		}
	}
}
