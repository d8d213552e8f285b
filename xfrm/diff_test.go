package xfrm_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

// Up: the peer may send as soon as it has our answer, so everything inbound comes
// first; the interface comes last, for routes follow it. Down is the reverse.
func TestOrder(t *testing.T) {
	k := xfrmtest.New()
	want := routeBased(1)
	reach(t, k, want)
	up := []string{
		"add interface oci1",
		"add SA 10.0.0.2->10.0.0.1 esp spi 0xc0000001",
		"add policy src 0.0.0.0/0 dst 0.0.0.0/0 dir fwd if_id 0x1",
		"add policy src 0.0.0.0/0 dst 0.0.0.0/0 dir in if_id 0x1",
		"add SA 10.0.0.1->10.0.0.2 esp spi 0xc1000001",
		"add policy src 0.0.0.0/0 dst 0.0.0.0/0 dir out if_id 0x1",
		"raise interface oci1",
	}
	if d := cmp.Diff(up, k.Calls()); d != "" {
		t.Errorf("on the way up (-want +got):\n%s", d)
	}
	k.ResetCalls()
	reach(t, k, xfrm.State{})
	down := []string{
		"lower interface oci1",
		"delete policy src 0.0.0.0/0 dst 0.0.0.0/0 dir out if_id 0x1",
		"delete SA 10.0.0.2 esp spi 0xc1000001",
		"delete policy src 0.0.0.0/0 dst 0.0.0.0/0 dir fwd if_id 0x1",
		"delete policy src 0.0.0.0/0 dst 0.0.0.0/0 dir in if_id 0x1",
		"delete SA 10.0.0.1 esp spi 0xc0000001",
		"delete interface oci1",
	}
	if d := cmp.Diff(down, k.Calls()); d != "" {
		t.Errorf("on the way down (-want +got):\n%s", d)
	}
}

