package ike

import (
	"bytes"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/iketest/corpus"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// Faults that take keys or several messages.

// TestFault_F5_997_PadLength (and free5GC issue 999): a pad length beyond the plaintext, with each kind of cipher. What
// does not decrypt to something sound is as if it had not come.
func TestFault_F5_997_PadLength(t *testing.T) {
	for _, proposal := range []string{"aes128gcm16-prfsha256-x25519", "aes128-sha256-x25519"} {
		p := established(t, func(a, b *Config) {
			for _, c := range []*Config{a, b} {
				c.Connections[0].Proposals = proposals(t, suite.IKE, proposal)
			}
		})
		a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
		next := b.in.next
		for _, c := range []struct {
			padLength byte
			padding   int
		}{{255, 15}, {16, 15}, {255, 31}, {32, 31}} {
			data := protect(t, a, a.header(wire.ExchangeInformational, b.in.next, false), 0, nil, c.padLength, c.padding)
			p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: data})
			if _, sent := p.b.e.NextAction(); sent {
				t.Errorf("%s: pad length %d of %d octets: something is done", proposal, c.padLength, c.padding+1)
			}
		}
		if n := p.b.e.Snapshot(p.now).Counters.Invalid["integrity"]; n != 4 || b.in.next != next {
			t.Errorf("%s: %d messages counted, next message ID %d", proposal, n, b.in.next)
		}
		// The same with a sound pad length is answered.
		data := protect(t, a, a.header(wire.ExchangeInformational, b.in.next, false), 0, nil, 15, 15)
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: data})
		if a, _ := p.b.e.NextAction(); a == nil {
			t.Errorf("%s: an empty request is not answered", proposal)
		}
		noPanics(t, p)
	}
}

// TestFault_CVE_2024_2357_NoKeyThenRetransmit: no pre-shared key for the peer, who asks again. The answer is the same one,
// and nothing is left after a while.
func TestFault_CVE_2024_2357_NoKeyThenRetransmit(t *testing.T) {
	ca, cb := testConfigs(t)
	cb.Secrets = nil
	p := newPair(t, ca, cb)
	var request Packet
	var answers [][]byte
	p.lose = func(from *host, k Packet) bool {
		switch {
		case exchangeOf(k) != byte(wire.ExchangeAuth):
		case from == p.a:
			request = k
		default:
			answers = append(answers, k.Data)
			return true
		}
		return false
	}
	p.settle()
	request.Local, request.Remote = request.Remote, request.Local
	for range 3 {
		p.b.e.HandlePacket(p.now, Packet{Local: request.Local, Remote: request.Remote, NATT: request.NATT, Data: bytes.Clone(request.Data)})
		p.b.drain()
	}
	if len(answers) != 4 || !bytes.Equal(answers[0], answers[3]) {
		t.Fatalf("%d answers, want 4 that are one", len(answers))
	}
	if n := len(p.b.failures()); n != 1 || !p.b.e.Idle() {
		t.Errorf("%d failures reported, idle %v", n, p.b.e.Idle())
	}
	p.run(10 * ghostTime) // the peer's own retransmissions included
	kept := len(answers)
	p.b.e.HandlePacket(p.now, Packet{Local: request.Local, Remote: request.Remote, NATT: request.NATT, Data: bytes.Clone(request.Data)})
	p.b.drain()
	if len(answers) != kept {
		t.Error("the answer is kept for ever")
	}
	noPanics(t, p)
}

// TestFault_CVE_2021_45079_EarlyEAPSuccess: a responder that proves nothing, and says so in several ways.
func TestFault_CVE_2021_45079_EarlyEAPSuccess(t *testing.T) {
	id, _ := wire.AppendPayloads(nil, idPayload(wire.PayloadIDr, identity(&wire.Identification{IDType: wire.IDIPv4Addr, Data: []byte{192, 0, 2, 2}})))
	idr := &wire.Unknown{PayloadType: wire.PayloadIDr, Body: id[4:]}
	success := &wire.EAP{Message: []byte{3, 1, 0, 4}}
	ts := sels(t, "0.0.0.0/0")
	child := []wire.Payload{offerSA(proposals(t, suite.ESP, "aes128gcm16"), []byte{9, 9, 9, 9}), tsPayload(wire.PayloadTSi, ts), tsPayload(wire.PayloadTSr, ts)}
	for name, payloads := range map[string][]wire.Payload{
		"EAP success":               {idr, success},
		"EAP success alone":         {success},
		"EAP success and a child":   append([]wire.Payload{idr, success}, child...),
		"a child and no AUTH":       append([]wire.Payload{idr}, child...),
		"nothing":                   {},
		"AUTH of no octets":         {idr, &wire.Auth{Method: wire.AuthSharedKey}},
		"AUTH of another method":    {idr, &wire.Auth{Method: 13, Data: make([]byte, 32)}},
		"AUTH of zeros":             {idr, &wire.Auth{Method: wire.AuthSharedKey, Data: make([]byte, 32)}},
		"AUTH_LIFETIME and no AUTH": {idr, notification(wire.NotifyType(16403), []byte{0, 0, 1, 0})},
	} {
		p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
		p.lose = func(from *host, k Packet) bool { return from == p.b && exchangeOf(k) == byte(wire.ExchangeAuth) }
		p.settle()
		a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
		plain, err := wire.AppendPayloads(nil, payloads...)
		if err != nil {
			t.Fatal(err)
		}
		p.lose = func(*host, Packet) bool { return true }
		data := protect(t, b, b.header(wire.ExchangeAuth, 1, true), uint8(wire.FirstType(payloads)), plain, 0, 0)
		p.a.e.HandlePacket(p.now, Packet{Local: a.local, Remote: a.remote, NATT: a.natt, Data: data})
		p.a.drain()
		if s := p.a.e.Snapshot(p.now); a.up() || len(p.a.kernel) != 0 || p.a.up["net"] != 0 || s.Counters.Negotiations[NegotiationKey{Initiator: true, OK: true}] != 0 {
			t.Errorf("%s: the responder is believed\n%s", name, p.history())
		}
		if n := len(p.a.failures()); n != 1 {
			t.Errorf("%s: %d failures reported", name, n)
		}
		noPanics(t, p)
	}
}

