package ike

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// established returns a pair with a tunnel.
func established(t *testing.T, change ...func(a, b *Config)) *pair {
	t.Helper()
	ca, cb := testConfigs(t)
	for _, f := range change {
		f(ca, cb)
	}
	p := newPair(t, ca, cb)
	p.settle()
	p.wantUp(t)
	return p
}

func TestRekeyChild(t *testing.T) {
	for _, name := range []string{"initiator", "responder"} {
		t.Run(name, func(t *testing.T) {
			p := established(t)
			h := p.a
			if name == "responder" {
				h = p.b
			}
			old := h.e.Snapshot(p.now).IKESAs[0].Children[0].SA
			h.event(Rekey{Child: "net"})
			p.settle()
			p.wantWorking(t)
			if len(h.kernel) != 2 || h.out[old.ID] {
				t.Fatalf("after the rekey: %d CHILD_SAs in the kernel, outbound of the old one %v", len(h.kernel), h.out[old.ID])
			}
			p.run(6 * time.Second)
			p.wantUp(t)
			if h.kernel[old.ID] != nil {
				t.Error("the old CHILD_SA is still there")
			}
			fresh := h.e.Snapshot(p.now).IKESAs[0].Children[0].SA
			if fresh.ReqID != old.ReqID {
				t.Errorf("reqid went from %d to %d", old.ReqID, fresh.ReqID)
			}
		})
	}
}

func TestRekeyIKE(t *testing.T) {
	for _, name := range []string{"initiator", "responder"} {
		t.Run(name, func(t *testing.T) {
			p := established(t)
			h := p.a
			if name == "responder" {
				h = p.b
			}
			old := h.e.Snapshot(p.now).IKESAs[0]
			h.event(Rekey{Connection: "gw"})
			p.settle()
			p.wantUp(t)
			now := h.e.Snapshot(p.now).IKESAs[0]
			if now.ID == old.ID || now.SPIi == old.SPIi || !now.Initiator {
				t.Errorf("the IKE SA was not replaced by one of ours: %+v", now)
			}
			h.event(Rekey{Child: "net"}) // works on the new one
			p.settle()
			p.run(6 * time.Second)
			p.wantUp(t)
		})
	}
}

func TestRekeyChildCollision(t *testing.T) {
	p := established(t)
	p.a.event(Rekey{Child: "net"})
	p.b.event(Rekey{Child: "net"})
	p.settle()
	p.wantWorking(t)
	p.run(6 * time.Second)
	p.wantUp(t)
	if n := p.a.e.Snapshot(p.now).Counters.RekeyCollisions; n != 1 {
		t.Errorf("%d collisions counted", n)
	}
}

func TestRekeyIKECollision(t *testing.T) {
	p := established(t)
	p.a.event(Rekey{Connection: "gw"})
	p.b.event(Rekey{Connection: "gw"})
	p.settle()
	p.wantUp(t)
	if n := p.a.e.Snapshot(p.now).Counters.RekeyCollisions; n != 1 {
		t.Errorf("%d collisions counted", n)
	}
}

func TestRekeyIKECrossesRekeyChild(t *testing.T) {
	p := established(t)
	p.a.event(Rekey{Connection: "gw"})
	p.b.event(Rekey{Child: "net"})
	b := p.b.e.sorted()[0]
	if p.settle(); b.state != stateEstablished || len(b.children) != 1 {
		t.Errorf("the rekey of the IKE SA is not refused: it is in state %v\n%s", b.state, p.history())
	}
	p.run(time.Minute)
	p.wantUp(t)
	if !b.gone {
		t.Error("the IKE SA was not rekeyed later")
	}
}

func TestDeleteChild(t *testing.T) {
	p := established(t)
	p.b.event(Terminate{Child: "net"})
	p.settle()
	if len(p.a.kernel) != 0 || len(p.b.kernel) != 0 || p.b.up["net"] != 0 || p.a.up["net"] != 0 {
		t.Fatal("the CHILD_SA is not gone")
	}
	p.run(10 * time.Second) // a has start_action = start
	p.wantUp(t)
}