// A policy of an interface that was deleted and made again has the index of its
// predecessor, which the kernel gives to one policy only: the old one goes first.
func TestIndexIsFreedBeforeItIsUsed(t *testing.T) {
	guards := xfrm.Protect([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, []string{"oci1"})
	want := xfrm.State{Policies: guards}
	var have xfrm.State
	for _, c := range xfrm.Diff(want, xfrm.State{}, xfrm.DefaultOwner) {
		p := *c.NewPolicy // as it was installed, with its index
		if p.Selector.Interface != "" {
			p.Selector.Interface = "#4" // the kernel has no name for it any more
		}
		have.Policies = append(have.Policies, p)
	}
	var got []string
	for _, c := range xfrm.Diff(want, have, xfrm.DefaultOwner) {
		got = append(got, c.String())
	}
	if len(got) < 2 || len(got)%2 != 0 {
		t.Fatalf("changes: %q", got)
	}
	for i := 0; i < len(got); i += 2 {
		if !strings.HasPrefix(got[i], "delete policy") || !strings.HasPrefix(got[i+1], "add policy") {
			t.Errorf("changes %q, then %q", got[i], got[i+1])
		}
	}
}

// A rekey adds the new pair before it takes the old one, and leaves the rest.
func TestRekeyAddsBeforeItDeletes(t *testing.T) {
	k := xfrmtest.New()
	want := routeBased(1)
	reach(t, k, want)
	k.ResetCalls()
	for i := range want.SAs {
		want.SAs[i].SPI += 16
	}
	reach(t, k, want)
	got := k.Calls()
	if len(got) != 4 || !strings.HasPrefix(got[0], "add") || !strings.HasPrefix(got[1], "add") {
		t.Errorf("rekey: %q", got)
	}
}

func TestMovedPortIsAnUpdate(t *testing.T) {
	k := xfrmtest.New()
	want := routeBased(1)
	for i := range want.SAs {
		want.SAs[i].Encap = &xfrm.UDPEncap{SrcPort: 4500, DstPort: 4500}
	}
	reach(t, k, want)
	k.ResetCalls()
	for i := range want.SAs {
		want.SAs[i].Encap = &xfrm.UDPEncap{SrcPort: 4500, DstPort: 61234}
	}
	reach(t, k, want)
	for _, c := range k.Calls() {
		if !strings.HasPrefix(c, "update SA") {
			t.Errorf("a moved port caused %q", c)
		}
	}
}

// randomState picks from a small world, so that states overlap and conflict.
func randomState(r *rand.Rand) xfrm.State {
	var s xfrm.State
	for n := uint32(1); n <= 4; n++ {
		c := routeBased(n)
		if r.IntN(3) == 0 {
			c = policyBased(n, "192.168.15.0/24", fmt.Sprintf("192.168.%d.0/24", 16+n))
		}
		switch r.IntN(5) {
		case 0:
			continue
		case 1:
			c.SAs = c.SAs[:1]
		case 2:
			c.SAs[0].Limits.HardBytes = uint64(r.IntN(3))
		case 3:
			c.SAs[1].ESN = true
		}
		for i := range c.Interfaces {
			c.Interfaces[i].Up = r.IntN(2) == 0
			c.Interfaces[i].MTU = 1400 + r.IntN(2)
			if r.IntN(4) == 0 {
				c.Interfaces[i].Parent = "eth0"
			}
			if r.IntN(4) == 0 {
				c.Interfaces[i].Addresses = nil
			}
		}
		s = merge(s, c)
	}
	if r.IntN(2) == 0 {
		s.Policies = append(s.Policies, xfrm.Protect([]netip.Prefix{netip.MustParsePrefix("192.168.17.0/24")}, nil)...)
	}
	return s
}

// foreign installs what another daemon might have, overlapping nothing of ours.
func foreign(t *testing.T, k *xfrmtest.Kernel) {
	t.Helper()
	s := policyBased(200, "172.16.0.0/16", "172.17.0.0/16")
	for i := range s.SAs {
		s.SAs[i].ReqID = 1
	}
	for i := range s.Policies {
		s.Policies[i].Templates[0].ReqID = 1
	}
	errs := []error{k.AddSA(s.SAs[0]), k.AddSA(s.SAs[1]), k.AddInterface(xfrm.Interface{Name: "ipsec9", IfID: 9})}
	for _, p := range s.Policies {
		errs = append(errs, k.AddPolicy(p))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestDiffReachesWantAndIsIdempotent(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		want := randomState(r)
		fresh, used := xfrmtest.New(), xfrmtest.New()
		foreign(t, fresh)
		foreign(t, used)
		reach(t, fresh, want)
		reach(t, used, randomState(r))
		reach(t, used, want)
		if d := cmp.Diff(fresh.String(), used.String()); d != "" {
			t.Fatalf("the state depends on the way there (-fresh +used):\n%s", d)
		}
		if c := xfrm.Diff(want, dump(t, used), own); len(c) != 0 {
			t.Fatalf("not idempotent: %v", c)
		}
		reach(t, used, xfrm.State{})
		rest := xfrmtest.New()
		foreign(t, rest)
		if d := cmp.Diff(rest.String(), used.String()); d != "" {
			t.Fatalf("foreign objects changed (-want +got):\n%s", d)
		}
	}
}

// phase gives the rank of a change on the way up or down.
func phase(c xfrm.Change) int {
	dir := func(d xfrm.Dir, in, out int) int {
		if d == xfrm.DirOut {
			return out
		}
		return in
	}
	switch c.Op {
	case xfrm.OpAddSA, xfrm.OpUpdateSA:
		return dir(c.NewSA.Dir, 1, 3)
	case xfrm.OpAddPolicy, xfrm.OpUpdatePolicy:
		return dir(c.NewPolicy.Dir, 2, 4)
	case xfrm.OpInterfaceUp:
		return 5
	case xfrm.OpInterfaceDown:
		return 6
	case xfrm.OpDelPolicy:
		return dir(c.OldPolicy.Dir, 9, 7)
	case xfrm.OpDelSA:
		return dir(c.OldSA.Dir, 10, 8)
	}
	return -1
}

func TestOrderHoldsForAnyTransition(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		changes := xfrm.Diff(randomState(r), randomState(r), own)
		last := 0
		for i, c := range changes {
			p := phase(c)
			replaced := c.Op == xfrm.OpDelSA && i+1 < len(changes) && changes[i+1].Op == xfrm.OpAddSA &&
				changes[i+1].NewSA.ID() == c.OldSA.ID()
			if p < 0 || replaced {
				continue
			}
			if p < last {
				t.Fatalf("change %d out of order in %v", i, changes)
			}
			last = p
		}
	}
}

// Each step of each transition fails once: what Apply says was applied is what was
// applied, undoing it leads back, and doing it again leads on.
func TestFailureAtEachStep(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 25 {
		before, after := randomState(r), randomState(r)
		for n := 0; ; n++ {
			k := xfrmtest.New()
			reach(t, k, before)
			start := k.String()
			changes := xfrm.Diff(after, dump(t, k), own)
			if n >= len(changes) {
				break
			}
			k.FailAt(n, syscall.ENOMEM)
			applied, err := xfrm.Apply(k, changes)
			k.Heal()
			if !errors.Is(err, syscall.ENOMEM) {
				t.Fatalf("step %d of %v: error %v", n, changes, err)
			}

			shadow := xfrmtest.New()
			reach(t, shadow, before)
			if _, err := xfrm.Apply(shadow, applied); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(shadow.String(), k.String()); d != "" {
				t.Fatalf("step %d: applied is not the truth (-told +is):\n%s", n, d)
			}
			if _, err := xfrm.Apply(k, xfrm.Undo(applied)); err != nil {
				t.Fatalf("step %d: undo: %v", n, err)
			}
			if d := cmp.Diff(start, k.String()); d != "" {
				t.Fatalf("step %d: undo leads elsewhere (-start +got):\n%s", n, d)
			}
			reach(t, k, after)
		}
	}
}

func TestDeleteOfWhatIsGoneCounts(t *testing.T) {
	k := xfrmtest.New()
	reach(t, k, routeBased(1))
	changes := xfrm.Diff(xfrm.State{}, dump(t, k), own)
	reach(t, k, xfrm.State{}) // somebody was faster
	applied, err := xfrm.Apply(k, changes)
	if err != nil || len(applied) != len(changes) {
		t.Errorf("applied %d of %d, error %v", len(applied), len(changes), err)
	}
}

func TestFailedDeleteDoesNotStopOthers(t *testing.T) {
	k := xfrmtest.New()
	reach(t, k, routeBased(1))
	k.FailCall("lower interface", syscall.EBUSY)
	_, err := xfrm.Sweep(k, xfrm.State{}, own)
	if !errors.Is(err, syscall.EBUSY) || k.String() != "" {
		t.Errorf("error %v, left:\n%s", err, k)
	}
}

// A foreign object in the way is an error, never overwritten.
func TestForeignObjectInTheWay(t *testing.T) {
	k := xfrmtest.New()
	theirs := policyBased(1, "192.168.15.0/24", "192.168.16.0/24").Policies[2]
	theirs.Templates[0].ReqID = 1
	if err := k.AddPolicy(theirs); err != nil {
		t.Fatal(err)
	}
	before := k.String()
	ours := policyBased(1, "192.168.15.0/24", "192.168.16.0/24").Policies[2:]
	_, err := xfrm.Sweep(k, xfrm.State{Policies: ours}, own)
	if !errors.Is(err, syscall.EEXIST) || k.String() != before {
		t.Errorf("error %v, kernel:\n%s", err, k)
	}
}

// An interface that somebody else made is used and brought up, and stays.
func TestForeignInterfaceIsUsedNotDeleted(t *testing.T) {
	k := xfrmtest.New()
	theirs := xfrm.Interface{Name: "oci1", IfID: 1, Addresses: []xfrm.Address{{Prefix: netip.MustParsePrefix("10.9.9.9/32")}}}
	if err := k.AddInterface(theirs); err != nil {
		t.Fatal(err)
	}
	reach(t, k, routeBased(1))
	if got := k.String(); !strings.Contains(got, "link oci1 mtu 1400 state up xfrm if_id 0x1 addr 10.9.9.9/32 addr 169.254.21.5/31\n") {
		t.Errorf("kernel:\n%s", got)
	}
	reach(t, k, xfrm.State{})
	if got := k.String(); !strings.HasPrefix(got, "link oci1") {
		t.Errorf("the interface is gone:\n%s", got)
	}
}
