package xfrm_test

import (
	"net/netip"
	"syscall"
	"testing"

	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

// Numbers as strongSwan's users know them from ip xfrm policy.
func TestPriorityNumbers(t *testing.T) {
	for _, c := range []struct {
		class    xfrm.Class
		src, dst string
		want     uint32
	}{
		{xfrm.ClassDefault, "192.168.15.0/24", "192.168.14.128/25", 374911},
		{xfrm.ClassDefault, "10.1.0.0/24", "10.2.0.0/24", 375423},
		{xfrm.ClassDefault, "10.1.0.0/16", "10.2.0.0/16", 383615},
		{xfrm.ClassDefault, "192.0.2.1/32", "192.0.2.2/32", 367231},
		{xfrm.ClassDefault, "0.0.0.0/0", "0.0.0.0/0", 399999},
		{xfrm.ClassPass, "192.168.1.0/24", "192.168.1.0/24", 175423},
	} {
		s := xfrm.Selector{Src: netip.MustParsePrefix(c.src), Dst: netip.MustParsePrefix(c.dst)}
		if got := xfrm.Priority(c.class, s); got != c.want {
			t.Errorf("%s to %s: priority %d, want %d", c.src, c.dst, got, c.want)
		}
	}
	bgp := xfrm.Selector{
		Src: netip.MustParsePrefix("203.0.113.1/32"), Dst: netip.MustParsePrefix("198.51.100.200/32"),
		Proto: 6, DstPort: 179, DstPortMask: 0xffff,
	}
	if got := xfrm.Priority(xfrm.ClassDefault, bgp); got != 366911 {
		t.Errorf("one TCP port between hosts: priority %d, want 366911", got)
	}
}

// The narrowest selector of a class must still not overtake the class above.
func TestPriorityClassesDoNotOverlap(t *testing.T) {
	host := netip.MustParsePrefix("2001:db8::1/128")
	narrow := xfrm.Selector{Src: host, Dst: host, Proto: 6, SrcPortMask: 0xffff, DstPortMask: 0xffff, Interface: "eth0"}
	wide := anyToAny()
	for c := xfrm.ClassDefault; c <= xfrm.ClassFallback; c++ {
		if xfrm.Priority(c, narrow) <= xfrm.Priority(c-1, wide) {
			t.Errorf("class %d reaches into class %d", c, c-1)
		}
	}
}

var protected = []netip.Prefix{netip.MustParsePrefix("192.168.16.0/24")}

func inner(device string) xfrmtest.Packet {
	return xfrmtest.Packet{
		Src: netip.MustParseAddr("192.168.15.1"), Dst: netip.MustParseAddr("192.168.16.1"),
		Proto: 17, SrcPort: 1, DstPort: 2, Device: device,
	}
}

// leakTest runs the transition from before to after, stopped after each of its
// steps, and looks for plaintext.
func leakTest(t *testing.T, before, after xfrm.State, devices ...string) {
	t.Helper()
	for n := 0; ; n++ {
		k := xfrmtest.New()
		reach(t, k, before)
		changes := xfrm.Diff(after, dump(t, k), own)
		if n > len(changes) {
			return
		}
		if _, err := xfrm.Apply(k, changes[:n]); err != nil {
			t.Fatal(err)
		}
		for _, d := range devices {
			if fate := k.Output(inner(d)); fate == xfrmtest.Plain {
				t.Errorf("plaintext leaves by %s after %d steps of %v:\n%s", d, n, changes, k)
			}
		}
		// A daemon that dies here and starts again sweeps, guards first.
		if _, err := xfrm.Sweep(k, xfrm.State{Policies: xfrm.Protect(protected, nil)}, own); err != nil {
			t.Fatal(err)
		}
		if fate := k.Output(inner("eth0")); fate != xfrmtest.Dropped {
			t.Errorf("after a crash at step %d and a new start: %s", n, fate)
		}
	}
}

func TestNoPlaintextInAnyStepOfATunnelsLife(t *testing.T) {
	guards := xfrm.State{Policies: xfrm.Protect(protected, nil)}
	narrow := merge(guards, policyBased(1, "192.168.15.0/24", "192.168.16.0/24"))
	// This tunnel's selector is the guard's own: both want the same place.
	same := merge(guards, policyBased(1, "0.0.0.0/0", "192.168.16.0/24"))
	rekeyed := merge(guards, policyBased(2, "192.168.15.0/24", "192.168.16.0/24"))
	for name, c := range map[string][2]xfrm.State{
		"narrow up": {guards, narrow}, "narrow down": {narrow, guards},
		"same up": {guards, same}, "same down": {same, guards},
		"rekey": {narrow, rekeyed},
	} {
		t.Run(name, func(t *testing.T) { leakTest(t, c[0], c[1], "eth0") })
	}
}

func TestGuardsLetTrafficThroughTheirInterface(t *testing.T) {
	k := xfrmtest.New()
	want := merge(routeBased(1), xfrm.State{Policies: xfrm.Protect(protected, []string{"oci1"})})
	reach(t, k, want)
	if fate := k.Output(inner("oci1")); fate != xfrmtest.Protected {
		t.Errorf("through the tunnel: %s", fate)
	}
	if fate := k.Output(inner("eth0")); fate != xfrmtest.Dropped {
		t.Errorf("around the tunnel: %s", fate)
	}
	other := inner("eth0")
	other.Dst = netip.MustParseAddr("203.0.113.1")
	if fate := k.Output(other); fate != xfrmtest.Plain {
		t.Errorf("traffic that need not be protected: %s", fate)
	}
}

// The guard has no template and so no reqid: it is ours by its index, also when it
// took the place of a tunnel's policy.
func TestGuardsAreRecognisedAfterARestart(t *testing.T) {
	k := xfrmtest.New()
	guards := xfrm.State{Policies: xfrm.Protect(protected, nil)}
	reach(t, k, merge(guards, policyBased(1, "0.0.0.0/0", "192.168.16.0/24")))
	reach(t, k, guards)
	reach(t, k, xfrm.State{})
	if got := k.String(); got != "" {
		t.Errorf("left behind:\n%s", got)
	}
}

func TestGuardCannotBeInstalledForADeviceThatIsNot(t *testing.T) {
	k := xfrmtest.New()
	applied, err := xfrm.Sweep(k, xfrm.State{Policies: xfrm.Protect(protected, []string{"oci1"})}, own)
	if err == nil {
		t.Fatal("no error")
	}
	if !isErrno(err, syscall.ENODEV) {
		t.Errorf("error %v after %v", err, applied)
	}
}
