package xfrm_test

import (
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/xfrm"
)

// What an old kernel does not tell, what it rounds, and keys that were wiped must
// not make an SA look changed: it would be replaced under traffic.
func TestSameSAAllowsForWhatTheKernelKeeps(t *testing.T) {
	want := childOut(1)
	want.ESN = true
	want.Limits.HardAdd = 90*time.Second + time.Millisecond
	have := want
	have.Dir, have.ReplayWindow = 0, 1
	have.Limits.HardAdd = 91 * time.Second
	have.Flags |= xfrm.AFUnspec
	have.Selector = anyToAny()
	have.AEAD = &xfrm.AEAD{Name: want.AEAD.Name, ICVBits: 128}
	have.Replay = &xfrm.ReplayState{OutSeq: 17}
	if !xfrm.SameSA(&want, &have) {
		t.Error("taken for another")
	}
	have = want
	have.AEAD = gcm(99)
	if xfrm.SameSA(&want, &have) {
		t.Error("another key goes unnoticed")
	}
	have = want
	have.CPU.Bound = true
	if xfrm.SameSA(&want, &have) {
		t.Error("an SA for one CPU is taken for one for all")
	}
	in, weak := childIn(1), childIn(1)
	weak.ReplayWindow = 1
	if xfrm.SameSA(&in, &weak) {
		t.Error("a smaller inbound window goes unnoticed")
	}
}

func TestOwner(t *testing.T) {
	o := own
	o.ReqIDs = []uint32{7}
	for reqid, want := range map[uint32]bool{
		0: false, 1: false, 7: true, o.ReqIDBase - 1: false, o.ReqIDBase: true,
		o.ReqIDBase + o.ReqIDCount - 1: true, o.ReqIDBase + o.ReqIDCount: false,
	} {
		if got := o.OwnsReqID(reqid); got != want {
			t.Errorf("reqid %#x: %v, want %v", reqid, got, want)
		}
	}
	if o.OwnsInterface(&xfrm.Interface{Name: "ipsec0"}) {
		t.Error("an interface without alias counts as ours")
	}
}
