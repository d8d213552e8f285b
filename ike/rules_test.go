package ike

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// TestMessageIDs: each direction has its own counter, an IKE SA from a rekey begins at 0, and one whose message IDs run out is
// replaced (RFC 7296 section 2.2).
func TestMessageIDs(t *testing.T) {
	p := established(t)
	old := p.a.e.sorted()[0]
	if old.out.next != 2 || old.in.next != 0 {
		t.Errorf("after the set-up the next message IDs are %d out and %d in", old.out.next, old.in.next)
	}
	b := p.b.e.sorted()[0]
	old.out.next, b.in.next = lastMessageID-1, lastMessageID-1
	p.a.e.enqueue(old, livenessTask{})
	p.run(time.Minute)
	p.wantUp(t)
	now := p.a.e.sorted()[0]
	if now == old || now.out.next > 2 || now.in.next > 2 {
		t.Errorf("not replaced: message IDs go on from %d", now.out.next)
	}
	var firsts []uint32 // of each end on the new IKE SA
	for _, h := range []*host{p.a, p.b} {
		before := len(firsts)
		p.lose = func(from *host, k Packet) bool {
			if m, err := wire.ParseHeader(k.Data); err == nil && from == h && !m.IsResponse() && len(firsts) == before {
				firsts = append(firsts, m.MessageID)
			}
			return false
		}
		h.event(Rekey{Child: "net"})
		p.run(time.Minute)
	}
	if !slices.Equal(firsts, []uint32{0, 0}) {
		t.Errorf("the ends begin with the message IDs %d on a rekeyed IKE SA, each counting for itself", firsts)
	}
}

// TestFutureRequest: a request beyond the window is not answered, neither by INVALID_MESSAGE_ID nor otherwise (RFC 7296
// section 2.3), and nothing is kept of it.
func TestFutureRequest(t *testing.T) {
	p := established(t)
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	next := b.in.next
	for _, id := range []uint32{next + 1, next + 100, 1<<32 - 1} {
		data := protect(t, a, a.header(wire.ExchangeInformational, id, false), 0, nil, 0, 0)
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: data})
		if action, ok := p.b.e.NextAction(); ok {
			t.Errorf("message ID %d: %+v", id, action)
		}
	}
	if b.in.next != next {
		t.Errorf("the window moved to %d", b.in.next)
	}
}

// TestInitialContact: it is sent only when we have no other IKE SA with the peer's identity, and destroys only
// those between the same two identities (RFC 7296 section 2.4).
func TestInitialContact(t *testing.T) {
	p := newPair(t, first(twoConnections(t)), second(twoConnections(t)))
	p.settle()
	p.a.event(Initiate{bystander, bystander})
	p.a.event(Initiate{"gw", "net"})
	p.settle()
	lost, other := p.b.only(t, "gw"), p.b.only(t, bystander)
	p.a.e.destroySA(p.a.only(t, "gw"), "forgotten") // as by a restart
	p.a.drain()
	p.a.event(Initiate{"gw", "net"})
	p.run(time.Minute)
	if now := p.b.only(t, "gw"); now == lost || !lost.gone || other.gone {
		t.Errorf("the forgotten IKE SA is gone: %v, the other one: %v\n%s", lost.gone, other.gone, p.history())
	}
	// With unique = never or no, a second one beside it says nothing.
	c := p.a.e.byName["gw"]
	before := p.b.only(t, "gw")
	p.a.e.now = p.now
	p.a.e.initiate(c, nil)
	p.a.drain()
	p.settle()
	if before.gone {
		t.Errorf("INITIAL_CONTACT was sent although there was an IKE SA\n%s", p.history())
	}
}

