//go:build lab

package scenario

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// recoverTime is promised to users: after a restart, tunnels and routes are back
// within it. In emulation, where a key exchange takes seconds, it is three times
// as long.
func recoverTime() time.Duration {
	if os.Getenv("LAB_GUEST") == "1" {
		return 30 * time.Second
	}
	return 10 * time.Second
}

// TestKillRouter kills the router process: IKE, the SAs and forwarding go on, and
// the next router finds the routes as they were.
func TestKillRouter(t *testing.T) {
	needIpsecd(t)
	d := newDeployment(t)
	us := d.startIpsecd(t, "")
	d.awaitUp(t)
	sas := ikeIdentities(t, us)
	old := us.RouterPID(t)

	ping := labtest.StartPing(t, d.client, 20*time.Millisecond, vcn1Servers[0])
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	took := labtest.WaitFor(t, deployTime, "a new router process", func() error {
		pids, err := us.Children()
		if err == nil && (len(pids) != 1 || pids[0] == old) {
			err = fmt.Errorf("children of ipsecd: %v", pids)
		}
		return err
	})
	t.Logf("a new router process after %v", took.Round(time.Millisecond))
	took = labtest.WaitFor(t, deployTime, "the head-ends' BGP sessions", d.bird.WantEstablished(t, 8))
	t.Logf("BGP sessions again after %v more", took.Round(time.Millisecond))
	d.awaitUp(t)
	if result := ping.Stop(t); result.Lost > 0 {
		t.Errorf("forwarding was interrupted: %v", result)
	}
	if now := ikeIdentities(t, us); now != sas {
		t.Errorf("IKE SAs changed:\nbefore %s\nafter  %s", sas, now)
	}
}

// TestKillIpsecd kills the daemon: nothing leaks, its restart brings everything
// back in time, and nothing of the dead one is left over.
func TestKillIpsecd(t *testing.T) {
	needIpsecd(t)
	d := newDeployment(t)
	us := d.startIpsecd(t, "")
	d.awaitUp(t)
	states, policies := labtest.StateCount(t, d.gw)
	capture := d.captureCircuit(t)
	ping := d.pingForever(t)
	router := us.RouterPID(t)

	us.Kill(t)
	labtest.WaitFor(t, time.Minute, "the end of the router process", func() error {
		if _, err := os.Stat(fmt.Sprint("/proc/", router)); err == nil {
			return fmt.Errorf("process %d is still there", router)
		}
		return nil
	})
	start := time.Now()
	us.Start(t)
	labtest.WaitFor(t, deployTime, "eight tunnels", wantChildren(us.Vici, 8))
	tunnels := time.Since(start)
	labtest.WaitFor(t, deployTime, "the 8-way route to VCN1", labtest.WantPaths(t, d.gw, vcn1, tunnelNames()...))
	routes := time.Since(start)
	d.awaitVCN1(t)
	t.Logf("after kill -9 and restart: tunnels after %v, routes after %v", tunnels.Round(time.Millisecond), routes.Round(time.Millisecond))
	if limit := recoverTime(); routes > limit {
		t.Errorf("tunnels and routes took %v, want at most %v", routes, limit)
	}
	d.awaitUp(t)
	labtest.WaitFor(t, deployTime, "as many SAs and policies as before", func() error {
		if s, p := labtest.StateCount(t, d.gw); s != states || p != policies {
			return fmt.Errorf("%d states and %d policies, want %d and %d", s, p, states, policies)
		}
		return nil
	})
	ping.Stop(t)
	capture.Finish(t)
	if leaked := capture.Count(t, clearVCN1); leaked > 0 {
		t.Errorf("%d packets of VCN1 left in the clear:\n%s", leaked, capture.Print(t, clearVCN1, 5))
	}
}

// ikeIdentities prints what changes when an SA is set up anew.
func ikeIdentities(t *testing.T, us *labtest.Ipsecd) string {
	t.Helper()
	sas, err := us.SAs()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, sa := range sas {
		out[sa.Name] = sa.SPIInitiator + sa.SPIResponder
	}
	return fmt.Sprint(out)
}
