package xfrm_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/xfrm"
)

func isErrno(err error, errno syscall.Errno) bool { return errors.Is(err, errno) }

func TestCheckSA(t *testing.T) {
	for _, sa := range []xfrm.SA{childIn(1), childOut(1)} {
		if err := sa.Check(); err != nil {
			t.Errorf("a sound SA: %v", err)
		}
	}
	for _, c := range []struct {
		want   string
		change func(*xfrm.SA)
	}{
		{"no direction", func(s *xfrm.SA) { s.Dir = 0 }},
		{"one address family", func(s *xfrm.SA) { s.Src = s.Src.Next().Unmap(); s.Dst = v6 }},
		{"reserved SPI", func(s *xfrm.SA) { s.SPI = 255 }},
		{"neither ESP nor AH", func(s *xfrm.SA) { s.Proto = 6 }},
		{"no integrity", func(s *xfrm.SA) { s.AEAD = nil; s.Crypt = &xfrm.Crypt{Name: "cbc(aes)"} }},
		{"no integrity", func(s *xfrm.SA) { s.AEAD = nil }},
		{"needs a cipher", func(s *xfrm.SA) { s.AEAD = nil; s.Auth = &xfrm.Auth{Name: "hmac(sha256)"} }},
		{"AEAD and a separate", func(s *xfrm.SA) { s.Auth = &xfrm.Auth{Name: "hmac(sha256)"} }},
		{"is AH", func(s *xfrm.SA) { s.Proto = xfrm.AH }},
		{"inbound and has no replay window", func(s *xfrm.SA) { s.ReplayWindow = 0 }},
		{"without a replay window", func(s *xfrm.SA) { s.ReplayWindow, s.ESN, s.ReplayOff = 0, true, true }},
		{"limit is 4096", func(s *xfrm.SA) { s.ReplayWindow = 4097 }},
		{"outbound and has a replay window", func(s *xfrm.SA) { s.Dir = xfrm.DirOut }},
		{"flags for outbound", func(s *xfrm.SA) { s.Flags = xfrm.NoPMTUDisc }},
		{"flags for inbound", func(s *xfrm.SA) { s.Dir, s.ReplayWindow, s.Flags = xfrm.DirOut, 0, xfrm.DecapDSCP }},
		{"UDP encapsulation", func(s *xfrm.SA) { s.MappingThreshold = time.Second }},
		{"keepalives", func(s *xfrm.SA) { s.NATKeepalive = time.Second }},
	} {
		sa := childIn(1)
		c.change(&sa)
		err := sa.Check()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want an error about %q, got %v", c.want, err)
		}
	}
	off := childIn(1)
	off.ReplayWindow, off.ReplayOff = 0, true
	if err := off.Check(); err != nil {
		t.Errorf("replay protection switched off on purpose: %v", err)
	}
}

func TestCheckPolicy(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*xfrm.Policy)
	}{
		{"no direction", func(p *xfrm.Policy) { p.Dir = 0 }},
		{"prefixes of one address family", func(p *xfrm.Policy) { p.Selector.Src = v6net }},
		{"host bits", func(p *xfrm.Policy) { p.Selector.Src = hostBits }},
		{"limit is 6", func(p *xfrm.Policy) { p.Templates = make([]xfrm.Template, 7) }},
		{"blocks and has templates", func(p *xfrm.Policy) { p.Action = xfrm.Block }},
		{"optional tunnel", func(p *xfrm.Policy) { p.Templates[0].Optional = true }},
	} {
		p := childPolicy(1, xfrm.DirOut, anyToAny(), 1)
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		c.change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want an error about %q, got %v", c.want, err)
		}
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		err  xfrm.Error
		want string
	}{
		{xfrm.Error{Op: "add SA", Object: "x", Errno: syscall.EINVAL, Text: "why"}, "xfrm: add SA x: EINVAL: why"},
		{xfrm.Error{Op: "add interface", Object: "x", Errno: syscall.EOPNOTSUPP}, "EOPNOTSUPP: the kernel does not support this (for interfaces: module xfrm_interface"},
		{xfrm.Error{Op: "add SA", Object: "x", Errno: syscall.EPERM}, "CAP_NET_ADMIN"},
	} {
		if got := c.err.Error(); !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q in it", got, c.want)
		}
	}
}

func TestFeatureErrorNamesTheKernel(t *testing.T) {
	err := xfrm.NewFeatures(xfrm.XFRMInterfaces).Require(xfrm.SADirection)
	if err == nil || !strings.Contains(err.Error(), "Linux 6.10") {
		t.Errorf("got %v", err)
	}
	if err := xfrm.NewFeatures(xfrm.SADirection).Require(xfrm.SADirection); err != nil {
		t.Error(err)
	}
}
