package xfrmtest_test

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

var (
	here, peer = netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	nets       = xfrm.Selector{Src: netip.MustParsePrefix("192.168.15.0/24"), Dst: netip.MustParsePrefix("192.168.14.128/25")}
)

func outSA() xfrm.SA {
	return xfrm.SA{
		Src: here, Dst: peer, SPI: 0xc1000001, Proto: xfrm.ESP, Mode: xfrm.Tunnel, Dir: xfrm.DirOut, ReqID: 7,
		AEAD:   &xfrm.AEAD{Name: "rfc4106(gcm(aes))", Key: make(xfrm.Key, 20), ICVBits: 128},
		Limits: xfrm.Limits{SoftBytes: 1000, HardBytes: 2000, HardAdd: time.Hour},
	}
}

func outPolicy() xfrm.Policy {
	return xfrm.Policy{
		Dir: xfrm.DirOut, Selector: nets, Priority: 374911,
		Templates: []xfrm.Template{{Src: here, Dst: peer, Proto: xfrm.ESP, Mode: xfrm.Tunnel, ReqID: 7}},
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// What a person who knows ip-xfrm(8) would write down for this state.
func TestString(t *testing.T) {
	k := xfrmtest.New()
	sa := outSA()
	sa.Encap = &xfrm.UDPEncap{SrcPort: 4500, DstPort: 4500}
	must(t, k.AddSA(sa), k.AddPolicy(outPolicy()),
		k.AddPolicy(xfrm.Policy{Dir: xfrm.DirFwd, Selector: nets, Action: xfrm.Block, Priority: 9, IfID: 1}),
		k.AddInterface(xfrm.Interface{Name: "oci1", IfID: 1, Parent: "eth0"}))
	want := `link oci1 mtu 1500 state down xfrm if_id 0x1 dev eth0
policy src 192.168.15.0/24 dst 192.168.14.128/25 dir fwd action block priority 9 if_id 0x1
policy src 192.168.15.0/24 dst 192.168.14.128/25 dir out priority 374911 tmpl src 10.0.0.1 dst 10.0.0.2 proto esp reqid 7 mode tunnel
state src 10.0.0.1 dst 10.0.0.2 proto esp spi 0xc1000001 reqid 7 mode tunnel replay-window 0 aead rfc4106(gcm(aes)) 128 encap type espinudp sport 4500 dport 4500 dir out
`
	if d := cmp.Diff(want, k.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRulesOfTheKernel(t *testing.T) {
	k := xfrmtest.New()
	must(t, k.AddSA(outSA()), k.AddPolicy(outPolicy()), k.AddInterface(xfrm.Interface{Name: "oci1", IfID: 1}))
	badKey := outSA()
	badKey.SPI, badKey.AEAD.Key = 0xc1000002, make(xfrm.Key, 16) // the salt is missing
	odd := outSA()
	odd.SPI, odd.AEAD.Name = 0xc1000003, "rot13"
	noDev := outPolicy()
	noDev.Selector.Interface = "eth9"
	absent := outSA()
	absent.SPI = 0xc1000004
	gone := xfrm.PolicyID{Dir: xfrm.DirIn, Selector: nets}
	for name, c := range map[string]struct {
		err  error
		want syscall.Errno
	}{
		"same SPI":                {k.AddSA(outSA()), syscall.EEXIST},
		"short key":               {k.AddSA(badKey), syscall.EINVAL},
		"unknown algorithm":       {k.AddSA(odd), syscall.ENOSYS},
		"update of nothing":       {k.UpdateSA(absent), syscall.ESRCH},
		"delete of no SA":         {k.DelSA(absent.ID()), syscall.ESRCH},
		"same policy":             {k.AddPolicy(outPolicy()), syscall.EEXIST},
		"policy on no device":     {k.AddPolicy(noDev), syscall.ENODEV},
		"delete of no policy":     {k.DelPolicy(gone), syscall.ENOENT},
		"same interface name":     {k.AddInterface(xfrm.Interface{Name: "oci1", IfID: 2}), syscall.EEXIST},
		"same if_id":              {k.AddInterface(xfrm.Interface{Name: "oci2", IfID: 1}), syscall.EEXIST},
		"no if_id":                {k.AddInterface(xfrm.Interface{Name: "oci2"}), syscall.EINVAL},
		"no parent":               {k.AddInterface(xfrm.Interface{Name: "oci2", IfID: 2, Parent: "eth9"}), syscall.ENODEV},
		"name of 16 bytes":        {k.AddInterface(xfrm.Interface{Name: "oci2oci2oci2oci2", IfID: 2}), syscall.EINVAL},
		"raise of no interface":   {k.SetInterfaceUp("oci2", true), syscall.ENODEV},
		"delete of no interface":  {k.DelInterface("oci2"), syscall.ENODEV},
		"name of another device":  {k.AddInterface(xfrm.Interface{Name: "eth0", IfID: 2}), syscall.EEXIST},
		"another SA may be added": {k.AddSA(absent), 0},
	} {
		if c.want == 0 && c.err != nil || c.want != 0 && !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

func TestOldKernelForgetsDirections(t *testing.T) {
	k := xfrmtest.NewWith(xfrm.NewFeatures(xfrm.XFRMInterfaces))
	must(t, k.AddSA(outSA()))
	sas, _ := k.SAs()
	if sas[0].Dir != 0 {
		t.Errorf("direction %v", sas[0].Dir)
	}
	if err := k.SetDefaults(xfrm.Defaults{BlockOut: true}); err == nil {
		t.Error("default policy on an old kernel")
	}
}

// The caller wipes its keys after installing; the kernel keeps its own.
func TestKernelKeepsItsOwnKeys(t *testing.T) {
	k := xfrmtest.New()
	sa := outSA()
	sa.AEAD.Key[0] = 9
	must(t, k.AddSA(sa))
	sa.AEAD.Key.Clear()
	if got, _ := k.GetSA(sa.ID()); got.AEAD.Key[0] != 9 {
		t.Error("wiping the caller's key wiped the kernel's")
	}
}

func next[E xfrm.Event](t *testing.T, ch <-chan xfrm.Event) E {
	t.Helper()
	select {
	case ev := <-ch:
		e, ok := ev.(E)
		if !ok {
			t.Fatalf("event %T %+v, want %T", ev, ev, *new(E))
		}
		return e
	default:
		t.Fatalf("no event, want %T", *new(E))
	}
	panic("unreachable")
}

func TestTrafficCountsAndExpires(t *testing.T) {
	k := xfrmtest.New()
	ch, _ := k.Events(t.Context())
	sa := outSA()
	must(t, k.AddSA(sa), k.Traffic(sa.ID(), 600, 2), k.Traffic(sa.ID(), 600, 1))
	if ev := next[xfrm.ExpireEvent](t, ch); ev.Hard || ev.SA.Bytes != 1200 || ev.SA.AEAD != nil {
		t.Errorf("soft limit: %+v", ev)
	}
	if got, _ := k.GetSA(sa.ID()); got.Packets != 3 || got.Replay.OutSeq != 3 || got.LastUsed.IsZero() {
		t.Errorf("counters: %+v", got)
	}
	must(t, k.Traffic(sa.ID(), 100, 1)) // the soft limit is reported once
	must(t, k.Traffic(sa.ID(), 1000, 1))
	if ev := next[xfrm.ExpireEvent](t, ch); !ev.Hard {
		t.Errorf("hard limit: %+v", ev)
	}
	if err := k.Traffic(sa.ID(), 1, 1); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("an expired SA still works: %v", err)
	}
}

func TestTimeExpires(t *testing.T) {
	k := xfrmtest.New()
	ch, _ := k.Events(t.Context())
	must(t, k.AddSA(outSA()))
	k.Advance(59 * time.Minute)
	if len(ch) != 0 {
		t.Error("expired early")
	}
	k.Advance(time.Minute)
	if ev := next[xfrm.ExpireEvent](t, ch); !ev.Hard {
		t.Errorf("%+v", ev)
	}
}

func TestMissingSAIsAcquired(t *testing.T) {
	k := xfrmtest.New()
	ch, _ := k.Events(t.Context())
	must(t, k.AddPolicy(outPolicy()))
	p := xfrmtest.Packet{Src: netip.MustParseAddr("192.168.15.1"), Dst: netip.MustParseAddr("192.168.14.129"), Device: "eth0"}
	if fate := k.Output(p); fate != xfrmtest.Dropped {
		t.Errorf("without SA: %s", fate)
	}
	ev := next[xfrm.AcquireEvent](t, ch)
	if ev.ReqID != 7 || ev.Dst != peer || !ev.Packet.Dst.Contains(p.Dst) || ev.Policy.Priority != 374911 {
		t.Errorf("%+v", ev)
	}
	must(t, k.AddSA(outSA()))
	if fate := k.Output(p); fate != xfrmtest.Protected {
		t.Errorf("with SA: %s", fate)
	}
	p.Dst = netip.MustParseAddr("192.168.14.1") // outside the /25
	if fate := k.Output(p); fate != xfrmtest.Plain {
		t.Errorf("other traffic: %s", fate)
	}
}

// A reader who does not keep up learns that it missed something.
func TestSlowReaderGetsOverrun(t *testing.T) {
	k := xfrmtest.New()
	ctx, cancel := context.WithCancel(t.Context())
	ch, _ := k.Events(ctx)
	for range 1000 {
		k.Emit(xfrm.AddrEvent{Index: 1})
	}
	n := len(ch)
	for range n {
		<-ch
	}
	k.Emit(xfrm.AddrEvent{Index: 2})
	next[xfrm.OverrunEvent](t, ch)
	if ev := next[xfrm.AddrEvent](t, ch); ev.Index != 2 {
		t.Errorf("%+v", ev)
	}
	cancel()
	for range ch { // ends because the channel is closed
	}
}

func TestFailures(t *testing.T) {
	k := xfrmtest.New()
	k.FailAt(1, syscall.ENOMEM)
	must(t, k.AddSA(outSA()))
	if err := k.AddPolicy(outPolicy()); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("second call: %v", err)
	}
	must(t, k.AddPolicy(outPolicy()))
	k.FailCall("delete SA 10.0.0.2", syscall.EPERM)
	id := xfrm.SAID{Dst: peer, SPI: 0xc1000001, Proto: xfrm.ESP}
	if err := k.DelSA(id); !errors.Is(err, syscall.EPERM) {
		t.Errorf("delete: %v", err)
	}
	k.Heal()
	must(t, k.DelSA(id))
}
