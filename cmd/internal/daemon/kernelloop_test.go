package daemon

import (
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

// What somebody else removes is back as soon as the kernel has told, not at the next
// audit.
func TestRemovalsAreRepairedAtOnce(t *testing.T) {
	r := newRig(t)
	r.mustInstall(t, testChild(1), false)
	events, err := r.kernel.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := r.kernel.String()
	k := newKernelLoop(r.installer, events, func(*kernelStatus) {})
	go k.run(t.Context())

	removePolicies(t, r.kernel)
	r.kernel.Emit(xfrm.RemovedEvent{})
	deadline := time.Now().Add(auditInterval / 2)
	for r.kernel.String() != want {
		if time.Now().After(deadline) {
			t.Fatalf("the kernel has\n%s\nwant\n%s", r.kernel, want)
		}
		time.Sleep(time.Millisecond)
	}
}

// After a flush of all policies the guards are back before anything else is done, also
// when the comparison has to wait.
func TestGuardsComeBackFirst(t *testing.T) {
	r := newRig(t)
	if err := r.reconfigure(fixture{guards: []netip.Prefix{netip.MustParsePrefix("10.2.0.0/16")}}); err != nil {
		t.Fatal(err)
	}
	fate := func() xfrmtest.Fate {
		return r.kernel.Output(xfrmtest.Packet{Src: netip.MustParseAddr("10.1.0.1"), Dst: netip.MustParseAddr("10.2.0.1")})
	}
	r.mustInstall(t, testChild(1), false)
	k := &kernelLoop{in: r.installer, recheck: stoppedTimer(), checked: time.Now(), checkTook: time.Hour}
	for range 2 {
		removePolicies(t, r.kernel)
		if now := fate(); now != xfrmtest.Plain {
			t.Fatalf("without policies: %v", now)
		}
		k.event(xfrm.RemovedEvent{AllPolicies: true})
		if now := fate(); now != xfrmtest.Dropped {
			t.Errorf("after the flush: %v", now)
		}
	}
}

func removePolicies(t *testing.T, k *xfrmtest.Kernel) {
	t.Helper()
	list, err := k.Policies()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if err := k.DelPolicy(p.ID()); err != nil {
			t.Fatal(err)
		}
	}
}

// Comparing takes its share of the time only, however much others remove.
func TestRemovalsCannotKeepUsBusy(t *testing.T) {
	k := &kernelLoop{}
	now := time.Now()
	if d := k.recheckDelay(now); d != 0 {
		t.Errorf("the first time, it waits %v", d)
	}
	k.checked, k.checkTook = now, time.Second
	if d := k.recheckDelay(now); d != pollShare*time.Second {
		t.Errorf("after a check of 1 s, it waits %v", d)
	}
	if d := k.recheckDelay(now.Add(time.Hour)); d != 0 {
		t.Errorf("an hour later, it waits %v", d)
	}
}
