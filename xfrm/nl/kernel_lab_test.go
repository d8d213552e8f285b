//go:build lab

package nl

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	vnl "github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// These tests need a kernel with ESP, AES-GCM, XFRM interfaces and root. Each makes
// a network namespace of its own and stays on one thread in it.

// eventDeadline is generous: the lab's machine may be slow.
const eventDeadline = 30 * time.Second

func namespace(t *testing.T) *Kernel {
	t.Helper()
	runtime.LockOSThread()
	old, err := netns.Get()
	if err != nil {
		t.Fatal(err)
	}
	ns, err := netns.New()
	if err != nil {
		t.Fatal(err)
	}
	k, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = k.Close()
		_ = ns.Close()
		if err := netns.Set(old); err == nil {
			_ = old.Close()
			runtime.UnlockOSThread()
		}
	})
	return k
}

func raise(t *testing.T, k *Kernel, name string, addrs ...string) {
	t.Helper()
	l, err := k.route.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		p := netip.MustParsePrefix(a)
		if err := k.route.AddrAdd(l, toAddr(xfrm.Address{Prefix: p})); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.route.LinkSetUp(l); err != nil {
		t.Fatal(err)
	}
}

// veth makes a pair of devices and raises both, the first with addresses. (The
// loopback device is exempt from policies.)
func veth(t *testing.T, k *Kernel, addrs ...string) {
	t.Helper()
	if err := k.route.LinkAdd(&vnl.Veth{LinkAttrs: vnl.LinkAttrs{Name: "v0"}, PeerName: "v1"}); err != nil {
		t.Fatal(err)
	}
	raise(t, k, "v1")
	raise(t, k, "v0", addrs...)
}

// labSAs cover every attribute that a kernel without hardware offload takes.
func labSAs(f xfrm.Features) map[string]xfrm.SA {
	gcm := gcmSA()
	gcm.Flags = xfrm.DecapDSCP
	gcm.MappingThreshold = 5 * time.Second
	out := gcmSA()
	out.Src, out.Dst, out.SPI, out.Dir, out.ReplayWindow = out.Dst, out.Src, 0xc0000003, xfrm.DirOut, 0
	out.Flags = xfrm.NoPMTUDisc | xfrm.DontEncapDSCP
	outESN := out
	outESN.SPI, outESN.ESN = 0xc0000004, true
	cbc := esnSA()
	cbc.Selector = xfrm.Selector{}
	wide := gcmSA()
	wide.SPI, wide.ReplayWindow, wide.Flags, wide.Encap = 0xc0000005, 1024, 0, nil
	small := wide
	small.SPI, small.ReplayWindow = 0xc0000006, 1
	mixed := esnSA() // IPv4 in IPv6
	mixed.SPI, mixed.Mode = 0xc0000007, xfrm.Tunnel
	mixed.Selector = xfrm.Selector{Src: netip.MustParsePrefix("10.1.0.0/16"), Dst: netip.MustParsePrefix("10.2.0.0/16")}
	tcp := esnSA()
	tcp.SPI = 0xc0000008
	cpu := out
	cpu.SPI, cpu.CPU.Bound = 0xc0000009, f.Has(xfrm.PerCPUSAs)
	return map[string]xfrm.SA{
		"cpu": cpu, "gcm in": gcm, "gcm out": out, "gcm out esn": outESN, "cbc esn": cbc, "window 1024": wide,
		"window 1": small, "v4 in v6": mixed, "transport tcp": tcp,
	}
}

func TestLabSAs(t *testing.T) {
	k := namespace(t)
	for name, sa := range labSAs(k.Features()) {
		t.Run(name, func(t *testing.T) {
			if sa.MappingThreshold != 0 && !k.Features().Has(xfrm.MappingThreshold) {
				sa.MappingThreshold = 0
			}
			if err := k.AddSA(sa); err != nil {
				t.Fatal(err)
			}
			if err := k.AddSA(sa); !errors.Is(err, syscall.EEXIST) {
				t.Errorf("again: %v", err)
			}
			got, err := k.GetSA(sa.ID())
			if err != nil {
				t.Fatal(err)
			}
			if !xfrm.SameSA(&sa, &got.SA) {
				t.Errorf("(-want +got):\n%s", cmp.Diff(sa, got.SA, values))
			}
			if got.Added.IsZero() || got.Packets != 0 {
				t.Errorf("fresh SA: %+v", got)
			}
			if err := k.DelSA(sa.ID()); err != nil {
				t.Error(err)
			}
			if err := k.DelSA(sa.ID()); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("deleted again: %v", err)
			}
		})
	}
}