// TestChildNotes: a client that follows the events knows every CHILD_SA that is
// in use, and no other.
func TestChildNotes(t *testing.T) {
	p := established(t)
	p.a.event(Rekey{Child: "net"})
	p.settle()
	p.run(time.Minute)
	p.b.event(Rekey{Child: "net"})
	p.settle()
	p.run(time.Minute)
	for _, h := range []*host{p.a, p.b} {
		if got := h.known(); len(got) != 1 || !got[h.e.Snapshot(p.now).IKESAs[0].Children[0].SA.ID] {
			t.Errorf("%s: after two rekeys the events tell of %v", h.name, got)
		}
	}
	p.a.event(Terminate{Connection: "gw"})
	p.settle()
	for _, h := range []*host{p.a, p.b} {
		if got := h.known(); len(got) != 0 {
			t.Errorf("%s: after terminate the events tell of %v", h.name, got)
		}
	}
}

// known are the CHILD_SAs in use, as the notes tell.
func (h *host) known() map[uint32]bool {
	m := map[uint32]bool{}
	for _, n := range h.notes {
		switch n.Kind {
		case NoteChildUp:
			m[n.ChildID] = true
		case NoteChildRekeyed:
			if !m[n.Old] {
				h.t.Errorf("%s: %d replaces %d, of which nothing was said", h.name, n.ChildID, n.Old)
			}
			delete(m, n.Old)
			m[n.ChildID] = true
		case NoteChildDown:
			if !m[n.ChildID] {
				h.t.Errorf("%s: %d is down, of which nothing was said", h.name, n.ChildID)
			}
			delete(m, n.ChildID)
		}
	}
	return m
}

func TestDeleteIKE(t *testing.T) {
	p := established(t)
	p.a.event(Terminate{Connection: "gw"})
	p.settle()
	p.run(10 * time.Minute)
	if !p.a.e.Idle() || !p.b.e.Idle() || len(p.a.kernel)+len(p.b.kernel) != 0 {
		t.Fatal("something is left after terminate")
	}
	if _, ok := p.a.e.NextTimeout(); ok {
		t.Error("a timer is left")
	}
	p.a.event(Initiate{"gw", "net"})
	p.settle()
	p.wantUp(t)
}

func TestCrossingDeletes(t *testing.T) {
	p := established(t)
	p.a.event(Terminate{Child: "net"})
	p.b.event(Terminate{Child: "net"})
	p.settle()
	if len(p.a.kernel)+len(p.b.kernel) != 0 {
		t.Error("CHILD_SAs are left")
	}
	p.a.event(Terminate{})
	p.b.event(Terminate{})
	p.settle()
	if !p.a.e.Idle() || !p.b.e.Idle() {
		t.Error("IKE SAs are left")
	}
}

func TestKernelRefuses(t *testing.T) {
	ca, cb := testConfigs(t)
	p := newPair(t, ca, cb)
	p.a.refuse = true
	p.settle()
	for _, h := range []*host{p.a, p.b} {
		if s := h.e.Snapshot(p.now); len(s.IKESAs) != 1 || len(s.IKESAs[0].Children) != 0 || len(h.kernel) != 0 {
			t.Fatalf("%s: want an IKE SA without children:\n%s", h.name, h.log())
		}
	}
	if f := p.a.failures(); len(f) != 1 {
		t.Errorf("failures: %q", f)
	}
	p.a.refuse = false
	p.run(time.Minute)
	p.wantUp(t)

	p.a.refuse = true
	p.b.event(Rekey{Child: "net"})
	p.settle()
	p.wantWorking(t)
	p.a.refuse = false
	p.run(2 * time.Minute)
	p.wantUp(t)
}

func TestDeadPeer(t *testing.T) {
	p := established(t, func(a, b *Config) {
		a.Connections[0].DPDDelay = 10 * time.Second
	})
	p.lose = func(*host, Packet) bool { return true }
	p.run(10*time.Second + 170*time.Second)
	if len(p.a.kernel) != 0 || p.a.up["net"] != 0 {
		t.Fatal("the tunnel is still up on a")
	}
	if s := p.a.e.Snapshot(p.now); s.Counters.DPDTimeouts != 1 || len(s.IKESAs) != 1 || s.IKESAs[0].State != IKEConnecting {
		t.Errorf("a is not reconnecting: %+v", s)
	}
	p.run(time.Hour)
	p.lose = nil
	p.run(5 * time.Minute)
	p.wantUp(t) // INITIAL_CONTACT took the old one away at b
}

