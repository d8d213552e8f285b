package ike

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// TestTemporaryFailure: a peer that answers TEMPORARY_FAILURE for two minutes is asked again, neither all the time nor never, and
// the rekey goes through in the end (RFC 7296 section 2.25).
func TestTemporaryFailure(t *testing.T) {
	for _, c := range []struct {
		ev   Rekey
		busy task // of the peer, which is in the way
	}{{Rekey{Connection: "gw"}, &childTask{}}, {Rekey{Child: "net"}, &rekeyIKETask{}}} {
		p := established(t)
		b := p.b.e.sorted()[0]
		child := b.children[0]
		b.active = c.busy
		asked := 0
		p.lose = func(from *host, k Packet) bool {
			if from == p.a && exchangeOf(k) == byte(wire.ExchangeCreateChildSA) {
				asked++
			}
			return false
		}
		p.a.event(c.ev)
		p.run(2 * time.Minute)
		if asked < 10 || asked > 2*60/2 || len(p.a.failures()) != 0 || p.b.e.sorted()[0] != b || b.children[0] != child {
			t.Fatalf("%+v: asked %d times in two minutes; failures %q", c.ev, asked, p.a.failures())
		}
		b.active = nil
		p.run(time.Minute)
		p.wantUp(t)
		if now := p.b.e.sorted()[0]; now == b && now.children[0] == child {
			t.Errorf("%+v: nothing was replaced when the peer was ready", c.ev)
		}
	}
}

// TestIKEHardLifetime: an IKE SA whose peer refuses to rekey it is closed at its hard lifetime, not before, and set up anew (RFC 7296
// section 2.25).
func TestIKEHardLifetime(t *testing.T) {
	p := established(t, func(a, b *Config) {
		c := a.Connections[0]
		c.RekeyTime, c.RandTime, c.OverTime = 10*time.Minute, 0, time.Minute
		b.Connections[0].RekeyTime = 0
	})
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	b.active = &childTask{} // TEMPORARY_FAILURE
	p.run(10*time.Minute + 50*time.Second)
	if a.gone {
		t.Fatalf("the IKE SA went before its hard lifetime\n%s", p.history())
	}
	p.run(20 * time.Second)
	if !a.gone {
		t.Errorf("the IKE SA outlives its hard lifetime\n%s", p.history())
	}
	p.wantUp(t)
}

// TestUnknownSPIIsNotAnswered: a message for an IKE SA that is not there gets no answer, whatever it is (RFC 7296 section 1.5 allows that).
func TestUnknownSPIIsNotAnswered(t *testing.T) {
	p := established(t)
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	for _, x := range []wire.ExchangeType{wire.ExchangeAuth, wire.ExchangeIntermediate, wire.ExchangeCreateChildSA, wire.ExchangeInformational} {
		for _, response := range []bool{false, true} {
			h := a.header(x, b.in.next, response)
			h.ResponderSPI++
			clear, err := wire.AppendMessage(nil, h, notification(wire.NotifyInvalidIKESPI, nil))
			if err != nil {
				t.Fatal(err)
			}
			for _, data := range [][]byte{clear, protect(t, a, h, 0, nil, 0, 0)} {
				p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: data})
				for action, ok := p.b.e.NextAction(); ok; action, ok = p.b.e.NextAction() {
					if n, note := action.(Note); !note || n.Kind != NoteAlert {
						t.Errorf("%v, response %v: %+v", x, response, action)
					}
				}
			}
		}
	}
}

// TestAnswerWaitsForTheKernel: a responder answers when it can receive on the new CHILD_SA, not before (RFC 7296 section 2.8).
func TestAnswerWaitsForTheKernel(t *testing.T) {
	p := established(t, func(a, b *Config) {
		for _, c := range []*Config{a, b} {
			c.Connections[0].Children[0].Proposals = proposals(t, suite.ESP, "aes128gcm16")
		}
	})
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	ts := sels(t, "0.0.0.0/0")
	offer := []wire.Payload{offerSA(proposals(t, suite.ESP, "aes128gcm16"), []byte{7, 7, 7, 7}), &wire.Nonce{Data: make([]byte, 32)},
		tsPayload(wire.PayloadTSi, ts), tsPayload(wire.PayloadTSr, ts)}
	rekeySA := &wire.Notify{Protocol: wire.ProtocolESP, SPI: wire.ChildSPI(b.children[0].info.SPIOut).Bytes(), NotifyType: wire.NotifyRekeySA}
	for name, payloads := range map[string][]wire.Payload{"new": offer, "rekey": append([]wire.Payload{rekeySA}, offer...)} {
		request, err := p.a.e.encrypt(a, a.header(wire.ExchangeCreateChildSA, b.in.next, false), payloads)
		if err != nil {
			t.Fatal(err)
		}
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: request[0]})
		installs, answers := p.b.installsAndAnswers()
		if len(installs) != 1 || answers != 0 {
			t.Fatalf("%s: %d CHILD_SAs are to be installed, and %d answers are out before that", name, len(installs), answers)
		}
		p.b.e.HandleEvent(p.now, Installed{installs[0]})
		if _, answers = p.b.installsAndAnswers(); answers != 1 {
			t.Errorf("%s: %d answers when the kernel has it", name, answers)
		}
	}
}

