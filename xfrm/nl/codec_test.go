package nl

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/xfrm"
)

// linux/xfrm.h: the sizes are the ABI. Those of arrays built here come from the
// tables of attributes; the rest must be sums of their parts.
func TestSizes(t *testing.T) {
	const lifetimeCfg, lifetimeCur, stats, address = 64, 32, 12, 16
	for name, c := range map[string]struct{ got, want int }{
		"xfrm_usersa_info":       {sizeUserSAInfo, sizeSelector + sizeID + address + lifetimeCfg + lifetimeCur + stats + 4 + 4 + 2 + 3 + 7},
		"xfrm_userpolicy_info":   {sizePolicyInfo, sizeSelector + lifetimeCfg + lifetimeCur + 4 + 4 + 4 + 4},
		"xfrm_user_acquire":      {sizeAcquire, sizeID + address + sizeSelector + sizePolicyInfo + 4*4},
		"xfrm_user_expire":       {sizeExpire, sizeUserSAInfo + 8},
		"xfrm_user_polexpire":    {sizePolExpire, sizePolicyInfo + 8},
		"xfrm_user_mapping":      {sizeMapping, sizeUserSAID + 4 + 2*address + 2*2},
		"xfrm_user_tmpl":         {sizeTmpl, sizeID + 4 + address + 4 + 4 + 3*4},
		"xfrm_algo_auth":         {sizeAlgoAuth, sizeAlgo + 4},
		"xfrm_selector":          {sizeSelector, 2*address + 4*2 + 2 + 3 + 3 + 4 + 4},
		"xfrm_usersa_info known": {sizeUserSAInfo, 224},
		"xfrm_userpolicy known":  {sizePolicyInfo, 168},
		"xfrm_user_tmpl known":   {sizeTmpl, 64},
	} {
		if c.got != c.want {
			t.Errorf("%s has %d bytes, want %d", name, c.got, c.want)
		}
	}
}

func randomAddr(r *rand.Rand, v6 bool) netip.Addr {
	if v6 {
		a := [16]byte{0x20, 0x01, 0x0d, 0xb8, 15: byte(r.IntN(255) + 1)}
		return netip.AddrFrom16(a)
	}
	return netip.AddrFrom4([4]byte{10, byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(255) + 1)})
}

func randomSelector(r *rand.Rand, v6 bool) xfrm.Selector {
	p := func() netip.Prefix {
		a := randomAddr(r, v6)
		return netip.PrefixFrom(a, 1+r.IntN(a.BitLen())).Masked()
	}
	s := xfrm.Selector{Src: p(), Dst: p()}
	if r.IntN(2) == 0 {
		s.Proto, s.DstPort, s.DstPortMask = 6, uint16(r.Uint32()), 0xff00
	}
	return s
}

func randomKey(r *rand.Rand, n int) xfrm.Key {
	k := make(xfrm.Key, n)
	for i := range k {
		k[i] = byte(r.Uint32())
	}
	return k
}

// randomSA makes SAs that pass Check and that a dump would give back unchanged.
func randomSA(r *rand.Rand) xfrm.SA {
	v6 := r.IntN(2) == 0
	sa := xfrm.SA{
		Src: randomAddr(r, v6), Dst: randomAddr(r, v6), SPI: xfrm.SPI(256 + r.Uint32()>>1),
		Proto: xfrm.ESP, Mode: []xfrm.Mode{xfrm.Tunnel, xfrm.Transport, xfrm.BEET}[r.IntN(3)],
		Dir: xfrm.DirIn, ReqID: r.Uint32(), IfID: uint32(r.IntN(3)), TFCPad: uint32(r.IntN(2)) * 1400,
		Limits: xfrm.Limits{
			SoftBytes: uint64(r.IntN(2)) * r.Uint64(), HardPackets: uint64(r.IntN(2)) * r.Uint64(),
			SoftAdd: time.Duration(r.IntN(4000)) * time.Second, HardUse: time.Duration(r.IntN(2)) * time.Hour,
		},
		ESN: r.IntN(2) == 0,
	}
	if r.IntN(2) == 0 {
		sa.Mark, sa.OutputMark = xfrm.Mark{Value: r.Uint32(), Mask: 0xff}, xfrm.Mark{Value: 1, Mask: r.Uint32()}
	}
	if r.IntN(2) == 0 {
		sa.AEAD = &xfrm.AEAD{Name: "rfc4106(gcm(aes))", Key: randomKey(r, 36), ICVBits: 128}
	} else {
		sa.Auth = &xfrm.Auth{Name: "hmac(sha512)", Key: randomKey(r, 64), TruncBits: 256}
		sa.Crypt = &xfrm.Crypt{Name: "cbc(aes)", Key: randomKey(r, 32)}
	}
	if r.IntN(2) == 0 {
		sa.Selector = randomSelector(r, r.IntN(2) == 0)
	}
	if r.IntN(2) == 0 {
		sa.Encap = &xfrm.UDPEncap{SrcPort: uint16(r.Uint32()), DstPort: 4500}
	}
	if r.IntN(2) == 0 {
		sa.CPU = xfrm.CPU{Bound: true, Number: uint32(r.IntN(3))}
	}
	if r.IntN(2) == 0 {
		sa.Dir = xfrm.DirOut
		sa.Flags = xfrm.NoPMTUDisc | xfrm.DontEncapDSCP
		if sa.Encap != nil {
			sa.NATKeepalive = 20 * time.Second
		}
		return sa
	}
	sa.ReplayWindow = []uint32{1, 32, 33, 64, 1000, 4096}[r.IntN(6)]
	sa.Flags = xfrm.DecapDSCP
	if sa.Encap != nil {
		sa.MappingThreshold = 5 * time.Second
	}
	return sa
}