// TestFault_StrongSwan_2945_RekeyTwice: the peer rekeys one CHILD_SA twice without deleting it in between.
func TestFault_StrongSwan_2945_RekeyTwice(t *testing.T) {
	p := established(t, func(a, b *Config) {
		for _, c := range []*Config{a, b} {
			c.Connections[0].Children[0].Proposals = proposals(t, suite.ESP, "aes128gcm16")
		}
	})
	old := p.b.e.sorted()[0].children[0]
	ts := sels(t, "0.0.0.0/0")
	rekey := func(spi uint32) []wire.Payload {
		return inject(t, p, wire.ExchangeCreateChildSA,
			&wire.Notify{Protocol: wire.ProtocolESP, SPI: wire.ChildSPI(old.info.SPIOut).Bytes(), NotifyType: wire.NotifyRekeySA},
			offerSA(proposals(t, suite.ESP, "aes128gcm16"), wire.ChildSPI(spi).Bytes()), &wire.Nonce{Data: make([]byte, 32)},
			tsPayload(wire.PayloadTSi, ts), tsPayload(wire.PayloadTSr, ts))
	}
	if n := wire.FirstError(rekey(0x01010101)); n != nil {
		t.Fatalf("the first rekey is refused: %v", n.NotifyType)
	}
	n := wire.FirstError(rekey(0x02020202))
	if n == nil || n.NotifyType != wire.NotifyTemporaryFailure && n.NotifyType != wire.NotifyChildSANotFound {
		t.Errorf("the second rekey of one CHILD_SA: %+v, want TEMPORARY_FAILURE or CHILD_SA_NOT_FOUND (RFC 7296 section 2.25)", n)
	}
	live := 0
	for _, c := range p.b.e.sorted()[0].children {
		if c.live() {
			live++
		}
	}
	if live != 1 || len(p.b.kernel) != 2 || p.b.up["net"] != 1 {
		t.Errorf("%d live CHILD_SAs, %d in the kernel\n%s", live, len(p.b.kernel), p.history())
	}
	noPanics(t, p)
}

// TestFault_F5_994_DeleteReplay: everything that the peer ever sent comes again, in any order.
func TestFault_F5_994_DeleteReplay(t *testing.T) {
	ca, cb := testConfigs(t)
	p := newPair(t, ca, cb)
	var sent []Packet
	p.lose = func(from *host, k Packet) bool {
		if from == p.a {
			k.Local, k.Remote = k.Remote, netip.AddrPortFrom(p.a.addr, k.Local.Port())
			sent = append(sent, k)
		}
		return false
	}
	p.settle()
	p.a.event(Terminate{Child: "net"}) // the Delete that is to be replayed
	p.settle()
	p.a.event(Initiate{"gw", "net"})
	p.settle()
	p.a.event(Rekey{Child: "net"})
	p.run(time.Minute)
	p.wantUp(t)
	p.lose = func(*host, Packet) bool { return true }
	before := p.b.e.Snapshot(p.now)
	for _, k := range append(slices.Clone(sent), sent...) {
		if exchangeOf(k) == byte(wire.ExchangeSAInit) {
			continue // a new beginning, which is answered
		}
		k.Data = bytes.Clone(k.Data)
		p.b.e.HandlePacket(p.now, k)
		p.b.drain()
	}
	after := p.b.e.Snapshot(p.now)
	if len(after.IKESAs) != 1 || len(after.IKESAs[0].Children) != 1 || after.IKESAs[0].Children[0].SA.ID != before.IKESAs[0].Children[0].SA.ID {
		t.Errorf("a replay changes %+v to %+v", before.IKESAs, after.IKESAs)
	}
	p.lose = nil
	p.wantUp(t)
}

