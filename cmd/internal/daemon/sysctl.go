package daemon

import (
	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/xfrm/nl"
)

// setAcquireExpiry has the kernel ask once while we negotiate: it repeats an acquire, and drops the
// packet that waits, when this time is over.
func (d *Daemon) setAcquireExpiry(c *config.Config) {
	if d.opts.Sysctl.Root == "" {
		return
	}
	s := nl.AcquireExpiry(c.IKE.Timing.RetransmitTotal())
	if err := d.opts.Sysctl.Set(s); err != nil {
		d.log.Warn("traffic that waits for a tunnel may ask for it several times", "err", err)
	}
}
