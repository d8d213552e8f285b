package daemon

import (
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

// rig is an installer over the fake kernel that records what it tells the engine.
type rig struct {
	*installer
	kernel *xfrmtest.Kernel
	events []ike.Event
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{kernel: xfrmtest.New()}
	r.installer = newInstaller(r.kernel, xfrm.DefaultOwner, slog.New(slog.DiscardHandler), func(ev ike.Event) { r.events = append(r.events, ev) })
	err := r.takeOver(fixture{interfaces: []config.Interface{{Name: "oci1", IfID: 1, Addresses: []netip.Prefix{netip.MustParsePrefix("169.254.21.5/31")}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) last() ike.Event {
	if len(r.events) == 0 {
		return nil
	}
	return r.events[len(r.events)-1]
}

var testChildConfig = &ike.ChildConfig{Name: "net", Policies: true, ReplayWindow: 32, CopyDF: true, IfIDIn: 1, IfIDOut: 1}

func testChild(id uint32) *ike.ChildSA {
	all := ike.TrafficSelector{Start: netip.MustParseAddr("0.0.0.0"), End: netip.MustParseAddr("255.255.255.255"), EndPort: 0xffff}
	return &ike.ChildSA{
		ID: id, IKEID: 1, Connection: "oci1", Config: testChildConfig, ReqID: xfrm.DefaultOwner.ReqIDBase + 1,
		Local: netip.MustParseAddr("10.30.0.6"), Remote: netip.MustParseAddr("192.168.1.1"),
		SPIIn: 0xc0000000 + id, SPIOut: 0xd0000000 + id, IfIDIn: 1, IfIDOut: 1,
		LocalTS: []ike.TrafficSelector{all}, RemoteTS: []ike.TrafficSelector{all}, LifeTime: time.Hour,
	}
}

func testKeys() *ike.ESPKeys {
	key := func(b byte) suite.Key { return suite.NewKey([]byte(strings.Repeat(string(rune(b)), 36))) }
	return &ike.ESPKeys{Encr: suite.Transform{Type: suite.ENCR, ID: suite.EncrAESGCM16, KeyBits: 256}, EncrIn: key('i'), EncrOut: key('o')}
}

func (r *rig) mustInstall(t *testing.T, c *ike.ChildSA, deferred bool) {
	t.Helper()
	r.perform(ike.InstallChild{Child: c, Keys: testKeys(), DeferOutbound: deferred})
	if ev, ok := r.last().(ike.Installed); !ok || ev.ChildID != c.ID {
		t.Fatalf("installing %d: %#v", c.ID, r.last())
	}
}

// lines returns the kernel's printed state that contains every one of the words.
func (r *rig) lines(words ...string) []string {
	var out []string
	for _, l := range strings.Split(r.kernel.String(), "\n") {
		ok := true
		for _, w := range words {
			ok = ok && strings.Contains(l, w)
		}
		if ok && l != "" {
			out = append(out, l)
		}
	}
	return out
}

func TestInstallOrder(t *testing.T) {
	r := newRig(t)
	r.kernel.ResetCalls()
	r.mustInstall(t, testChild(1), false)
	got := strings.Join(r.kernel.Calls(), "\n")
	at := func(s string) int {
		i := strings.Index(got, s)
		if i < 0 {
			t.Fatalf("no %q in the calls:\n%s", s, got)
		}
		return i
	}
	inSA, outSA := at("c0000001"), at("d0000001")
	for _, dir := range []string{"dir in", "dir fwd"} {
		if p := at(dir); p < inSA || p > outSA {
			t.Errorf("%s is not between the inbound and the outbound SA:\n%s", dir, got)
		}
	}
	if at("dir out") < outSA {
		t.Errorf("the outbound policy comes before the outbound SA:\n%s", got)
	}
}

func TestInstallRollsBackAtEveryStep(t *testing.T) {
	r := newRig(t)
	before := r.kernel.String()
	for step := range 5 {
		r.kernel.ResetCalls()
		r.kernel.FailAt(step, syscall.ENOBUFS)
		r.perform(ike.InstallChild{Child: testChild(1), Keys: testKeys()})
		r.kernel.Heal()
		if ev, ok := r.last().(ike.InstallFailed); !ok || ev.ChildID != 1 || ev.Err == nil {
			t.Fatalf("step %d: %#v", step, r.last())
		}
		if got := r.kernel.String(); got != before {
			t.Errorf("step %d left behind:\n%s\nbefore:\n%s", step, got, before)
		}
	}
	r.mustInstall(t, testChild(1), false)
}

// A rekey never leaves a moment without the policies, and the outbound SA comes
// only when the engine says so.
func TestRekeyKeepsPolicies(t *testing.T) {
	r := newRig(t)
	r.mustInstall(t, testChild(1), false)
	policies := len(r.lines("dir "))
	r.mustInstall(t, testChild(2), true)
	if n := len(r.lines("d0000002")); n != 0 {
		t.Error("the deferred outbound SA is installed at once")
	}
	r.perform(ike.InstallOutbound{ChildID: 2})
	if n := len(r.lines("d0000002")); n == 0 {
		t.Error("the deferred outbound SA is missing")
	}
	r.perform(ike.RemoveOutbound{ChildID: 1})
	if len(r.lines("d0000001")) != 0 || len(r.lines("c0000001")) == 0 {
		t.Error("of the rekeyed CHILD_SA the outbound half alone should go")
	}
	r.perform(ike.RemoveChild{ChildID: 1})
	if got := len(r.lines("dir ")); got != policies {
		t.Errorf("%d policy lines after the rekey, %d before", got, policies)
	}
	r.perform(ike.RemoveChild{ChildID: 2})
	if got := r.lines("reqid"); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
	if len(r.children)+len(r.bySPI)+len(r.policies) != 0 {
		t.Errorf("the installer still remembers %d, %d, %d objects", len(r.children), len(r.bySPI), len(r.policies))
	}
}

func TestTotalsSurviveRekey(t *testing.T) {
	r := newRig(t)
	name := status.ChildName{Connection: "oci1", Child: "net"}
	count := func(spi uint32, dst string, packets uint64) {
		t.Helper()
		id := xfrm.SAID{Dst: netip.MustParseAddr(dst), SPI: xfrm.SPI(spi), Proto: xfrm.ESP}
		if err := r.kernel.Traffic(id, packets*100, packets); err != nil {
			t.Fatal(err)
		}
	}
	r.mustInstall(t, testChild(1), false)
	count(0xc0000001, "10.30.0.6", 5)
	r.mustInstall(t, testChild(2), false)
	count(0xc0000001, "10.30.0.6", 2)
	count(0xd0000002, "192.168.1.1", 3)
	r.perform(ike.RemoveChild{ChildID: 1}) // without a poll in between
	s, err := r.poll()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.totals[name]; got.PacketsIn != 7 || got.BytesIn != 700 || got.PacketsOut != 3 {
		t.Errorf("totals %+v, want 7 packets in, 3 out", got)
	}
	if got := s.traffic[2]; got.PacketsIn != 0 || got.PacketsOut != 3 || !got.LastIn.IsZero() || got.LastOut.IsZero() {
		t.Errorf("the new SA's own traffic is %+v", got)
	}
}

func TestLostSAIsReported(t *testing.T) {
	r := newRig(t)
	r.mustInstall(t, testChild(1), false)
	r.events = nil
	if err := r.kernel.DelSA(xfrm.SAID{Dst: netip.MustParseAddr("10.30.0.6"), SPI: 0xc0000001, Proto: xfrm.ESP}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // reported once
		if _, err := r.poll(); err != nil {
			t.Fatal(err)
		}
	}
	want := ike.Expire{SPI: 0xc0000001, Dst: netip.MustParseAddr("10.30.0.6"), Hard: true}
	if len(r.events) != 1 || r.events[0] != want {
		t.Errorf("events %v, want one %v", r.events, want)
	}
}

func TestAuditRestoresPolicies(t *testing.T) {
	r := newRig(t)
	r.mustInstall(t, testChild(1), false)
	want := r.kernel.String()
	list, err := r.kernel.Policies()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if err := r.kernel.DelPolicy(p.ID()); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.audit(); err != nil {
		t.Fatal(err)
	}
	if got := r.kernel.String(); got != want {
		t.Errorf("after the audit:\n%s\nwant:\n%s", got, want)
	}
	if r.drift != len(list) {
		t.Errorf("drift %d, want %d", r.drift, len(list))
	}
}

func TestAuditRestoresInterfaces(t *testing.T) {
	r := newRig(t)
	c := testChild(1)
	r.mustInstall(t, c, false)
	r.perform(ike.ChildUp{Child: c})
	want := r.kernel.String()
	if err := r.kernel.DelInterface("oci1"); err != nil {
		t.Fatal(err)
	}
	if err := r.audit(); err != nil {
		t.Fatal(err)
	}
	if got := r.kernel.String(); got != want {
		t.Errorf("after the audit:\n%s\nwant:\n%s", got, want)
	}
}

func TestMoveTakesStatesAndPoliciesTogether(t *testing.T) {
	r := newRig(t)
	r.mustInstall(t, testChild(1), false)
	to := testChild(1)
	to.Remote, to.Encap, to.LocalPort, to.RemotePort = netip.MustParseAddr("192.0.2.9"), true, 4500, 40000
	r.kernel.ResetCalls()
	r.perform(ike.MoveChild{Child: to})
	// While the outbound SA is on its way, its policy must not let the old one be used.
	calls := r.kernel.Calls()
	policy := slices.IndexFunc(calls, func(c string) bool { return strings.Contains(c, "dir out") })
	if read := slices.IndexFunc(calls, func(c string) bool { return strings.Contains(c, "d0000001") }); policy < 0 || policy > read {
		t.Errorf("the outbound SA is moved before its policy:\n%s", strings.Join(calls, "\n"))
	}
	if got := r.lines("192.168.1.1"); len(got) != 0 {
		t.Errorf("still at the old address: %v", got)
	}
	if len(r.lines("192.0.2.9", "c0000001")) == 0 || len(r.lines("192.0.2.9", "d0000001")) == 0 {
		t.Errorf("not at the new address:\n%s", r.kernel)
	}
	r.perform(ike.RemoveChild{ChildID: 1})
	if got := r.lines("reqid"); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// A sequence number is the nonce of AES-GCM: none is used again after a move.
func TestMoveSkipsSequenceNumbers(t *testing.T) {
	for _, tt := range []struct {
		sa   xfrm.SA
		want uint64
	}{
		{xfrm.SA{Dir: xfrm.DirOut, Replay: &xfrm.ReplayState{OutSeq: 7}}, 7 + moveGap},
		{xfrm.SA{Dir: xfrm.DirOut, Replay: &xfrm.ReplayState{OutSeq: 1<<32 - 9}}, 1<<32 - 9},
		{xfrm.SA{Dir: xfrm.DirOut, ESN: true, Replay: &xfrm.ReplayState{OutSeq: 1<<32 - 9}}, 1<<32 - 9 + moveGap},
	} {
		if skip(&tt.sa); tt.sa.Replay.OutSeq != tt.want {
			t.Errorf("%+v: want %d", *tt.sa.Replay, tt.want)
		}
	}
	inbound := xfrm.SA{Dir: xfrm.DirIn, Replay: &xfrm.ReplayState{InSeq: 7}}
	if skip(&inbound); inbound.Replay.InSeq != 7 || inbound.Replay.OutSeq != 0 {
		t.Errorf("inbound: %+v", *inbound.Replay)
	}
}

func TestInterfaceFollowsChild(t *testing.T) {
	r := newRig(t)
	up := func() bool {
		list, err := r.kernel.Interfaces()
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		return list[0].Up
	}
	if up() {
		t.Error("up before there is a CHILD_SA")
	}
	c := testChild(1)
	r.mustInstall(t, c, false)
	r.perform(ike.ChildUp{Child: c})
	if !up() {
		t.Error("down although the CHILD_SA is up")
	}
	name := status.ChildName{Connection: "oci1", Child: "net"}
	if got := r.status(0).upSince[name]; got.IsZero() {
		t.Errorf("up since %v", got)
	}
	r.perform(ike.ChildDown{Connection: "oci1", Child: "net"})
	if up() {
		t.Error("up although the CHILD_SA is gone")
	}
	if got := r.status(0).upSince; len(got) != 0 {
		t.Errorf("up since %v although it is down", got)
	}
}

func TestTakeOverSweepsOnlyOurs(t *testing.T) {
	r := newRig(t)
	r.mustInstall(t, testChild(1), false)
	foreign := xfrm.SA{
		Src: netip.MustParseAddr("198.51.100.1"), Dst: netip.MustParseAddr("198.51.100.2"), SPI: 0x1234, Proto: xfrm.ESP, Mode: xfrm.Tunnel, Dir: xfrm.DirIn, ReqID: 7, ReplayWindow: 32,
		AEAD: &xfrm.AEAD{Name: "rfc4106(gcm(aes))", Key: make(xfrm.Key, 20), ICVBits: 128},
	}
	if err := r.kernel.AddSA(foreign); err != nil {
		t.Fatal(err)
	}
	again := newInstaller(r.kernel, xfrm.DefaultOwner, slog.New(slog.DiscardHandler), func(ike.Event) {})
	if err := again.takeOver(fixture{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := r.lines("c0000001"); len(got) != 0 {
		t.Errorf("orphans: %v", got)
	}
	if got := r.lines("0x00001234"); len(got) == 0 {
		t.Errorf("a foreign SA was removed:\n%s", r.kernel)
	}
}

// Keys are wiped once the kernel has them, whether it took them or not.
func TestKeysAreWiped(t *testing.T) {
	r := newRig(t)
	for _, fail := range []bool{false, true} {
		keys := testKeys()
		raw := keys.EncrIn.Bytes()
		if fail {
			r.kernel.FailCall("add SA", syscall.EINVAL)
			r.perform(ike.RemoveChild{ChildID: 1})
		}
		r.perform(ike.InstallChild{Child: testChild(1), Keys: keys})
		for _, b := range raw {
			if b != 0 {
				t.Fatal("key octets are left")
			}
		}
	}
}