// TestDeleteIsTheLastRequest: after the Delete of an IKE SA nothing else is asked on it (RFC 7296 section 2.8).
func TestDeleteIsTheLastRequest(t *testing.T) {
	for _, under := range []int{0, 1} { // requests under way when the Delete is wanted, with others behind them
		p := established(t)
		a := p.a.e.sorted()[0]
		ids := map[uint32]bool{}
		p.lose = func(from *host, k Packet) bool {
			h, _ := wire.ParseHeader(k.Data)
			if from == p.a && !h.IsResponse() && h.InitiatorSPI == a.spiI {
				ids[h.MessageID] = true
			}
			return len(ids) > under // then the peer is silent
		}
		p.delays = func() []time.Duration { return []time.Duration{time.Second} }
		if under == 1 {
			p.a.event(Rekey{Child: "net"})
			p.a.event(Rekey{Connection: "gw"})
		}
		p.a.event(Terminate{Connection: "gw"})
		p.a.event(Rekey{Child: "net"})
		p.a.event(Rekey{Connection: "gw"})
		p.a.event(Terminate{Child: "net"})
		p.run(5 * time.Minute)
		if len(ids) != under+1 || !a.gone {
			t.Errorf("%d requests were sent, want the Delete after %d; gone %v", len(ids), under, a.gone)
		}
	}
}

// TestLowerNonce: octets are compared, and a nonce that another one begins with is the lower (RFC 7296 section 2.8.1).
func TestLowerNonce(t *testing.T) {
	for _, c := range []struct{ a, b, lower string }{
		{"\x01\xff", "\x02\x00", "\x01\xff"},
		{"\x80", "\x7f", "\x7f"}, // unsigned
		{"ab", "abc", "ab"},
		{"abc", "ab", "ab"},
		{"b", "abc", "abc"},
	} {
		if got := string(lowerNonce([]byte(c.a), []byte(c.b))); got != c.lower {
			t.Errorf("of %q and %q %q is taken for the lower", c.a, c.b, got)
		}
	}
}

// TestPeerHasLostTheChild: CHILD_SA_NOT_FOUND for a rekey means that the peer does not have it: ours goes, and there is a new one (RFC 7296
// section 2.25).
func TestPeerHasLostTheChild(t *testing.T) {
	for _, start := range []ChildAction{ActionStart, ActionClear} { // kept up, or asked for by the operator once
		ca, cb := testConfigs(t)
		ca.Connections[0].Children[0].StartAction = start
		p := newPair(t, ca, cb)
		p.a.event(Initiate{"gw", "net"})
		p.settle()
		p.wantUp(t)
		b := p.b.e.sorted()[0]
		p.b.e.removeChild(b.children[0], "lost")
		p.b.drain()
		deletes := 0
		p.lose = func(from *host, k Packet) bool {
			if from == p.a && exchangeOf(k) == byte(wire.ExchangeInformational) {
				deletes++
			}
			return false
		}
		p.a.event(Rekey{Child: "net"})
		p.run(time.Minute)
		p.wantUp(t)
		if deletes != 0 {
			t.Errorf("%d INFORMATIONAL requests: what the peer does not have is not deleted there", deletes)
		}
	}
}

// TestSPIsAreNotReused: an inbound SPI that is in use, or half closed, is not chosen again (RFC 7296 section 1.4.1).
func TestSPIsAreNotReused(t *testing.T) {
	silence := func(p *pair) { p.lose = func(*host, Packet) bool { return true } }
	for name, c := range map[string]struct {
		begin func(p *pair)
		state ChildState
	}{
		"in use": {func(*pair) {}, ChildInstalled},
		"half closed": {func(p *pair) { // our Delete is not answered
			silence(p)
			p.b.event(Terminate{Child: "net"})
		}, ChildDeleting},
		"replaced": {func(p *pair) { // and closed, but for packets under way
			p.b.event(Rekey{Child: "net"})
			p.settle()
		}, ChildRekeyed},
	} {
		p := established(t)
		e := p.b.e
		child := e.sorted()[0].children[0]
		used := child.info.SPIIn
		if c.begin(p); child.state != c.state || p.b.kernel[child.info.ID] == nil {
			t.Fatalf("%s: the CHILD_SA is in state %v", name, child.state)
		}
		e.rand = bytes.NewReader([]byte{byte(used >> 24), byte(used >> 16), byte(used >> 8), byte(used), 9, 9, 9, 0x90})
		if spi := e.newChildSPI(); spi == used || spi>>8 != 0x090909 {
			t.Errorf("%s: SPI %08x is chosen again", name, spi)
		}
	}
}

