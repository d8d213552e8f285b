//go:build lab

package scenario

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// stateFlush takes all SAs away: new ones replace them, and the policies drop what is
// sent meanwhile.
func stateFlush(t *testing.T, r *faultRig) {
	old := r.spis(t, r.tunnel)
	start := time.Now()
	r.sites.us.IP(t, "xfrm state flush")
	labtest.WaitFor(t, faultTime, "new SAs", func() error {
		c, err := r.us.Child(r.tunnel.name)
		if err == nil && c.SPIIn+c.SPIOut == old {
			err = fmt.Errorf("still %s", old)
		}
		return err
	})
	awaitPing(t, r.tunnel)
	recovered(t, time.Since(start))
}

// policyFlush takes all policies away, the guards included. Until they are back, nothing
// keeps packets from leaving in the clear: that comes first, and does not wait for an audit.
func policyFlush(t *testing.T, r *faultRig) {
	_, want := labtest.StateCount(t, r.sites.us)
	gap := r.capture(t)
	start := time.Now()
	r.sites.us.IP(t, "xfrm policy flush")
	r.us.WaitLog(t, faultTime, "somebody flushed all policies; the guards are back")
	labtest.WaitFor(t, faultTime, "the policies", func() error {
		if _, have := labtest.StateCount(t, r.sites.us); have != want {
			return fmt.Errorf("%d policies, want %d", have, want)
		}
		return nil
	})
	recovered(t, time.Since(start))
	gap.Finish(t)
	t.Logf("%d packets left in the clear meanwhile", gap.Count(t, clearAlice))
}

// interfaceDeleted deletes a tunnel's xfrm interface. What is meant for it does not
// take another way.
func interfaceDeleted(t *testing.T, r *faultRig) {
	r.us.Initiate(t, r.routed.name)
	awaitChild(t, r.routed.name, r.us.Vici, r.charon.Vici)
	routeOverInterfaces(t, r.sites, r.routed)
	pingBothWays(t, r.routed)
	labtest.Start(t, r.alice, "ping-routed", nil, "ping", "-n", "-i", "0.05", "-I", r.routed.a.host, r.routed.b.host)
	name := xfrmi(r.routed.n)
	start := time.Now()
	r.sites.us.IP(t, "link del "+name)
	labtest.WaitFor(t, faultTime, name+" up", func() error {
		out, err := r.sites.us.Try("ip", "-o", "link", "show", "dev", name)
		if err == nil && !strings.Contains(out, "UP") {
			err = fmt.Errorf("down: %s", out)
		}
		return err
	})
	recovered(t, time.Since(start))
	// The route was the operator's, and went with the interface.
	r.sites.us.IP(t, fmt.Sprintf("route add %s dev %s", r.routed.b.host, name))
	awaitPing(t, r.routed)
	if err := r.us.Terminate(r.routed.name); err != nil {
		t.Error(err)
	}
}

// overrun stops ipsecd while the kernel has more to tell than its sockets hold, the
// loss of an SA among it.
func overrun(t *testing.T, r *faultRig) {
	old := r.spis(t, r.tunnel)
	r.us.Signal(t, syscall.SIGSTOP)
	var flood []string
	for i := range 24_000 {
		flood = append(flood, fmt.Sprintf("addr %s 10.99.0.1/32 dev lo", []string{"add", "del"}[i%2]))
	}
	r.sites.us.IP(t, flood...)
	r.sites.us.IP(t, "xfrm state flush")
	r.us.Signal(t, syscall.SIGCONT)
	start := time.Now()
	labtest.WaitFor(t, faultTime, "the overrun in the log", func() error {
		if !strings.Contains(r.us.Log(), "event queue overran") {
			return fmt.Errorf("not there")
		}
		return nil
	})
	awaitPing(t, r.tunnel)
	recovered(t, time.Since(start))
	r.awaitUp(t)
	if now := r.spis(t, r.tunnel); now == old {
		t.Error("still the SAs that the kernel has lost")
	}
}
