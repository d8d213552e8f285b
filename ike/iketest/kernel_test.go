package iketest

import (
	"errors"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

var errRefused = errors.New("no buffer space available")

// refuse lets a kernel refuse the n-th installation to come, from 1.
func refuse(h *Host, n int) {
	count := 0
	h.Kernel.Refuse = func(*ike.ChildSA) error {
		if count++; count == n {
			return errRefused
		}
		return nil
	}
}

// TestKernelRefuses: the first CHILD_SA cannot be installed at one end. The IKE SA lives, the other end learns
// of it, and the next try succeeds.
func TestKernelRefuses(t *testing.T) {
	for _, who := range []int{0, 1} {
		p := NewPair(1, func(a, b *ike.Config) {
			restart(a, b)
			a.Connections[0].Children[0].StartAction = ike.ActionStart
		})
		refuse(p.Hosts()[who], 1)
		p.RunFor(settleTime)
		agree(t, p)
		if n := len(p.Hosts()[who].Failures()); n == 0 {
			failRun(t, p.Net, "%s has not reported that its kernel refused", p.Hosts()[who].Name)
		}
		p.Both(ike.Shutdown{})
		p.RunFor(settleTime)
		empty(t, p.Net)
	}
}

// TestKernelRefusesRekey: the old CHILD_SA serves on, without a lost packet, until a later rekey succeeds. Slow kernels
// refuse late.
func TestKernelRefusesRekey(t *testing.T) {
	for _, slow := range []time.Duration{0, 30 * time.Millisecond} {
		for who := range 2 {
			for _, r := range rekeys {
				for n := 1; n <= 2; n++ {
					for seed := range uint64(4) {
						p := established(t, seed, nil)
						for _, h := range p.Hosts() {
							h.InstallTime = slow
						}
						p.GuardTraffic()
						refuse(p.Hosts()[who], n)
						r.do(p, rekeyChild)
						p.RunFor(settleTime)
						if err := p.Agree(); err != nil || p.Err() != nil {
							failRun(t, p.Net, "rekey %s, host %d refuses installation %d, seed %d: %v %v", r.name, who, n, seed, p.Err(), err)
						}
					}
				}
			}
		}
	}
}