func TestLabUpdateSA(t *testing.T) {
	k := namespace(t)
	sa := gcmSA()
	sa.Flags = 0
	if err := k.AddSA(sa); err != nil {
		t.Fatal(err)
	}
	sa.Encap = &xfrm.UDPEncap{SrcPort: 61234, DstPort: 4500}
	sa.Limits.HardAdd = 2 * time.Hour
	keyless := sa
	keyless.AEAD = &xfrm.AEAD{Name: sa.AEAD.Name, ICVBits: 128}
	if err := k.UpdateSA(keyless); err != nil {
		t.Fatal(err)
	}
	got, err := k.GetSA(sa.ID())
	if err != nil {
		t.Fatal(err)
	}
	if !xfrm.SameSA(&sa, &got.SA) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(sa, got.SA, values))
	}
}

func TestLabPolicies(t *testing.T) {
	k := namespace(t)
	transport := xfrm.Policy{
		Dir:       xfrm.DirOut,
		Selector:  xfrm.Selector{Src: netip.MustParsePrefix("2001:db8::1/128"), Dst: netip.MustParsePrefix("2001:db8::2/128"), Proto: 6},
		Templates: []xfrm.Template{{Proto: xfrm.ESP, Mode: xfrm.Transport, ReqID: 9}},
	}
	want := append([]xfrm.Policy{outPolicy(), transport},
		xfrm.Protect([]netip.Prefix{netip.MustParsePrefix("10.2.0.0/16"), netip.MustParsePrefix("2001:db8:2::/48")}, []string{"lo"})...)
	for _, p := range want {
		if err := k.AddPolicy(p); err != nil {
			t.Fatal(err)
		}
		if err := k.AddPolicy(p); !errors.Is(err, syscall.EEXIST) {
			t.Errorf("again: %v", err)
		}
	}
	have, err := k.Policies()
	if err != nil || len(have) != len(want) {
		t.Fatalf("%d policies, want %d: %v", len(have), len(want), err)
	}
	for i := range want {
		found := false
		for j := range have {
			found = found || xfrm.SamePolicy(&want[i], &have[j].Policy)
		}
		if !found {
			t.Errorf("not found: %+v", want[i])
		}
	}
	for _, p := range want {
		if err := k.DelPolicy(p.ID()); err != nil {
			t.Error(err)
		}
	}
	if err := k.DelPolicy(want[0].ID()); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("deleted again: %v", err)
	}
}

// With an SA for no CPU of its own in place, traffic asks for one for the CPU that it comes from, and takes the other meanwhile.
func TestLabAcquirePerCPU(t *testing.T) {
	k := namespace(t)
	if err := k.Features().Require(xfrm.PerCPUSAs); err != nil {
		t.Skip(err)
	}
	veth(t, k, "192.168.15.1/24", "192.168.14.129/25")
	ch, err := k.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := outPolicy()
	p.Mark, p.IfID, p.PerCPU = xfrm.Mark{}, 0, true
	p.Selector.Proto, p.Selector.DstPort, p.Selector.DstPortMask = 17, 9999, 0xffff
	p.Templates[0].Src, p.Templates[0].Dst = netip.MustParseAddr("192.168.15.1"), netip.MustParseAddr("192.168.14.130")
	if err := k.AddPolicy(p); err != nil {
		t.Fatal(err)
	}
	var mine, all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	mine.Set(1)
	if err := unix.SchedSetaffinity(0, &mine); err != nil {
		t.Skip("there is one CPU only")
	}
	defer func() { _ = unix.SchedSetaffinity(0, &all) }()
	send(t, "192.168.15.1:0", "192.168.14.130:9999")
	if ev := wait(t, ch, func(xfrm.AcquireEvent) bool { return true }); ev.CPU.Bound {
		t.Errorf("without any SA, one for CPU %d is asked for", ev.CPU.Number)
	}
	sa := gcmSA()
	sa.Src, sa.Dst, sa.Dir, sa.ReplayWindow = p.Templates[0].Src, p.Templates[0].Dst, xfrm.DirOut, 0
	sa.Mark, sa.IfID, sa.Encap, sa.OutputMark = xfrm.Mark{}, 0, nil, xfrm.Mark{}
	if err := k.AddSA(sa); err != nil {
		t.Fatal(err)
	}
	send(t, "192.168.15.1:0", "192.168.14.130:9999")
	ev := wait(t, ch, func(xfrm.AcquireEvent) bool { return true })
	if want := (xfrm.CPU{Bound: true, Number: 1}); ev.CPU != want || ev.ReqID != 7 {
		t.Errorf("got reqid %d, %+v; want 7, %+v", ev.ReqID, ev.CPU, want)
	}
}

