package ike

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/ike/iketest/corpus"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// noPanics fails if an engine had to recover.
func noPanics(t *testing.T, p *pair) {
	t.Helper()
	for _, h := range []*host{p.a, p.b} {
		if n := h.e.Snapshot(p.now).Counters.Invalid["panic"]; n != 0 {
			t.Fatalf("%s recovered from %d panics\n%s", h.name, n, p.history())
		}
	}
}

// FuzzReceive gives an engine with an established and a connecting IKE SA any datagrams.
func FuzzReceive(f *testing.F) {
	ca, cb := testConfigs(&testing.T{})
	p := newPair(&testing.T{}, ca, cb)
	p.lose = func(_ *host, k Packet) bool { f.Add(k.Data, k.NATT); return false }
	p.settle()
	for _, in := range corpus.All() {
		if in.Stage == corpus.Clear {
			f.Add(in.Data, false)
		}
	}
	var fed *pair // made anew when an input has changed more than counters
	f.Fuzz(func(t *testing.T, data []byte, natt bool) {
		if fed == nil {
			ca, cb := testConfigs(t)
			fed = newPair(t, ca, cb)
			fed.lose = func(from *host, k Packet) bool { return from == fed.b }
			fed.settle() // a waits for an answer, b is half open
		}
		p, before := fed, occupied(fed)
		packet := Packet{Local: netip.MustParseAddrPort("192.0.2.1:500"), Remote: netip.MustParseAddrPort("192.0.2.2:500"), NATT: natt, Data: data}
		for _, h := range []*host{p.a, p.b} {
			h.t = t
			packet.Data = bytes.Clone(data)
			h.e.HandlePacket(p.now, packet)
			h.drain()
			packet.Local, packet.Remote = packet.Remote, packet.Local
		}
		p.wire, p.trace, p.a.notes, p.b.notes = nil, nil, nil, nil
		noPanics(t, p)
		if occupied(p) != before {
			fed = nil
		}
	})
}

// occupied tells what the engines of a pair hold and wait for.
func occupied(p *pair) string {
	text := ""
	for _, h := range []*host{p.a, p.b} {
		for _, sa := range h.e.sorted() {
			text += fmt.Sprintln(sa.id, sa.state, sa.junk, sa.in.next, sa.out.next, sa.setup != nil && sa.setup.initError == "" && sa.setup.spare == nil, sa.jobs)
		}
		next, _ := h.e.NextTimeout()
		text += fmt.Sprintln(next, len(h.e.inits), len(h.e.ghosts.order), len(h.e.childSPI))
	}
	return text
}

// exchanges are those that a peer can begin on an established IKE SA.
var exchanges = []wire.ExchangeType{wire.ExchangeAuth, wire.ExchangeCreateChildSA, wire.ExchangeInformational, wire.ExchangeIntermediate}

// chain reads any octets as a list of payloads: type, length, body.
func chain(data []byte) []wire.Payload {
	var payloads []wire.Payload
	for len(data) >= 2 && len(payloads) < 12 {
		n := min(int(data[1]), len(data)-2)
		payloads = append(payloads, &wire.Unknown{PayloadType: wire.PayloadType(33 + data[0]%16), Body: data[2 : 2+n]})
		data = data[2+n:]
	}
	return payloads
}

// unchain is the inverse of chain, for seeds.
func unchain(t testing.TB, payloads ...wire.Payload) []byte {
	var out []byte
	for _, p := range payloads {
		body, err := wire.AppendPayloads(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, byte(p.Type())-33, byte(len(body)-4))
		out = append(out, body[4:]...)
	}
	return out
}

// FuzzAuthenticated lets an authenticated peer send any payloads in any
// exchange, as request and as the response to what b is waiting for.
func FuzzAuthenticated(f *testing.F) {
	f.Add(uint8(2), false, uint8(0), unchain(f, &wire.Delete{Protocol: wire.ProtocolIKE}))
	f.Add(uint8(2), false, uint8(0), unchain(f, &wire.Delete{Protocol: wire.ProtocolESP, SPIs: []wire.ChildSPI{1}}))
	f.Add(uint8(2), true, uint8(1), unchain(f, notification(wire.NotifyInvalidSyntax, nil)))
	f.Add(uint8(1), true, uint8(2), unchain(f, notification(wire.NotifyTemporaryFailure, nil)))
	f.Add(uint8(1), true, uint8(3), unchain(f, notification(wire.NotifyInvalidKEPayload, []byte{0, 31})))
	f.Fuzz(func(t *testing.T, exchange uint8, response bool, doing uint8, data []byte) {
		p := established(t)
		p.lose = func(*host, Packet) bool { return true }
		switch doing % 4 { // what b is waiting for
		case 1:
			p.b.event(Terminate{Child: "net"})
		case 2:
			p.b.event(Rekey{Child: "net"})
		case 3:
			p.b.event(Rekey{Connection: "gw"})
		}
		x := exchanges[int(exchange)%len(exchanges)]
		a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
		id := b.in.next
		if response {
			id = b.out.next - 1
		}
		forged, err := p.a.e.encrypt(a, a.header(x, id, response), chain(data))
		if err != nil {
			t.Skip()
		}
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: forged[0]})
		p.b.drain()
		noPanics(t, p)
		for _, sa := range p.b.e.sas {
			if sa.jobs != 0 || len(sa.parked) != 0 || sa.in.answering {
				t.Errorf("%s is stuck: %d computations, %d parked, answering %v", sa.label(), sa.jobs, len(sa.parked), sa.in.answering)
			}
		}
	})
}

// FuzzProtected lets a peer send any octets inside of an encrypted payload: one that has authenticated itself, or one that has
// only exchanged IKE_SA_INIT.
func FuzzProtected(f *testing.F) {
	for _, in := range corpus.All() {
		if in.Stage != corpus.Clear {
			f.Add(in.Stage == corpus.HalfOpen, uint8(exchangeNamed(f, in.Exchange)), in.First, in.Data)
		}
	}
	f.Fuzz(func(t *testing.T, halfOpen bool, exchange, first uint8, data []byte) {
		ca, cb := testConfigs(t)
		p := newPair(t, ca, cb)
		p.lose = func(from *host, k Packet) bool { return halfOpen && exchangeOf(k) == byte(wire.ExchangeAuth) }
		p.settle()
		p.lose = func(*host, Packet) bool { return true }
		a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
		if len(data) > 60000 {
			t.Skip()
		}
		x := wire.ExchangeType(exchange)
		data = protect(t, a, a.header(x, b.in.next, false), first, data, 0, 0)
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, NATT: b.natt, Data: data})
		p.b.drain()
		noPanics(t, p)
		if s := p.b.e.Snapshot(p.now).IKESAs; halfOpen && len(s) != 0 {
			t.Fatalf("whoever has no key has an IKE SA: %+v", s)
		}
	})
}
