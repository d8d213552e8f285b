//go:build lab

package scenario

import (
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestPeers shows that the lab works: two strongSwans, one tunnel, and a kernel
// that encrypts with AES-NI.
func TestPeers(t *testing.T) {
	p := newPair(t)
	conn := p.tunnel("lab", 1, suites[0])
	us := startCharon(t, p.us, []connection{conn}, []tunnelInterface{p.usInterface(1)})
	them := startCharon(t, p.them, reversed([]connection{conn}), []tunnelInterface{p.themInterface(1)})

	us.Initiate(t, conn.name)
	for _, side := range []labtest.Vici{us.Vici, them.Vici} {
		labtest.WaitFor(t, time.Minute, "the tunnel", func() error {
			_, err := side.Child(conn.name)
			return err
		})
	}
	labtest.Ping(t, p.us, 3, p.themInner(1))
	checkCarried(t, p.us, conn.ifID, suites[0].algorithm, false, 3*84)
	checkAESNI(t)
}