func TestLabInterfaces(t *testing.T) {
	k := namespace(t)
	i := xfrm.Interface{
		Name: "oci1", IfID: 7, Parent: "lo", MTU: 1400, Alias: "ipsecd",
		Addresses: []xfrm.Address{
			{Prefix: netip.MustParsePrefix("169.254.21.5/31")},
			{Prefix: netip.MustParsePrefix("10.9.9.1/32"), Peer: netip.MustParseAddr("10.9.9.2")},
			{Prefix: netip.MustParsePrefix("2001:db8::5/64")},
		},
	}
	if err := k.AddInterface(i); err != nil {
		t.Fatal(err)
	}
	if err := k.AddInterface(i); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("again: %v", err)
	}
	if err := k.SetInterfaceUp("oci1", true); err != nil {
		t.Fatal(err)
	}
	list, err := k.Interfaces()
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	got := list[0].Interface
	add, del := xfrm.DiffAddresses(i.Addresses, got.Addresses)
	if got.Name != "oci1" || got.IfID != 7 || got.Parent != "lo" || got.MTU != 1400 || got.Alias != "ipsecd" || !got.Up ||
		len(add)+len(del) != 0 {
		t.Errorf("got %+v", got)
	}
	i.MTU, i.Addresses = 1380, i.Addresses[:1]
	if err := k.UpdateInterface(i); err != nil {
		t.Fatal(err)
	}
	list, _ = k.Interfaces()
	if add, del := xfrm.DiffAddresses(i.Addresses, list[0].Addresses); len(add)+len(del) != 0 || list[0].MTU != 1380 {
		t.Errorf("after the update: %+v", list[0])
	}
	if err := k.DelInterface("oci1"); err != nil {
		t.Error(err)
	}
	if err := k.DelInterface("oci1"); !errors.Is(err, syscall.ENODEV) {
		t.Errorf("deleted again: %v", err)
	}
}

// What the kernel tells back must look to Diff like what was asked for.
func TestLabSweepIsIdempotentOnTheRealKernel(t *testing.T) {
	k := namespace(t)
	own := xfrm.DefaultOwner
	want := xfrm.State{
		Interfaces: []xfrm.Interface{{Name: "oci1", IfID: 0x2a, MTU: 1400, Up: true, Addresses: []xfrm.Address{{Prefix: netip.MustParsePrefix("169.254.21.5/31")}}}},
		Policies:   append(xfrm.Protect([]netip.Prefix{netip.MustParsePrefix("10.2.0.0/16")}, []string{"oci1"}), outPolicy()),
	}
	own.ReqIDs = []uint32{7, 8}
	for _, sa := range labSAs(k.Features()) {
		sa.MappingThreshold = 0
		want.SAs = append(want.SAs, sa)
	}
	if _, err := xfrm.Sweep(k, want, own); err != nil {
		t.Fatal(err)
	}
	again, err := xfrm.Sweep(k, want, own)
	if err != nil || len(again) != 0 {
		t.Errorf("the second time changed %v, error %v", again, err)
	}
	if _, err := xfrm.Sweep(k, xfrm.State{}, own); err != nil {
		t.Fatal(err)
	}
	left, err := xfrm.Dump(k)
	if err != nil || len(left.SAs)+len(left.Policies)+len(left.Interfaces) != 0 {
		t.Errorf("left behind: %+v, error %v", left, err)
	}
}

// wait returns the first event that f accepts.
func wait[E xfrm.Event](t *testing.T, ch <-chan xfrm.Event, f func(E) bool) E {
	t.Helper()
	deadline := time.After(eventDeadline)
	for {
		select {
		case ev, ok := <-ch:
			if !ok {
				t.Fatal("the event channel is closed")
			}
			if e, ok := ev.(E); ok && f(e) {
				return e
			}
		case <-deadline:
			t.Fatalf("no %T within %v", *new(E), eventDeadline)
		}
	}
}

// A packet that meets a policy without SA is reported, with the template's reqid and
// the policy's index and priority.
func TestLabAcquire(t *testing.T) {
	k := namespace(t)
	veth(t, k, "192.168.15.1/24", "192.168.14.129/25")
	ch, err := k.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := outPolicy()
	p.Mark, p.IfID = xfrm.Mark{}, 0
	p.Selector.Proto, p.Selector.DstPort, p.Selector.DstPortMask = 17, 9999, 0xffff
	p.Index = 0x69000009
	p.Templates[0].Src, p.Templates[0].Dst = netip.MustParseAddr("192.168.15.1"), netip.MustParseAddr("10.0.0.2")
	if err := k.AddPolicy(p); err != nil {
		t.Fatal(err)
	}
	send(t, "192.168.15.1:0", "192.168.14.130:9999")
	ev := wait(t, ch, func(xfrm.AcquireEvent) bool { return true })
	if ev.ReqID != 7 || ev.Proto != xfrm.ESP || ev.Mode != xfrm.Tunnel || ev.Dst != p.Templates[0].Dst ||
		ev.Policy.Index != p.Index || ev.Policy.ID() != p.ID() ||
		ev.Packet.Dst.Addr() != netip.MustParseAddr("192.168.14.130") || ev.Packet.DstPort != 9999 {
		t.Errorf("got %+v", ev)
	}
	// The kernel's placeholder for the SA to come is not an SA.
	if sas, err := k.SAs(); err != nil || len(sas) != 0 {
		t.Errorf("SAs %+v, error %v", sas, err)
	}
}