// installsAndAnswers takes the engine's actions, and returns which CHILD_SAs it wants in the kernel and how many packets it sends.
func (h *host) installsAndAnswers() (installs []uint32, answers int) {
	for {
		action, ok := h.e.NextAction()
		if !ok {
			return installs, answers
		}
		switch action := action.(type) {
		case InstallChild:
			installs = append(installs, action.Child.ID)
		case Send:
			answers++
		}
	}
}

// TestWiderAnswerIsRefused: a responder may narrow what is offered and nothing else; a CHILD_SA for more, or for nothing that was offered, is
// deleted at the peer, and traffic of others is never sent to it (RFC 7296 section 2.9).
func TestWiderAnswerIsRefused(t *testing.T) {
	for answer, taken := range map[string]bool{
		"10.1.0.0/16": true, "10.1.2.0/24": true, "10.1.2.0/24[6]": true,
		"0.0.0.0/0": false, "10.0.0.0/8": false, "10.2.0.0/16": false, "10.1.0.0/16 10.2.0.0/16": false, "::/0": false,
	} {
		for _, side := range []wire.PayloadType{wire.PayloadTSi, wire.PayloadTSr} {
			p := established(t, func(a, b *Config) {
				for _, c := range []*Config{a, b} {
					second := *c.Connections[0].Children[0]
					second.Name, second.StartAction = "second", ActionClear
					second.Proposals = proposals(t, suite.ESP, "aes128gcm16")
					second.LocalTS, second.RemoteTS = sels(t, "10.1.0.0/16"), sels(t, "10.1.0.0/16")
					c.Connections[0].Children = append(c.Connections[0].Children, &second)
				}
			})
			a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
			p.lose = func(*host, Packet) bool { return true }
			p.b.event(Initiate{"gw", "second"})
			other := wire.PayloadTSi + wire.PayloadTSr - side
			plain, err := wire.AppendPayloads(nil, offerSA(proposals(t, suite.ESP, "aes128gcm16"), []byte{7, 7, 7, 7}), &wire.Nonce{Data: make([]byte, 32)},
				tsPayload(side, sels(t, answer)), tsPayload(other, sels(t, "10.1.0.0/16")))
			if err != nil {
				t.Fatal(err)
			}
			data := protect(t, a, a.header(wire.ExchangeCreateChildSA, b.out.next-1, true), uint8(wire.PayloadSA), plain, 0, 0)
			p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: data})
			p.b.drain()
			if got := len(p.b.kernel) == 2; got != taken {
				t.Errorf("%v of %s for 10.1.0.0/16: taken %v", side, answer, got)
			}
			if _, deletes := b.active.(*deleteChildTask); deletes == taken || !b.up() {
				t.Errorf("%v of %s for 10.1.0.0/16: a Delete is sent: %v; the IKE SA is up: %v", side, answer, deletes, b.up())
			}
		}
	}
}

// TestAnswerGoesWhereTheRequestCameFrom, whatever else is known of the peer's address (RFC 7296 section 2.11).
func TestAnswerGoesWhereTheRequestCameFrom(t *testing.T) {
	p := established(t)
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	from, to := netip.MustParseAddrPort("198.51.100.9:1025"), netip.MustParseAddrPort("192.0.2.22:4500")
	request, err := p.a.e.encrypt(a, a.header(wire.ExchangeInformational, b.in.next, false), nil)
	if err != nil {
		t.Fatal(err)
	}
	var went []Packet
	p.lose = func(_ *host, k Packet) bool { went = append(went, k); return true }
	for range 2 { // and once more
		p.b.e.HandlePacket(p.now, Packet{Local: to, Remote: from, NATT: true, Data: bytes.Clone(request[0])})
		p.b.drain()
	}
	for _, k := range went {
		if k.Local != to || k.Remote != from || !k.NATT {
			t.Errorf("the answer goes from %v to %v", k.Local, k.Remote)
		}
	}
	if len(went) != 2 {
		t.Errorf("%d answers", len(went))
	}
}

// TestWhoIsFollowed: without MOBIKE, a peer behind a NAT is followed on a fresh authenticated message; not one without a NAT, and not by an end
// that is behind a NAT itself (RFC 7296 section 2.23). With MOBIKE it says where it is, and no other message moves it (RFC 4555 section 3.8).
func TestWhoIsFollowed(t *testing.T) {
	for _, nat := range []struct{ mobike, local, remote, follows bool }{
		{false, false, false, false}, {false, false, true, true}, {false, true, false, false}, {false, true, true, false},
		{true, false, false, false}, {true, false, true, false}, {true, true, false, false}, {true, true, true, false},
	} {
		p := established(t, func(a, b *Config) { b.Connections[0].MOBIKE = nat.mobike })
		a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
		b.natLocal, b.natRemote = nat.local, nat.remote
		before, other := b.remote, netip.MustParseAddrPort("198.51.100.9:1025")
		request, err := p.a.e.encrypt(a, a.header(wire.ExchangeInformational, b.in.next, false), nil)
		if err != nil {
			t.Fatal(err)
		}
		p.lose = func(*host, Packet) bool { return true }
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: other, NATT: true, Data: request[0]})
		p.b.drain()
		if got := b.remote == other; got != nat.follows || !got && b.remote != before || got != (len(p.b.moved) == 1) {
			t.Errorf("%+v: the peer is at %v, %d CHILD_SAs were moved", nat, b.remote, len(p.b.moved))
		}
	}
}
