package daemon

import (
	"io"
	"log/slog"
	"os"

	"github.com/ipsecd/ipsecd/cmd/internal/handover"
	"github.com/ipsecd/ipsecd/routing/lookup"
	"github.com/ipsecd/ipsecd/routing/srcroute"
	"github.com/ipsecd/ipsecd/routing/vaddr"
	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/nl"
)

// Options are what a daemon is started with.
type Options struct {
	ConfigFile string // empty: the installed files
	VICI       string // URI of the VICI socket; empty: the configuration's
	Version    string
	Program    string // that takes this one's place when Upgrade asks for it
	LogLevel   string // for the router process
	Log        *slog.Logger
	Kernel     xfrm.Kernel
	Routes     func(table, priority int, ways lookup.Filter) srcroute.Kernel // for source routes; nil: there are none
	VirtualIPs vaddr.Kernel                                                  // for virtual addresses; nil: there are none
	Sysctl     nl.Sysctl                                                     // without a root, kernel parameters are left alone
	Rand       io.Reader
	Notify     func(state ...string) // tells the service manager (sd_notify)
	Hangup     <-chan os.Signal      // each value asks for a reload
	Upgrade    <-chan os.Signal      // each value asks Run to hand over to another process
	Inherited  *handover.Bundle      // of the process before; nil: there was none
}
