package nl

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// What parses and makes sense must survive being sent back.
func FuzzParseSA(f *testing.F) {
	for _, sa := range []xfrm.SA{gcmSA(), esnSA()} {
		f.Add(appendSA(&sa, 0, allFeatures))
		f.Add(appendSA(&sa, 1, 0))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ifindex, err := parseSA(b)
		if err != nil || got.Check() != nil {
			return
		}
		again, _, err := parseSA(appendSA(&got.SA, ifindex, allFeatures))
		if err != nil {
			t.Fatalf("cannot read back %+v: %v", got.SA, err)
		}
		if !xfrm.SameSA(&got.SA, &again.SA) {
			t.Fatalf("read %+v, then %+v", got.SA, again.SA)
		}
	})
}

func FuzzParsePolicy(f *testing.F) {
	p := outPolicy()
	f.Add(appendPolicy(&p, 0))
	p.Templates = nil
	f.Add(appendPolicy(&p, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ifindex, ok, err := parsePolicy(b)
		if err != nil || !ok || got.Check() != nil {
			return
		}
		again, _, ok, err := parsePolicy(appendPolicy(&got.Policy, ifindex))
		if err != nil || !ok {
			t.Fatalf("cannot read back %+v: %v", got.Policy, err)
		}
		if !xfrm.SamePolicy(&got.Policy, &again.Policy) {
			t.Fatalf("read %+v, then %+v", got.Policy, again.Policy)
		}
	})
}

func FuzzParseEvent(f *testing.F) {
	f.Add(uint16(msgAcquire), acquireBody())
	f.Add(uint16(msgExpire), expireBody())
	f.Add(uint16(msgMapping), mappingBody())
	f.Add(uint16(unix.RTM_NEWLINK), linkBody())
	f.Add(uint16(unix.RTM_NEWADDR), addrBody())
	f.Fuzz(func(t *testing.T, typ uint16, b []byte) {
		ev, _, err := parseEvent(typ, b)
		if ev != nil && err != nil {
			t.Fatalf("both %v and %v", ev, err)
		}
		if e, ok := ev.(xfrm.ExpireEvent); ok && (e.SA.AEAD != nil || e.SA.Auth != nil || e.SA.Crypt != nil) {
			t.Fatal("an event carries keys")
		}
		ev, err = parseLinkEvent(typ, b)
		if ev != nil && err != nil {
			t.Fatalf("both %v and %v", ev, err)
		}
	})
}
