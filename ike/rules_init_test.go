package ike

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// The tests of this file and of rules_test.go are for lines of docs/ike-rules.md that no other test breaks over.

// initRequests lets a begin, and gives it one answer after the other to IKE_SA_INIT. It returns the requests.
func initRequests(t *testing.T, p *pair, answers ...wire.Payload) []*wire.Message {
	t.Helper()
	var sent []*wire.Message
	p.lose = func(_ *host, k Packet) bool {
		m, err := wire.ParseMessage(bytes.Clone(k.Data), wireLimits)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, &m)
		return true
	}
	p.settle()
	for _, answer := range answers {
		a := p.a.e.sorted()[0]
		h := wire.Header{InitiatorSPI: a.spiI, Exchange: wire.ExchangeSAInit, Flags: wire.FlagResponse}
		data, err := wire.AppendMessage(nil, h, answer)
		if err != nil {
			t.Fatal(err)
		}
		p.a.e.HandlePacket(p.now, Packet{Local: a.local, Remote: a.remote, Data: data})
		p.settle()
	}
	return sent
}

// without returns the octets of a message's payloads less those of a type.
func without(t *testing.T, m *wire.Message, types ...wire.PayloadType) []byte {
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(m.Payloads), func(p wire.Payload) bool {
		n, isNotify := p.(*wire.Notify)
		return slices.Contains(types, p.Type()) || isNotify && n.NotifyType == wire.NotifyCookie
	})
	b, err := wire.AppendPayloads(nil, rest...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBeginningAnew: a cookie goes first, and stays when the group changes; the offer, the nonce and the message ID stay as
// they were (RFC 7296 sections 1.2, 2.2, 2.6 and 2.6.1).
func TestBeginningAnew(t *testing.T) {
	ca, cb := testConfigs(t)
	ca.Connections[0].Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519-ecp256")
	p := newPair(t, ca, cb)
	cookie := func(s string) wire.Payload { return notification(wire.NotifyCookie, []byte(s)) }
	group := notification(wire.NotifyInvalidKEPayload, []byte{0, 19})
	sent := initRequests(t, p, cookie("first"), group, cookie("second"))
	if len(sent) != 4 {
		t.Fatalf("%d requests, want 4", len(sent))
	}
	for i, want := range []string{"", "first", "first", "second"} {
		m := sent[i]
		got := ""
		if n, ok := m.Payloads[0].(*wire.Notify); ok && n.NotifyType == wire.NotifyCookie {
			got = string(n.Data)
		}
		if got != want {
			t.Errorf("request %d begins with the cookie %q, want %q", i, got, want)
		}
		if m.MessageID != 0 || m.InitiatorSPI != sent[0].InitiatorSPI || m.ResponderSPI != 0 {
			t.Errorf("request %d: %+v", i, m.Header)
		}
		if !bytes.Equal(without(t, m, wire.PayloadKeyExchange), without(t, sent[0], wire.PayloadKeyExchange)) {
			t.Errorf("request %d changes more than the cookie and the group", i)
		}
		ke, _ := wire.First[*wire.KeyExchange](m.Payloads)
		if want := []uint16{31, 31, 19, 19}[i]; ke.Method != want || len(ke.Data) != suite.PublicLen(want) {
			t.Errorf("request %d has %d octets for group %d", i, len(ke.Data), ke.Method)
		}
	}
}

// TestCookieLength: a cookie has 1 to 64 octets (RFC 7296 section 2.6); another one is ignored.
func TestCookieLength(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 2, 64: 2, 65: 1} {
		p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
		if sent := initRequests(t, p, notification(wire.NotifyCookie, make([]byte, n))); len(sent) != want {
			t.Errorf("a cookie of %d octets: %d requests, want %d", n, len(sent), want)
		}
	}
}

// TestGroupThatWasNotOffered: INVALID_KE_PAYLOAD for a group of no proposal changes nothing (RFC 7296 section 1.2).
func TestGroupThatWasNotOffered(t *testing.T) {
	for _, data := range [][]byte{{0, 14}, {0, 1}, {0, 0}, {}, {19}, {0, 31}, {0, 19, 0}} {
		p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
		if sent := initRequests(t, p, notification(wire.NotifyInvalidKEPayload, data)); len(sent) != 1 {
			t.Errorf("INVALID_KE_PAYLOAD with %x: %d requests, want 1", data, len(sent))
		}
	}
}

// TestSameSPITwoPeers: what tells IKE_SA_INIT requests apart is the whole message: two peers behind one NAT may choose one SPI
// (RFC 7296 section 2.1).
func TestSameSPITwoPeers(t *testing.T) {
	ca, cb := testConfigs(t)
	p := newPair(t, ca, cb)
	request := initRequests(t, p)[0]
	var answers []*wire.Message
	p.lose = func(_ *host, k Packet) bool {
		m, _ := wire.ParseMessage(bytes.Clone(k.Data), wireLimits)
		answers = append(answers, &m)
		return true
	}
	send := func(nonce byte) {
		for _, q := range request.Payloads {
			if n, ok := q.(*wire.Nonce); ok {
				n.Data = bytes.Repeat([]byte{nonce}, 32)
			}
		}
		data, err := wire.AppendMessage(nil, request.Header, request.Payloads...)
		if err != nil {
			t.Fatal(err)
		}
		p.b.e.HandlePacket(p.now, Packet{Local: netip.MustParseAddrPort("192.0.2.2:500"), Remote: netip.MustParseAddrPort("192.0.2.1:500"), Data: data})
		p.b.drain()
	}
	send(1)
	send(2) // another peer, with the same SPI and address
	send(1) // a retransmission
	if len(answers) != 3 {
		t.Fatalf("%d answers, want 3", len(answers))
	}
	if answers[0].ResponderSPI == answers[1].ResponderSPI || answers[0].ResponderSPI != answers[2].ResponderSPI {
		t.Errorf("responder SPIs %x %x %x", answers[0].ResponderSPI, answers[1].ResponderSPI, answers[2].ResponderSPI)
	}
}

// TestForgedInitAnswer: somebody on the path answers IKE_SA_INIT, soundly and before the peer. That costs one attempt at most
// (RFC 7296 section 2.4).
func TestForgedInitAnswer(t *testing.T) {
	ca, cb := testConfigs(t)
	_, evil := testConfigs(t)
	p := newPair(t, ca, cb)
	q := newPair(t, evil, evil)
	q.now, q.b.e.rand = p.now, rand.NewChaCha8([32]byte{66})
	forged := 0
	p.lose = func(from *host, k Packet) bool {
		if from == p.a && exchangeOf(k) == byte(wire.ExchangeSAInit) && forged == 0 {
			forged++
			q.lose = func(_ *host, answer Packet) bool {
				p.a.e.HandlePacket(p.now, Packet{Local: k.Local, Remote: k.Remote, Data: answer.Data})
				return true
			}
			q.b.e.HandlePacket(q.now, Packet{Local: netip.MustParseAddrPort("192.0.2.2:500"), Remote: netip.MustParseAddrPort("192.0.2.1:500"), Data: bytes.Clone(k.Data)})
			q.b.drain()
		}
		return false
	}
	p.run(10 * time.Minute)
	if forged != 1 {
		t.Fatal("nothing was forged")
	}
	p.wantUp(t)
	if n := len(p.a.failures()); n > 1 {
		t.Errorf("%d failures, want that of the first attempt at most: %q", n, p.a.failures())
	}
}
