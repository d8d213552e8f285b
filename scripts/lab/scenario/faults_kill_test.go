//go:build lab

package scenario

import (
	"testing"
	"time"
)

// killAtRekey kills ipsecd with kill -9 while a message of a rekey is under way. It
// comes back within the promised time, and nothing is left over on either side: the
// peer drops the old SAs for INITIAL_CONTACT.
func killAtRekey(match func(us string) string, byPeer bool) func(*testing.T, *faultRig) {
	return func(t *testing.T, r *faultRig) {
		r.hold(t, match(r.tunnel.a.addr))
		by := r.us.Vici
		if byPeer {
			by = r.charon.Vici
		}
		if err := by.RekeyChild(r.tunnel.name); err != nil {
			t.Fatal(err)
		}
		r.awaitHeld(t, 1)
		r.us.Kill(t)
		r.release(t)
		start := time.Now()
		r.us.Start(r.whole)
		awaitPing(t, r.tunnel)
		took := time.Since(start)
		recovered(t, took)
		if limit := recoverTime(); took > limit {
			t.Errorf("it took %v, want at most %v", took, limit)
		}
	}
}

func sentBy(exchange string) func(string) string {
	return func(us string) string { return "ip saddr " + us + " " + exchange }
}

func sentTo(exchange string) func(string) string {
	return func(us string) string { return "ip daddr " + us + " " + exchange }
}

// peerReboot kills charon and starts it again without SAs. Ours stay until the peer
// has authenticated itself: anybody can send the first message.
func peerReboot(t *testing.T, r *faultRig) {
	l := r.reboot
	r.charon.Initiate(t, l.name)
	awaitChild(t, l.name, r.us.Vici, r.charon.Vici)
	old := r.spis(t, l)
	l.a.child = "start_action = start"
	_, r.theirs = r.conf(r.links())
	r.charon.Kill(t)
	r.them.IP(t, "xfrm state flush", "xfrm policy flush")
	r.hold(t, "ip saddr "+l.a.addr+" "+ikeAuth)
	start := time.Now()
	r.startPeer()
	r.awaitHeld(t, 1)
	if now := r.spis(t, l); now != old {
		t.Errorf("the SAs %s were replaced by %s before the peer had authenticated itself", old, now)
	}
	r.release(t)
	awaitChild(t, l.name, r.us.Vici, r.charon.Vici)
	if now := r.spis(t, l); now == old {
		t.Error("still the old SAs")
	}
	awaitPing(t, l)
	awaitPing(t, r.tunnel)
	recovered(t, time.Since(start))
	if err := r.charon.Terminate(l.name); err != nil {
		t.Error(err)
	}
}