// TestFault_Libreswan_67_DeleteBoth: Deletes of a CHILD_SA and of its IKE SA in one message, in both orders.
func TestFault_Libreswan_67_DeleteBoth(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		p := established(t)
		both := []wire.Payload{
			&wire.Delete{Protocol: wire.ProtocolESP, SPIs: []wire.ChildSPI{wire.ChildSPI(p.b.e.sorted()[0].children[0].info.SPIOut)}},
			&wire.Delete{Protocol: wire.ProtocolIKE},
		}
		if reverse {
			slices.Reverse(both)
		}
		answer := inject(t, p, wire.ExchangeInformational, both...)
		if answer == nil || wire.FirstError(answer) != nil {
			t.Errorf("the answer is %v", answer)
		}
		if !p.b.e.Idle() || len(p.b.kernel) != 0 || p.b.up["net"] != 0 {
			t.Errorf("something is left\n%s", p.history())
		}
		noPanics(t, p)
	}
}

// TestFault_OpenIKED_baf0c8e_AddressBeforeAuth: the peer's address is that of its last verified message only (RFC
// 7296 section 2.23).
func TestFault_OpenIKED_baf0c8e_AddressBeforeAuth(t *testing.T) {
	p := established(t, func(a, b *Config) { a.Connections[0].MOBIKE, b.Connections[0].MOBIKE = false, false })
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	b.natRemote = true
	was := b.remote
	elsewhere := netip.MustParseAddrPort("203.0.113.9:4500")
	good := protect(t, a, a.header(wire.ExchangeInformational, b.in.next, false), 0, nil, 0, 0)
	bad := bytes.Clone(good)
	bad[len(bad)-1] ^= 1
	p.lose = func(*host, Packet) bool { return true }
	old := protect(t, a, a.header(wire.ExchangeInformational, b.in.next-1, false), 0, nil, 0, 0)
	ahead := protect(t, a, a.header(wire.ExchangeInformational, b.in.next+1, false), 0, nil, 0, 0)
	for name, data := range map[string][]byte{"a wrong ICV": bad, "an old message ID": old, "a future message ID": ahead, "a cut message": good[:40]} {
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: elsewhere, NATT: true, Data: bytes.Clone(data)})
		p.b.drain()
		if b.remote != was || len(p.b.moved) != 0 {
			t.Errorf("%s moves the peer to %v", name, b.remote)
		}
	}
	p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: elsewhere, NATT: true, Data: good})
	p.b.drain()
	if b.remote != elsewhere || len(p.b.moved) != 1 {
		t.Errorf("a good message does not move the peer: it is at %v", b.remote)
	}
}

// TestFault_F5_PanicEndsTheProcess: free5GC turned each panic into the end of the process. Here the one SA that
// it concerned ends, and the others serve on.
func TestFault_F5_PanicEndsTheProcess(t *testing.T) {
	saved := slices.Clone(rules)
	defer func() { rules = saved }()
	p := newPair(t, first(twoConnections(t)), second(twoConnections(t)))
	p.settle()
	p.a.event(Initiate{bystander, bystander})
	p.a.event(Initiate{"gw", "net"})
	p.settle()
	a, b := p.a.only(t, "gw"), p.b.only(t, "gw")
	armed := true
	for i := range rules {
		step := rules[i].step
		rules[i].step = func(e *Engine, sa *ikeSA, m *message) {
			if sa == b && armed {
				panic("nil pointer")
			}
			step(e, sa, m)
		}
	}
	p.lose = func(*host, Packet) bool { return true }
	data := protect(t, a, a.header(wire.ExchangeInformational, b.in.next, false), 0, nil, 0, 0)
	p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, NATT: b.natt, Data: data})
	told := 0
	for { // the host's own drain fails the test over an internal error
		action, ok := p.b.e.NextAction()
		if !ok {
			break
		}
		if n, isNote := action.(Note); isNote && n.Level == LevelError && strings.Contains(n.Text, "internal error on a message from 192.0.2.1") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d lines tell of it", told)
	}
	if !b.gone || p.b.e.Snapshot(p.now).Counters.Invalid["panic"] != 1 {
		t.Error("the SA lives on")
	}
	armed, p.lose = false, nil
	p.a.event(Rekey{Child: bystander})
	p.run(time.Minute)
	if s := p.b.sas(bystander); len(s) != 1 || len(s[0].Children) != 1 || p.b.up[bystander] != 1 {
		t.Errorf("the other SA is harmed:\n%s", p.history())
	}
}

// TestEveryInputIsUsed: an input that nobody sends shows nothing.
func TestEveryInputIsUsed(t *testing.T) {
	b, err := os.ReadFile("faults_test.go")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, in := range corpus.All() {
		if !strings.Contains(text, `"`+in.Name+`"`) {
			t.Errorf("no test sends %s", in.Name)
		}
	}
}