// send sends one datagram; that it may be refused is the point.
func send(t *testing.T, from, to string) {
	t.Helper()
	src, err := net.ResolveUDPAddr("udp", from)
	if err != nil {
		t.Fatal(err)
	}
	d := net.Dialer{LocalAddr: src}
	c, err := d.Dial("udp", to)
	if err != nil {
		return // connect already asks the policies
	}
	defer c.Close()
	_, _ = c.Write([]byte("x"))
}

// Each limit has an SA of its own: where the soft one is noticed late, the kernel
// reports the hard one alone.
func TestLabExpiry(t *testing.T) {
	k := namespace(t)
	ch, err := k.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	soft, hard := gcmSA(), gcmSA()
	soft.Flags, soft.Limits = 0, xfrm.Limits{SoftAdd: time.Second}
	hard.Flags, hard.Limits, hard.SPI = 0, xfrm.Limits{HardAdd: time.Second}, hard.SPI+1
	for _, sa := range []xfrm.SA{soft, hard} {
		if err := k.AddSA(sa); err != nil {
			t.Fatal(err)
		}
		e := wait(t, ch, func(xfrm.ExpireEvent) bool { return true })
		if e.SA.ID() != sa.ID() || e.SA.ReqID != 7 || e.Hard != (sa.SPI == hard.SPI) {
			t.Errorf("%v: %+v", sa.ID(), e)
		}
	}
	if _, err := k.GetSA(soft.ID()); err != nil {
		t.Errorf("a soft limit ended the SA: %v", err)
	}
	if _, err := k.GetSA(hard.ID()); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("still there after its hard limit: %v", err)
	}
}

// What others delete is reported at once, what we delete is not.
func TestLabRemovals(t *testing.T) {
	k := namespace(t)
	ch, err := k.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	sa, p := gcmSA(), outPolicy()
	sa.Flags = 0
	addSA := func() error { return k.AddSA(sa) }
	addPolicy := func() error { return k.AddPolicy(p) }
	for _, tt := range []struct {
		name   string
		add    func() error
		remove func(by *Kernel) error
	}{
		{"policy", addPolicy, func(by *Kernel) error { return by.DelPolicy(p.ID()) }},
		{"all policies", addPolicy, func(by *Kernel) error { return by.conn.do(msgFlushPol, 0, nil) }},
		{"SA", addSA, func(by *Kernel) error { return by.DelSA(sa.ID()) }},
		{"all SAs", addSA, func(by *Kernel) error { return by.conn.do(msgFlushSA, 0, []byte{uint8(xfrm.ESP), 0, 0, 0}) }},
	} {
		for _, by := range []*Kernel{k, other} {
			if err := tt.add(); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if err := tt.remove(by); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
		// Ours came first, had it been reported.
		wait(t, ch, func(xfrm.RemovedEvent) bool { return true })
		select {
		case ev := <-ch:
			t.Errorf("%s: an event more, %#v", tt.name, ev)
		default:
		}
	}
}

func TestLabLinkEvents(t *testing.T) {
	k := namespace(t)
	ctx, cancel := context.WithCancel(t.Context())
	ch, err := k.Events(ctx)
	if err != nil {
		t.Fatal(err)
	}
	veth(t, k, "192.0.2.1/24")
	// The address is given before the device is raised.
	wait(t, ch, func(e xfrm.AddrEvent) bool { return e.Address == netip.MustParsePrefix("192.0.2.1/24") && !e.Deleted })
	wait(t, ch, func(e xfrm.LinkEvent) bool { return e.Name == "v0" && e.Up })
	l, _ := k.route.LinkByName("v0")
	if err := k.route.LinkDel(l); err != nil {
		t.Fatal(err)
	}
	wait(t, ch, func(e xfrm.LinkEvent) bool { return e.Name == "v0" && e.Deleted })
	cancel()
	for range ch { // ends because the channel is closed
	}
}

// With default policies that block, nothing leaves without a policy.
func TestLabDefaults(t *testing.T) {
	k := namespace(t)
	veth(t, k, "192.0.2.1/24")
	if err := k.SetDefaults(xfrm.Defaults{BlockOut: true}); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("udp", "192.0.2.2:9")
	if err == nil {
		_, err = c.Write([]byte("x"))
		_ = c.Close()
	}
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
		t.Errorf("sending gave %v", err)
	}
}