const allFeatures = ^xfrm.Features(0)

func TestSARoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		sa := randomSA(r)
		if err := sa.Check(); err != nil {
			t.Fatal(err)
		}
		body := appendSA(&sa, 3, allFeatures)
		got, ifindex, err := parseSA(body)
		if err != nil {
			t.Fatal(err)
		}
		if ifindex != 3 {
			t.Fatalf("interface index %d, want 3", ifindex)
		}
		got.Replay = nil
		if d := cmp.Diff(sa, got.SA, values); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
		if cap(body) > bodyCapacity {
			t.Fatalf("body of %d bytes outgrew its buffer and left keys behind", len(body))
		}
	}
}

// A body cut anywhere must not be read as the same SA: either an error, or what
// is lost shows.
func TestNoPrefixOfSAParses(t *testing.T) {
	for _, sa := range []xfrm.SA{gcmSA(), esnSA()} {
		body := appendSA(&sa, 0, allFeatures)
		// The last attribute, the direction, is one byte and three of padding.
		for n := range len(body) - 3 {
			got, _, err := parseSA(body[:n])
			got.Replay = nil
			if err == nil && cmp.Equal(sa, got.SA, values) {
				t.Errorf("first %d of %d bytes parse as the whole", n, len(body))
			}
			if n < sizeUserSAInfo && err == nil {
				t.Errorf("first %d bytes of the fixed part parse", n)
			}
		}
	}
}

func TestPolicyRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		v6 := r.IntN(2) == 0
		p := xfrm.Policy{
			Dir: []xfrm.Dir{xfrm.DirIn, xfrm.DirOut, xfrm.DirFwd}[r.IntN(3)], Selector: randomSelector(r, v6),
			IfID: uint32(r.IntN(3)), Priority: r.Uint32(), Index: r.Uint32(), ICMP: r.IntN(2) == 0, PerCPU: r.IntN(2) == 0,
			Action: xfrm.Action(r.IntN(2)),
		}
		for range r.IntN(xfrm.MaxTemplates + 1) {
			tmpl := xfrm.Template{Proto: xfrm.ESP, ReqID: r.Uint32(), SPI: xfrm.SPI(r.Uint32()), Optional: r.IntN(2) == 0}
			if r.IntN(2) == 0 {
				outer := r.IntN(2) == 0
				tmpl.Mode, tmpl.Src, tmpl.Dst = xfrm.Tunnel, randomAddr(r, outer), randomAddr(r, outer)
			}
			p.Templates = append(p.Templates, tmpl)
		}
		got, ifindex, ok, err := parsePolicy(appendPolicy(&p, 9))
		if err != nil || !ok || ifindex != 9 {
			t.Fatal(ifindex, ok, err)
		}
		if d := cmp.Diff(p, got.Policy, values); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	}
}

func TestParsePolicyPassesOverSocketsAndSubPolicies(t *testing.T) {
	p := outPolicy()
	sub := builder{b: appendPolicy(&p, 0)}
	sub.attr(attrPolicyType, []byte{1, 0, 0, 0, 0, 0})
	socket := appendPolicy(&p, 0)
	socket[160] = 4 // outbound, of a socket
	for name, b := range map[string][]byte{"sub": sub.b, "socket": socket} {
		if _, _, ok, err := parsePolicy(b); ok || err != nil {
			t.Errorf("%s policy: ok %v, error %v", name, ok, err)
		}
	}
}

// Kernels that know directions refuse any window on outbound SAs; older ones
// refuse extended sequence numbers without one.
func TestOutboundWindowDependsOnKernel(t *testing.T) {
	sa := esnSA()
	sa.Dir, sa.ReplayWindow = xfrm.DirOut, 0
	for _, c := range []struct {
		f          xfrm.Features
		window     uint32
		attributes bool
	}{
		{xfrm.NewFeatures(xfrm.SADirection), 0, true},
		{0, 1, false},
	} {
		body := appendSA(&sa, 0, c.f)
		got, _, err := parseSA(body)
		if err != nil {
			t.Fatal(err)
		}
		if got.ReplayWindow != c.window || !got.ESN {
			t.Errorf("features %b: window %d ESN %v, want %d true", c.f, got.ReplayWindow, got.ESN, c.window)
		}
		if _, has := attrMap(t, body[sizeUserSAInfo:])[attrSADir]; has != c.attributes {
			t.Errorf("features %b: direction sent %v", c.f, has)
		}
	}
}

func TestReplaySeedKeepsOnlyItsDirection(t *testing.T) {
	state := &xfrm.ReplayState{OutSeq: 1<<32 | 5, InSeq: 2<<32 | 6, Bitmap: []uint32{1, 2, 3, 4}}
	in := esnSA()
	in.Replay = state
	out := in
	out.Dir, out.ReplayWindow = xfrm.DirOut, 0
	for sa, want := range map[*xfrm.SA]xfrm.ReplayState{
		&in:  {InSeq: state.InSeq, Bitmap: state.Bitmap},
		&out: {OutSeq: state.OutSeq},
	} {
		got, _, err := parseSA(appendSA(sa, 0, allFeatures))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, *got.Replay); d != "" {
			t.Errorf("%v (-want +got):\n%s", sa.Dir, d)
		}
	}
}

// Rounding a limit down could make it none.
func TestLimitsRoundUp(t *testing.T) {
	var b [64]byte
	putLimits(b[:], xfrm.Limits{HardAdd: time.Millisecond, SoftAdd: 1500 * time.Millisecond})
	got := getLimits(b[:])
	if got.HardAdd != time.Second || got.SoftAdd != 2*time.Second {
		t.Errorf("got %v", got)
	}
}