func TestLifetimes(t *testing.T) {
	p := established(t, func(a, b *Config) {
		for _, c := range []*Config{a, b} {
			c.Connections[0].RekeyTime, c.Connections[0].RandTime = 20*time.Minute, time.Minute
			c.Connections[0].OverTime = 2 * time.Minute
			ch := c.Connections[0].Children[0]
			ch.RekeyTime, ch.LifeTime, ch.RandTime = 5*time.Minute, 6*time.Minute, time.Minute
		}
	})
	for range 24 {
		p.run(time.Hour)
		p.wantWorking(t)
	}
	p.run(10 * time.Second)
	for _, h := range []*host{p.a, p.b} {
		if f := h.failures(); len(f) > 0 {
			t.Errorf("%s: %q", h.name, f)
		}
		if h.up["net"] != 1 {
			t.Errorf("%s: ChildUp and ChildDown do not balance: %d", h.name, h.up["net"])
		}
	}
}

// TestRekeyAnswerOfAnotherGroup: the answer to a rekey of the IKE SA is in the group of the request, in its proposal as in its key
// exchange payload (RFC 7296 sections 1.3.2 and 3.4). One that is not changes nothing.
func TestRekeyAnswerOfAnotherGroup(t *testing.T) {
	for _, test := range []struct {
		chosen string
		method uint16 // 0: no key exchange payload
		taken  bool
	}{
		{"x25519", 31, true}, {"x25519", 19, false}, {"ecp256", 31, false}, {"ecp256", 19, false}, {"x25519", 0, false},
	} {
		p := established(t, func(a, b *Config) {
			for _, c := range []*Config{a, b} {
				c.Connections[0].Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519-ecp256")
			}
		})
		a, b := p.a.only(t, "gw"), p.b.only(t, "gw")
		p.lose = func(*host, Packet) bool { return true }
		p.b.event(Rekey{Connection: "gw"})
		payloads := []wire.Payload{
			chosenSA(proposals(t, suite.IKE, "aes128gcm16-prfsha256-"+test.chosen)[0], 1, []byte{1, 2, 3, 4, 5, 6, 7, 8}),
			&wire.Nonce{Data: make([]byte, 32)},
		}
		if test.method != 0 {
			ke, err := suite.NewKE(test.method, rand.NewChaCha8([32]byte{1}))
			if err != nil {
				t.Fatal(err)
			}
			payloads = append(payloads, &wire.KeyExchange{Method: test.method, Data: ke.Public()})
		}
		plain, err := wire.AppendPayloads(nil, payloads...)
		if err != nil {
			t.Fatal(err)
		}
		data := protect(t, a, a.header(wire.ExchangeCreateChildSA, b.out.next-1, true), uint8(wire.PayloadSA), plain, 0, 0)
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: data})
		p.b.drain()
		if got := b.state == stateRekeyed || b.state == stateDeleting; got != test.taken {
			t.Errorf("%s in the proposal, key exchange %d: taken %v (the IKE SA is %v)", test.chosen, test.method, got, b.state)
		}
		if n := len(p.b.e.sas); !test.taken && (n != 1 || !b.up()) {
			t.Errorf("%s in the proposal, key exchange %d: %d IKE SAs, up %v", test.chosen, test.method, n, b.up())
		}
	}
}

// An IKE SA that a newer one of the same peer was to replace stays, where the peer has deleted that meanwhile, as
// where both ends set one up at once.
func TestSupersededAlone(t *testing.T) {
	p := established(t)
	before := p.b.e.Snapshot(p.now).IKESAs[0].ID
	for _, sa := range p.b.e.sas {
		p.b.e.supersede(sa)
	}
	p.run(2 * supersededTime)
	p.wantUp(t)
	if now := p.b.e.Snapshot(p.now).IKESAs[0].ID; now != before {
		t.Errorf("IKE SA %d was replaced by %d", before, now)
	}
}
