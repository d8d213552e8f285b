package daemon

import (
	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/nl"
)

// cpus returns how many CPUs CHILD_SAs may be divided among, 0 for none: where no child asks for it, or with a warning
// where the kernel cannot.
func (d *Daemon) cpus(c *config.Config) int {
	n, err := -1, error(nil)
	for _, conn := range c.IKE.Connections {
		for _, ch := range conn.Children {
			if !ch.PerCPU {
				continue
			}
			if n < 0 {
				if n, err = 0, d.opts.Kernel.Features().Require(xfrm.PerCPUSAs); err == nil {
					n, err = nl.CPUs()
				}
			}
			if err != nil {
				d.log.Warn("per_cpu_sas: one CHILD_SA serves all CPUs", "connection", conn.Name, "child", ch.Name, "at", ch.Source, "err", err)
			}
		}
	}
	return max(n, 0)
}