// TestInvalidSyntaxEndsTheSA: an authenticated peer that does not understand us is told nothing more (RFC 7296 section 2.21.3).
func TestInvalidSyntaxEndsTheSA(t *testing.T) {
	p := established(t)
	p.lose = func(*host, Packet) bool { return true }
	p.b.event(Rekey{Child: "net"})
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	plain, _ := wire.AppendPayloads(nil, notification(wire.NotifyInvalidSyntax, nil))
	data := protect(t, a, a.header(wire.ExchangeCreateChildSA, b.out.next-1, true), uint8(wire.PayloadNotify), plain, 0, 0)
	p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: data})
	p.b.drain()
	if !b.gone || len(p.b.kernel) != 0 {
		t.Errorf("the IKE SA lives on after INVALID_SYNTAX\n%s", p.history())
	}
}

// TestNonceLength: at least 128 bits and half the key of every PRF (RFC 7296 section 2.10).
func TestNonceLength(t *testing.T) {
	e := newPair(t, first(testConfigs(t)), second(testConfigs(t))).a.e
	n := len(e.newNonce())
	for _, id := range []uint16{suite.PRFHMACSHA1, suite.PRFHMACSHA256, suite.PRFHMACSHA384, suite.PRFHMACSHA512} {
		f, err := suite.NewPRF(id)
		if err != nil {
			t.Fatal(err)
		}
		if n < 16 || n < f.Size()/2 || n > 256 {
			t.Errorf("%d octets for a PRF with keys of %d", n, f.Size())
		}
	}
}

// TestKeysAreForgotten: what would let somebody compute the keys of an IKE SA goes with it (RFC 7296 section 2.12).
func TestKeysAreForgotten(t *testing.T) {
	p := established(t)
	b := p.b.e.sorted()[0]
	if b.setup != nil {
		t.Error("the nonces and the private value of the set-up are kept while the SA is in use")
	}
	skd := b.keys.SKd.Bytes()
	p.a.event(Terminate{Connection: "gw"})
	p.settle()
	if !b.gone || len(skd) == 0 || !bytes.Equal(skd, make([]byte, len(skd))) || b.seal != nil || b.open != nil {
		t.Error("keys are left of an IKE SA that is gone")
	}
}

// TestSecondCopyOfAChild: a CHILD_SA with the selectors of another one is granted, and the first is not deleted for it (RFC 7296
// section 2.8): that is for the peer, who made it, to do.
func TestSecondCopyOfAChild(t *testing.T) {
	p := established(t, func(a, b *Config) {
		for _, c := range []*Config{a, b} {
			c.Connections[0].Children[0].Proposals = proposals(t, suite.ESP, "aes128gcm16")
		}
	})
	ts := sels(t, "0.0.0.0/0")
	answer := inject(t, p, wire.ExchangeCreateChildSA,
		offerSA(proposals(t, suite.ESP, "aes128gcm16"), []byte{7, 7, 7, 7}), &wire.Nonce{Data: make([]byte, 32)},
		tsPayload(wire.PayloadTSi, ts), tsPayload(wire.PayloadTSr, ts))
	if n := wire.FirstError(answer); n != nil {
		t.Errorf("refused: %v", n.NotifyType)
	}
	if b := p.b.e.sorted()[0]; len(b.children) != 2 || len(p.b.kernel) != 2 || b.active != nil || len(b.queue) != 0 {
		t.Errorf("%d CHILD_SAs, %d in the kernel, active %v\n%s", len(b.children), len(p.b.kernel), b.active, p.history())
	}
}

