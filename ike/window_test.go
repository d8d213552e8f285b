package ike

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// TestRetransmitSchedule: strongSwan's 4 s * 1.8^n gives up after 165 s.
func TestRetransmitSchedule(t *testing.T) {
	p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
	start := p.now
	var at []time.Duration
	var sent [][]byte
	p.lose = func(from *host, k Packet) bool {
		if from == p.a && len(p.a.failures()) == 0 {
			at = append(at, p.now.Sub(start).Round(100*time.Millisecond))
			sent = append(sent, bytes.Clone(k.Data))
		}
		return true
	}
	p.run(166 * time.Second)
	want := []time.Duration{0, 4000, 11200, 24200, 47500, 89500}
	if len(at) != len(want) {
		t.Fatalf("sent at %v, want 6 times", at)
	}
	for i := range want {
		if at[i] != want[i]*time.Millisecond {
			t.Errorf("transmission %d after %v, want %v", i, at[i], want[i]*time.Millisecond)
		}
		if !bytes.Equal(sent[i], sent[0]) {
			t.Errorf("transmission %d differs from the first (RFC 7296 section 2.1)", i)
		}
	}
	if n := len(p.a.failures()); n != 1 {
		t.Errorf("%d failures noted after 166 s, want 1: %q", n, p.a.failures())
	}
}

func TestRetransmitLimitAndJitter(t *testing.T) {
	tm := DefaultTiming()
	tm.RetransmitLimit = 10 * time.Second
	for n, want := range []time.Duration{4 * time.Second, 7200 * time.Millisecond, 10 * time.Second, 10 * time.Second} {
		if got := tm.retransmitWait(n); got != want {
			t.Errorf("wait %d: %v, want %v", n, got, want)
		}
	}
	tm.RetransmitBase = 1000 // must not overflow
	tm.RetransmitLimit = 0
	if got := tm.retransmitWait(30); got <= 0 {
		t.Errorf("a huge base gives a wait of %v", got)
	}
}

// TestRepeatedRequest: the answer to a retransmitted request is the stored one, bit by
// bit, and nothing else happens.
func TestRepeatedRequest(t *testing.T) {
	ca, cb := testConfigs(t)
	p := newPair(t, ca, cb)
	requests, responses := map[uint32][]byte{}, map[uint32][]byte{}
	p.lose = func(from *host, k Packet) bool {
		if from == p.a {
			requests[messageID(k)] = bytes.Clone(k.Data)
		} else {
			responses[messageID(k)] = bytes.Clone(k.Data)
		}
		return false
	}
	p.settle()
	p.wantUp(t)
	s := p.b.e.Snapshot(p.now)
	local, remote := s.IKESAs[0].Local, s.IKESAs[0].Remote

	var alerts []Alert
	from := func(local, remote netip.AddrPort, data []byte) []Action {
		p.b.e.HandlePacket(p.now, Packet{Local: local, Remote: remote, Data: bytes.Clone(data)})
		var all []Action
		for a, ok := p.b.e.NextAction(); ok; a, ok = p.b.e.NextAction() {
			if n, note := a.(Note); note && n.Kind == NoteAlert {
				alerts = append(alerts, n.Alert)
				continue
			}
			all = append(all, a)
		}
		return all
	}
	again := func(data []byte) []Action { return from(local, remote, data) }
	got := again(requests[1])
	if len(got) != 1 || !bytes.Equal(got[0].(Send).Data, responses[1]) {
		t.Errorf("IKE_AUTH again: %d actions, want the stored response", len(got))
	}
	if got := from(netip.AddrPortFrom(local.Addr(), ikePort), netip.AddrPortFrom(remote.Addr(), ikePort), requests[0]); len(got) != 0 {
		t.Errorf("IKE_SA_INIT again, after IKE_AUTH: %d actions, want none", len(got))
	}
	changed := bytes.Clone(requests[1])
	changed[len(changed)-1] ^= 1
	if got := again(changed); len(got) != 0 {
		t.Errorf("a changed old request: %d actions, want none", len(got))
	}
	if n := p.b.e.Snapshot(p.now).Counters.DuplicateRequest; n != 1 {
		t.Errorf("%d duplicates counted, want 1", n)
	}
	if !slices.Equal(alerts, []Alert{AlertRetransmitReceive}) {
		t.Errorf("alerts %v", alerts)
	}
}

// TestBusy: a retransmitted request whose answer is being computed is dropped
// and counted, and answered once.
func TestBusy(t *testing.T) {
	ca, cb := testConfigs(t)
	p := newPair(t, ca, cb)
	p.b.holdKE = true
	p.settle()
	p.run(12 * time.Second) // two retransmissions
	if n := p.b.e.Snapshot(p.now).Counters.Invalid["busy"]; n != 2 {
		t.Errorf("%d requests dropped as busy, want 2", n)
	}
	if len(p.b.held) != 1 {
		t.Fatalf("%d computations begun, want 1", len(p.b.held))
	}
	p.b.holdKE = false
	c := p.b.held[0]
	p.b.event(Computed{c.ID, c.Run()})
	p.settle()
	p.wantUp(t)
}

// TestCorruption: no bit that changes on the way changes a state.
func TestCorruption(t *testing.T) {
	p := established(t)
	before := p.b.e.Snapshot(p.now)
	var request Packet
	p.lose = func(from *host, k Packet) bool { request = k; return true }
	p.a.event(Rekey{Child: "net"})
	for bit := range len(request.Data) * 8 {
		data := bytes.Clone(request.Data)
		data[bit/8] ^= 1 << (bit % 8)
		p.b.e.HandlePacket(p.now, Packet{Local: before.IKESAs[0].Local, Remote: before.IKESAs[0].Remote, Data: data})
		for a, ok := p.b.e.NextAction(); ok; a, ok = p.b.e.NextAction() {
			if _, note := a.(Note); !note {
				t.Fatalf("bit %d changed: %T", bit, a)
			}
		}
	}
	after := p.b.e.Snapshot(p.now)
	if after.IKESAs[0].LastInbound != before.IKESAs[0].LastInbound || len(after.IKESAs[0].Children) != 1 {
		t.Error("forged messages changed the state")
	}
}
