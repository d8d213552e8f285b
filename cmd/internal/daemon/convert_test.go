package daemon

import (
	"testing"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/xfrm"
)

// convert returns the SAs and policies of a tunnel whose child is configured by edit.
func convert(t *testing.T, edit func(*ike.ChildConfig, *ike.ChildSA, *ike.ESPKeys)) (in, out xfrm.SA, list []xfrm.Policy) {
	t.Helper()
	c, keys := testChild(1), testKeys()
	cfg := ike.DefaultChild()
	cfg.Name = "net"
	c.Config = &cfg
	edit(&cfg, c, keys)
	var err error
	if in, err = inboundSA(c, keys); err != nil {
		t.Fatal(err)
	}
	if out, err = outboundSA(c, keys); err != nil {
		t.Fatal(err)
	}
	for _, sa := range []xfrm.SA{in, out} {
		if err := sa.Check(); err != nil {
			t.Error(err)
		}
	}
	list = policies(c)
	for _, p := range list {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
	return in, out, list
}

func nothing(*ike.ChildConfig, *ike.ChildSA, *ike.ESPKeys) {}

// The flags of ip-xfrm(8) follow from what swanctl.conf says, each in the direction in which it means something.
func TestFlags(t *testing.T) {
	for _, v := range []struct {
		name    string
		edit    func(*ike.ChildConfig)
		in, out xfrm.SAFlags
	}{
		{"defaults", func(*ike.ChildConfig) {}, 0, 0},
		{"copy_df = no", func(c *ike.ChildConfig) { c.CopyDF = false }, 0, xfrm.NoPMTUDisc},
		{"copy_ecn = no", func(c *ike.ChildConfig) { c.CopyECN = false }, xfrm.NoECN, xfrm.NoECN},
		{"copy_dscp = in", func(c *ike.ChildConfig) { c.CopyDSCPIn, c.CopyDSCPOut = true, false }, xfrm.DecapDSCP, xfrm.DontEncapDSCP},
		{"copy_dscp = yes", func(c *ike.ChildConfig) { c.CopyDSCPIn = true }, xfrm.DecapDSCP, 0},
		{"icmp = yes", func(c *ike.ChildConfig) { c.ForwardICMP = true }, xfrm.ICMP, 0},
	} {
		in, out, _ := convert(t, func(c *ike.ChildConfig, _ *ike.ChildSA, _ *ike.ESPKeys) { v.edit(c) })
		if in.Flags&^xfrm.AFUnspec != v.in || out.Flags&^xfrm.AFUnspec != v.out {
			t.Errorf("%s: flags %#x in, %#x out; want %#x, %#x", v.name, in.Flags, out.Flags, v.in, v.out)
		}
	}
}

// The kernel asks policies for packets that go out whether ICMP errors belong to them, and no others.
func TestICMPPolicies(t *testing.T) {
	_, _, list := convert(t, func(cfg *ike.ChildConfig, _ *ike.ChildSA, _ *ike.ESPKeys) { cfg.ForwardICMP = true })
	for _, p := range list {
		if p.ICMP != (p.Dir == xfrm.DirOut) {
			t.Errorf("%v: flag icmp %v", p.ID(), p.ICMP)
		}
	}
}

// Both halves of a CHILD_SA for one CPU are for that CPU; the policies, which those for the others share, ask for an SA for each.
func TestPerCPU(t *testing.T) {
	for _, cpu := range []ike.CPU{{}, {Bound: true}, {Bound: true, Number: 3}} {
		in, out, list := convert(t, func(cfg *ike.ChildConfig, c *ike.ChildSA, _ *ike.ESPKeys) {
			c.PerCPU, c.CPU, cfg.ForwardOut = true, cpu, true
		})
		if in.CPU != xfrm.CPU(cpu) || out.CPU != xfrm.CPU(cpu) {
			t.Errorf("for %+v: %+v in, %+v out", cpu, in.CPU, out.CPU)
		}
		for _, p := range list {
			if p.PerCPU != (p.Dir == xfrm.DirOut) {
				t.Errorf("%v: asks for each CPU: %v", p.ID(), p.PerCPU)
			}
		}
	}
}

func TestMarks(t *testing.T) {
	a, b, c, d := ike.Mark{Value: 1, Mask: 255}, ike.Mark{Value: 2, Mask: 255}, ike.Mark{Value: 3, Mask: 255}, ike.Mark{Value: 4, Mask: 255}
	for _, inSA := range []bool{false, true} {
		in, out, list := convert(t, func(cfg *ike.ChildConfig, sa *ike.ChildSA, _ *ike.ESPKeys) {
			sa.MarkIn, sa.MarkOut, cfg.SetMarkIn, cfg.SetMarkOut, cfg.MarkInSA = a, b, c, d, inSA
		})
		if (in.Mark == xfrm.Mark(a)) != inSA || out.Mark != xfrm.Mark(b) || in.OutputMark != xfrm.Mark(c) || out.OutputMark != xfrm.Mark(d) {
			t.Errorf("mark_in_sa %v: SAs %v %v, set %v %v", inSA, in.Mark, out.Mark, in.OutputMark, out.OutputMark)
		}
		for _, p := range list {
			if want := map[xfrm.Dir]ike.Mark{xfrm.DirIn: a, xfrm.DirFwd: a, xfrm.DirOut: b}[p.Dir]; p.Mark != xfrm.Mark(want) {
				t.Errorf("policy %v has the mark %v", p.Dir, p.Mark)
			}
		}
	}
}

// Limits by volume are for both directions: a download is received.
func TestVolumes(t *testing.T) {
	in, out, _ := convert(t, func(cfg *ike.ChildConfig, c *ike.ChildSA, _ *ike.ESPKeys) {
		cfg.LifeBytes, cfg.LifePackets = 1100, 110
		c.RekeyBytes, c.RekeyPackets = 1000, 100
	})
	for _, sa := range []xfrm.SA{in, out} {
		l := sa.Limits
		if l.SoftBytes != 1000 || l.HardBytes != 1100 || l.SoftPackets != 100 || l.HardPackets != 110 {
			t.Errorf("%v: %+v", sa.Dir, l)
		}
	}
}

// RFC 7296 section 1.3.1: no TFC padding to a peer that takes none, and none in transport mode.
func TestTFCPadding(t *testing.T) {
	for _, v := range []struct {
		edit func(*ike.ChildSA)
		want uint32
	}{
		{func(*ike.ChildSA) {}, 1200},
		{func(c *ike.ChildSA) { c.NoTFC = true }, 0},
		{func(c *ike.ChildSA) { c.Mode = ike.ModeTransport }, 0},
	} {
		in, out, _ := convert(t, func(cfg *ike.ChildConfig, c *ike.ChildSA, _ *ike.ESPKeys) { cfg.TFCPadding = 1200; v.edit(c) })
		if in.TFCPad != 0 || out.TFCPad != v.want {
			t.Errorf("padding %d in, %d out; want 0, %d", in.TFCPad, out.TFCPad, v.want)
		}
	}
}

func TestSHA256Truncation(t *testing.T) {
	for _, broken := range []bool{false, true} {
		in, _, _ := convert(t, func(cfg *ike.ChildConfig, _ *ike.ChildSA, k *ike.ESPKeys) {
			cfg.SHA256Trunc96 = broken
			k.Encr = suite.Transform{Type: suite.ENCR, ID: suite.EncrAESCBC, KeyBits: 256}
			k.Integ = suite.Transform{Type: suite.INTEG, ID: suite.IntegSHA256_128}
		})
		if want := map[bool]int{false: 128, true: 96}[broken]; in.Auth.TruncBits != want {
			t.Errorf("sha256_96 %v: ICV of %d bits", broken, in.Auth.TruncBits)
		}
	}
}

// What policies_fwd_out adds lets pass what is forwarded into the tunnel, and ranks below the tunnel's own.
func TestForwardOut(t *testing.T) {
	_, _, plain := convert(t, nothing)
	_, _, list := convert(t, func(cfg *ike.ChildConfig, _ *ike.ChildSA, _ *ike.ESPKeys) {
		cfg.ForwardOut = true
		cfg.Priority = 999_999
	})
	if len(list) != len(plain)+1 {
		t.Fatalf("%d policies, %d without", len(list), len(plain))
	}
	p := list[len(list)-1]
	if p.Dir != xfrm.DirFwd || p.Selector != list[1].Selector || len(p.Templates) != 0 || p.Action != xfrm.Allow || p.Priority <= list[1].Priority {
		t.Errorf("got %+v", p)
	}
}

// RFC 4303 section 3.4.3: the window is checked by the receiver, and only there.
func TestReplayWindow(t *testing.T) {
	for _, w := range []uint32{0, 32, 4096} {
		in, out, _ := convert(t, func(cfg *ike.ChildConfig, _ *ike.ChildSA, k *ike.ESPKeys) { cfg.ReplayWindow, k.ESN = w, w != 0 })
		if in.ReplayWindow != w || in.ReplayOff != (w == 0) || out.ReplayWindow != 0 || in.ESN != (w != 0) || out.ESN != in.ESN {
			t.Errorf("window %d: %d off %v esn %v in, %d out", w, in.ReplayWindow, in.ReplayOff, in.ESN, out.ReplayWindow)
		}
	}
}
