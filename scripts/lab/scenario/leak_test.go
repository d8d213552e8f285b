//go:build lab

package scenario

import (
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// clearVCN1 matches a packet of VCN1 that is not inside ESP: a filter looks at
// the outer addresses.
const clearVCN1 = "net " + vcn1

// TestNothingInTheClear takes the tunnels and then the daemon away in every way
// there is, while the client keeps sending to VCN1: not one packet of it is seen
// on the outer link.
func TestNothingInTheClear(t *testing.T) {
	needIpsecd(t)
	d := newDeployment(t)
	d.checkLeaksWithoutUs(t)
	us := d.startIpsecd(t, quickDPD)
	capture := d.captureCircuit(t)
	ping := d.pingForever(t)

	steps := []struct {
		name string
		do   func()
		up   bool // VCN1 is reached afterwards
	}{
		{"started", func() {}, true},
		{"all tunnels die", func() { d.cutOff(t, azureTunnels...); d.awaitGuard(t) }, false},
		{"the tunnels come back", func() { d.reconnect(t) }, true},
		{"stop", func() { us.Stop(t) }, false},
		{"start again", func() { us.Start(t) }, true},
		{"kill", func() { us.Kill(t) }, true}, // the kernel keeps SAs and routes
		{"start after the kill", func() { us.Start(t) }, true},
	}
	for _, s := range steps {
		t.Log(s.name)
		s.do()
		if s.up {
			d.awaitVCN1(t)
		} else {
			labtest.Unreachable(t, d.client, vcn1Servers[0])
		}
	}
	ping.Stop(t)

	// Only a capture that saw the rest proves anything.
	labtest.Ping(t, d.client, 3, vcn2Server)
	capture.WaitCount(t, time.Minute, "icmp and host "+vcn2Server, 6)
	capture.WaitCount(t, time.Minute, "esp", 10)
	capture.Finish(t)
	if leaked := capture.Count(t, clearVCN1); leaked > 0 {
		t.Errorf("%d packets of VCN1 left in the clear, the first of them:\n%s", leaked, capture.Print(t, clearVCN1, 5))
	}
}

// checkLeaksWithoutUs shows that nothing but ipsecd keeps VCN1 off the circuit.
func (d *deployment) checkLeaksWithoutUs(t *testing.T) {
	t.Helper()
	capture := d.captureCircuit(t)
	ping := d.pingForever(t)
	capture.WaitCount(t, time.Minute, clearVCN1, 1)
	ping.Stop(t)
	capture.Finish(t)
}

// pingForever sends to VCN1 ten times a second, answered or not.
func (d *deployment) pingForever(t *testing.T) *labtest.Process {
	t.Helper()
	return labtest.Start(t, d.client, "ping-client", nil, "ping", "-n", "-i", "0.1", vcn1Servers[0])
}

// awaitVCN1 waits until the client reaches VCN1.
func (d *deployment) awaitVCN1(t *testing.T) time.Duration {
	t.Helper()
	return labtest.WaitFor(t, deployTime, "VCN1 reached", func() error {
		_, err := d.client.Try("ping", "-q", "-c", "1", "-W", "2", vcn1Servers[0])
		return err
	})
}

// awaitGuard waits until only the guard route to VCN1 is left.
func (d *deployment) awaitGuard(t *testing.T) {
	t.Helper()
	labtest.WaitFor(t, deployTime, "VCN1 without a path", labtest.WantPaths(t, d.gw, vcn1))
}

// captureCircuit records the outer link, at its far end: the near one also shows
// packets that the kernel has just decrypted.
func (d *deployment) captureCircuit(t *testing.T) *labtest.Capture {
	t.Helper()
	return labtest.StartCapture(t, d.circuit, "azure")
}
