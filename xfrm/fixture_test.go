package xfrm_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

var (
	here, peer = netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	own        = xfrm.DefaultOwner
)

func gcm(fill byte) *xfrm.AEAD {
	key := make(xfrm.Key, 36)
	for i := range key {
		key[i] = fill
	}
	return &xfrm.AEAD{Name: "rfc4106(gcm(aes))", Key: key, ICVBits: 128}
}

// childIn and childOut are the SAs of the nth CHILD_SA.
func childIn(n uint32) xfrm.SA {
	return xfrm.SA{
		Src: peer, Dst: here, SPI: xfrm.SPI(0xc0000000 + n), Proto: xfrm.ESP, Mode: xfrm.Tunnel, Dir: xfrm.DirIn,
		ReqID: own.ReqIDBase + n, IfID: n, AEAD: gcm(byte(n)), ReplayWindow: 32,
	}
}

func childOut(n uint32) xfrm.SA {
	sa := childIn(n)
	sa.Src, sa.Dst, sa.Dir, sa.ReplayWindow = here, peer, xfrm.DirOut, 0
	sa.SPI += 0x01000000
	return sa
}

func anyToAny() xfrm.Selector {
	all := netip.MustParsePrefix("0.0.0.0/0")
	return xfrm.Selector{Src: all, Dst: all}
}

func childPolicy(n uint32, d xfrm.Dir, s xfrm.Selector, ifID uint32) xfrm.Policy {
	tmpl := xfrm.Template{Src: peer, Dst: here, Proto: xfrm.ESP, Mode: xfrm.Tunnel, ReqID: own.ReqIDBase + n}
	if d == xfrm.DirOut {
		tmpl.Src, tmpl.Dst = here, peer
	}
	return xfrm.Policy{
		Dir: d, Selector: s, IfID: ifID, Priority: xfrm.Priority(xfrm.ClassDefault, s),
		Templates: []xfrm.Template{tmpl},
	}
}

// routeBased is the State of the nth route-based CHILD_SA and its interface.
func routeBased(n uint32) xfrm.State {
	s := xfrm.State{
		SAs: []xfrm.SA{childOut(n), childIn(n)},
		Interfaces: []xfrm.Interface{{
			Name: fmt.Sprintf("oci%d", n), IfID: n, MTU: 1400, Up: true,
			Addresses: []xfrm.Address{{Prefix: netip.MustParsePrefix("169.254.21.5/31")}},
		}},
	}
	for _, d := range []xfrm.Dir{xfrm.DirOut, xfrm.DirFwd, xfrm.DirIn} {
		s.Policies = append(s.Policies, childPolicy(n, d, anyToAny(), n))
	}
	return s
}

// policyBased is the State of a CHILD_SA between two networks, without interface.
func policyBased(n uint32, local, remote string) xfrm.State {
	out := xfrm.Selector{Src: netip.MustParsePrefix(local), Dst: netip.MustParsePrefix(remote)}
	in := xfrm.Selector{Src: out.Dst, Dst: out.Src}
	sas := []xfrm.SA{childIn(n), childOut(n)}
	for i := range sas {
		sas[i].IfID = 0
	}
	return xfrm.State{SAs: sas, Policies: []xfrm.Policy{
		childPolicy(n, xfrm.DirIn, in, 0), childPolicy(n, xfrm.DirFwd, in, 0), childPolicy(n, xfrm.DirOut, out, 0),
	}}
}

func merge(states ...xfrm.State) xfrm.State {
	var out xfrm.State
	for _, s := range states {
		out.SAs = append(out.SAs, s.SAs...)
		out.Policies = append(out.Policies, s.Policies...)
		out.Interfaces = append(out.Interfaces, s.Interfaces...)
	}
	return out
}

func dump(t *testing.T, k xfrm.Kernel) xfrm.State {
	t.Helper()
	s, err := xfrm.Dump(k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reach makes the kernel have want and nothing else of ours.
func reach(t *testing.T, k *xfrmtest.Kernel, want xfrm.State) {
	t.Helper()
	if _, err := xfrm.Sweep(k, want, own); err != nil {
		t.Fatal(err)
	}
}

var (
	v6       = netip.MustParseAddr("2001:db8::1")
	v6net    = netip.MustParsePrefix("2001:db8::/32")
	hostBits = netip.MustParsePrefix("192.168.15.1/24")
)