// TestChildlessOnlyIfAnnounced: an IKE SA alone is set up without a CHILD_SA with a peer that announces that it can do so, and
// with a child with others (RFC 6023 section 3).
func TestChildlessOnlyIfAnnounced(t *testing.T) {
	for _, announced := range []bool{true, false} {
		ca, cb := testConfigs(t)
		ca.Connections[0].Children[0].StartAction = ActionClear
		p := newPair(t, ca, cb)
		p.settle()
		p.a.event(Initiate{Connection: "gw"})
		a := p.a.e.sorted()[0]
		p.lose = func(from *host, k Packet) bool {
			return from == p.a && exchangeOf(k) == byte(wire.ExchangeAuth)
		}
		p.settle()
		if a.state != stateAuth || !a.peerChildless {
			t.Fatalf("state %v, announced %v", a.state, a.peerChildless)
		}
		a.peerChildless = announced
		if w := p.a.e.firstChild(a); (w == nil) != announced {
			t.Errorf("announced %v: the child of IKE_AUTH is %v", announced, w)
		}
	}
}

// TestFragmentedRequestAgain: of a request in fragments that comes again only the first fragment is answered, once, from the stored
// response (RFC 7383 section 2.6.1).
func TestFragmentedRequestAgain(t *testing.T) {
	p := established(t)
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	if !a.peerFragments || !b.peerFragments {
		t.Fatal("no fragmentation")
	}
	long := &wire.VendorID{Data: make([]byte, 3000)}
	packets, err := p.a.e.encrypt(a, a.header(wire.ExchangeInformational, b.in.next, false), []wire.Payload{long})
	if err != nil || len(packets) != 3 {
		t.Fatalf("%d fragments: %v", len(packets), err)
	}
	sent := 0
	p.lose = func(*host, Packet) bool { sent++; return true }
	give := func(i int) int {
		sent = 0
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: bytes.Clone(packets[i])})
		p.b.drain()
		return sent
	}
	if give(2)+give(0) != 0 || give(1) != 1 {
		t.Fatal("the fragments are not answered when they are complete, once")
	}
	if give(1)+give(2) != 0 {
		t.Error("a later fragment brings the answer again")
	}
	if give(0) != 1 {
		t.Error("the first fragment does not bring the answer again")
	}
	packets[0][len(packets[0])-1] ^= 1
	if give(0) != 0 {
		t.Error("a changed first fragment brings the answer again")
	}
}

// TestUnusablePublicValue: the sender of a public value that fails the checks is not dealt with any further, as initiator and
// as responder (RFC 6989 section 2.5).
func TestUnusablePublicValue(t *testing.T) {
	ts := sels(t, "0.0.0.0/0")
	selectors := []wire.Payload{tsPayload(wire.PayloadTSi, ts), tsPayload(wire.PayloadTSr, ts)}
	zero := &wire.KeyExchange{Method: suite.KEX25519, Data: make([]byte, 32)}
	nonce := &wire.Nonce{Data: make([]byte, 32)}
	child := append([]wire.Payload{offerSA(proposals(t, suite.ESP, "aes128gcm16-x25519"), []byte{7, 7, 7, 7}), nonce, zero}, selectors...)
	ike := []wire.Payload{offerSA(proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519"), wire.SPI(7).Bytes()), nonce, zero}
	for name, payloads := range map[string][]wire.Payload{"child": child, "IKE SA": ike} {
		p := established(t)
		answer := inject(t, p, wire.ExchangeCreateChildSA, payloads...)
		if wire.FirstNotify(answer, wire.NotifyInvalidSyntax) == nil || !p.b.e.Idle() || len(p.b.kernel) != 0 {
			t.Errorf("%s: the answer to a public value of 0 is %+v, idle %v", name, answer, p.b.e.Idle())
		}

		p = established(t)
		p.lose = func(*host, Packet) bool { return true }
		rekey := Rekey{Child: "net"}
		if name == "IKE SA" {
			rekey = Rekey{Connection: "gw"}
		}
		p.b.event(rekey)
		a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
		plain, err := wire.AppendPayloads(nil, payloads...)
		if err != nil {
			t.Fatal(err)
		}
		data := protect(t, a, a.header(wire.ExchangeCreateChildSA, b.out.next-1, true), uint8(wire.PayloadSA), plain, 0, 0)
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: data})
		p.b.drain()
		if b.state != stateDeleting {
			t.Errorf("%s: after a public value of 0 in the answer the IKE SA is in state %v, want it deleted\n%s", name, b.state, p.history())
		}
		noPanics(t, p)
	}
}
