package daemon

import (
	"bytes"
	"log/slog"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// restarted is the installer of the process after one that was killed, over the same kernel.
func (r *rig) restarted(t *testing.T, reqids ...uint32) *rig {
	t.Helper()
	next := &rig{kernel: r.kernel}
	next.installer = newInstaller(r.kernel, xfrm.DefaultOwner, slog.New(slog.DiscardHandler), func(ev ike.Event) { next.events = append(next.events, ev) })
	now := time.Now()
	next.now = func() time.Time { return now }
	if err := next.keepLeftovers(func(id uint32) bool { return slices.Contains(reqids, id) }); err != nil {
		t.Fatal(err)
	}
	err := next.takeOver(fixture{interfaces: []config.Interface{{Name: "oci1", IfID: 1, Addresses: []netip.Prefix{netip.MustParsePrefix("169.254.21.5/31")}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// TestLeftoversServe: what a killed process has left carries traffic until the tunnel is there again.
func TestLeftoversServe(t *testing.T) {
	dead := newRig(t)
	old := testChild(1)
	dead.mustInstall(t, old, false)
	dead.perform(ike.ChildUp{Child: old})
	before := dead.kernel.String()
	dead.kernel.ResetCalls()

	r := dead.restarted(t, old.ReqID)
	if calls := r.kernel.Calls(); len(calls) > 0 {
		t.Errorf("the restart changed the kernel: %v", calls)
	}
	r.dropLeftovers()
	if _, err := r.poll(); err != nil {
		t.Fatal(err)
	}
	if err := r.audit(); err != nil {
		t.Fatal(err)
	}
	if got := r.kernel.String(); got != before {
		t.Errorf("the kernel has\n%s\nand had\n%s", got, before)
	}
	if len(r.events) > 0 {
		t.Errorf("the engine hears of SAs that are not its own: %v", r.events)
	}

	// A responder receives on the new one before it sends on it.
	next := testChild(2)
	r.mustInstall(t, next, true)
	if out := r.lines("0xd0000001"); len(out) == 0 {
		t.Error("nothing sends any more before the new outbound SA is there")
	}
	r.perform(ike.InstallOutbound{ChildID: 2})
	r.perform(ike.ChildUp{Child: next})
	if out := r.lines("0xd0000001"); len(out) > 0 {
		t.Errorf("the old outbound SA stays beside the new one: %v", out)
	}
	r.dropLeftovers()
	if in := r.lines("0xc0000001"); len(in) == 0 {
		t.Error("packets under way are lost: the old inbound SA went at once")
	}
	policies := r.lines("policy src")
	r.now = func() time.Time { return time.Now().Add(leftoverLinger + time.Second) }
	r.dropLeftovers()
	if in := r.lines("0xc0000001"); len(in) > 0 {
		t.Errorf("the old inbound SA stays: %v", in)
	}
	if now := r.lines("policy src"); !slices.Equal(now, policies) {
		t.Errorf("the policies changed with the old SA: %v, then %v", policies, now)
	}
	if list, err := r.kernel.Interfaces(); err != nil || !list[0].Up {
		t.Errorf("the interface went down: %v, %v", list, err)
	}
}

// TestLeftoversGo: what is not configured any more goes at once, and all when nothing takes its place in time.
func TestLeftoversGo(t *testing.T) {
	dead := newRig(t)
	old := testChild(1)
	dead.mustInstall(t, old, false)
	dead.perform(ike.ChildUp{Child: old})
	r := dead.restarted(t, old.ReqID)
	r.now = func() time.Time { return time.Now().Add(leftoverTime + time.Second) }
	r.dropLeftovers()
	for _, where := range []*rig{r, func() *rig {
		other := newRig(t)
		other.mustInstall(t, old, false)
		other.perform(ike.ChildUp{Child: old})
		return other.restarted(t, old.ReqID+1)
	}()} {
		sas, err := where.kernel.SAs()
		policies, perr := where.kernel.Policies()
		if err != nil || perr != nil || len(sas)+len(policies) > 0 {
			t.Errorf("left in the kernel: %d SAs, %d policies, %v, %v", len(sas), len(policies), err, perr)
		}
		if list, err := where.kernel.Interfaces(); err != nil || list[0].Up {
			t.Errorf("the interface is up without an SA: %v, %v", list, err)
		}
	}
}

// TestLeftoversHalf: one direction alone is no tunnel.
func TestLeftoversHalf(t *testing.T) {
	dead := newRig(t)
	old := testChild(1)
	dead.mustInstall(t, old, true)
	r := dead.restarted(t, old.ReqID)
	if sas, err := r.kernel.SAs(); err != nil || len(sas) > 0 {
		t.Errorf("%d SAs stay, %v", len(sas), err)
	}
}

// TestNumbersBesideLeftovers: the new tunnel's %unique marks are not those of one that a killed process has left.
func TestNumbersBesideLeftovers(t *testing.T) {
	dead := newRig(t)
	child := *testChildConfig
	child.MarkInBy, child.MarkOutBy = ike.NumberEach, ike.NumberEach
	old := testChild(1)
	old.Config, old.IfIDIn, old.IfIDOut = &child, 0, 0
	old.MarkIn, old.MarkOut = ike.Mark{Value: 7, Mask: math.MaxUint32}, ike.Mark{Value: 6, Mask: math.MaxUint32}
	dead.mustInstall(t, old, false)

	b := startPeer(t, false, "none", canary)
	dir := t.TempDir()
	a := &peer{first: true, kernel: dead.kernel, file: filepath.Join(dir, "ipsecd.conf"), socket: filepath.Join(dir, "vici"), log: &logBuffer{}}
	writePeerConfig(t, a.file, true, "start", canary)
	text, err := os.ReadFile(a.file)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("interface = tun1"), []byte("mark_in = %unique\n mark_out = %unique"), 1)
	text = bytes.Replace(text, []byte("if_id = 1\n"), []byte("if_id = 77\n"), 1)
	if err := os.WriteFile(a.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	a.start(t, nil)
	marks := func() (list []string) {
		policies, err := a.kernel.Policies()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range policies {
			if p.Dir == xfrm.DirOut {
				list = append(list, p.Mark.String())
			}
		}
		return list
	}
	eventually(t, "tunnel up on both sides", func() bool { return b.up() && len(marks()) == 2 })
	if got := marks(); !slices.Contains(got, "0x6/0xffffffff") || !slices.Contains(got, "0x8/0xffffffff") {
		t.Errorf("marks %v", got)
	}
}
