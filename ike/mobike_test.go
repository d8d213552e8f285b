package ike

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// TestMOBIKEAnswers: what a responder answers to the notifications of RFC 4555.
func TestMOBIKEAnswers(t *testing.T) {
	p := established(t)
	b := p.b.e.sorted()[0]
	if !b.mobike.on || b.mobike.leads || !p.a.e.sorted()[0].mobike.leads {
		t.Fatal("MOBIKE is not on, or the wrong side leads")
	}
	cookie := []byte("0123456789abcdef")
	update := notification(wire.NotifyUpdateSAAddresses, nil)
	has := func(got []wire.Payload, want wire.NotifyType, data []byte) {
		t.Helper()
		if n := wire.FirstNotify(got, want); n == nil || string(n.Data) != string(data) {
			t.Errorf("no %v with %x in the answer %v", want, data, got)
		}
	}
	got := inject(t, p, wire.ExchangeInformational, notification(wire.NotifyCookie2, cookie))
	has(got, wire.NotifyCookie2, cookie)

	// Section 3.8: a question for the mapping is answered with what we see.
	got = inject(t, p, wire.ExchangeInformational, p.a.e.natNotifies(p.a.e.sorted()[0], b.remote, false)...)
	has(got, wire.NotifyNATDetectionDestinationIP, natHash(b.spiI, b.spiR, b.remote))
	has(got, wire.NotifyNATDetectionSourceIP, natHash(b.spiI, b.spiR, b.local))

	// Section 3.9: who forbids NATs has met one, or not.
	before := b.remote
	other := netip.MustParseAddrPort("198.51.100.9:4500")
	got = inject(t, p, wire.ExchangeInformational, update, notification(wire.NotifyNoNATsAllowed, natTuple(other, b.local)))
	has(got, wire.NotifyUnexpectedNATDetected, nil)
	got = inject(t, p, wire.ExchangeInformational, update, notification(wire.NotifyNoNATsAllowed, natTuple(b.remote, b.local)))
	if len(got) != 0 || b.remote != before {
		t.Errorf("the answer is %v, and the peer at %v", got, b.remote)
	}

	// Section 3.6: the whole list, every time.
	for _, list := range [][]netip.Addr{{other.Addr(), netip.MustParseAddr("2001:db8::9")}, {other.Addr()}} {
		inject(t, p, wire.ExchangeInformational, addressPayloads(list)...)
		if len(b.mobike.peer) != len(list) || b.mobike.peer[0] != other.Addr() {
			t.Errorf("told %v, has %v", list, b.mobike.peer)
		}
	}
	inject(t, p, wire.ExchangeInformational, notification(wire.NotifyNoAdditionalAddresses, nil))
	if len(b.mobike.peer) != 0 {
		t.Errorf("told that there is none, has %v", b.mobike.peer)
	}

	// Section 3.5: an address that cannot be the peer's.
	p.b.e.addrs = []netip.Addr{b.remote.Addr()}
	got = inject(t, p, wire.ExchangeInformational, update)
	has(got, wire.NotifyUnacceptableAddresses, nil)
}

// TestWithoutMOBIKE: an end that has not announced it ignores all of it.
func TestWithoutMOBIKE(t *testing.T) {
	a, b := testConfigs(t)
	b.Connections[0].MOBIKE = false
	p := newPair(t, a, b)
	p.settle()
	p.wantUp(t)
	sa := p.b.e.sorted()[0]
	before := sa.remote
	sa.remote = netip.MustParseAddrPort("198.51.100.9:4500")
	got := inject(t, p, wire.ExchangeInformational, notification(wire.NotifyUpdateSAAddresses, nil), notification(wire.NotifyCookie2, make([]byte, 16)))
	if sa.remote = before; len(got) != 0 || sa.children[0].info.Remote != before.Addr() {
		t.Errorf("the answer is %v, and the CHILD_SA goes to %v", got, sa.children[0].info.Remote)
	}
}

// TestWrongCookie2 closes an IKE SA whose peer returns another COOKIE2, or none (RFC 4555 section 3.7).
func TestWrongCookie2(t *testing.T) {
	for _, answer := range [][]wire.Payload{nil, {notification(wire.NotifyCookie2, make([]byte, 16))}} {
		p := established(t)
		a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
		p.b.e.cfg.RoutabilityCheck = true
		b.remote = netip.MustParseAddrPort("198.51.100.9:4500")
		asked := b.out.next
		inject(t, p, wire.ExchangeInformational, notification(wire.NotifyUpdateSAAddresses, nil))
		if b.out.request == nil || b.out.request.id != asked || b.children[0].info.Remote == b.remote.Addr() {
			t.Fatal("the peer is not asked before its CHILD_SA is moved")
		}
		data, err := p.a.e.encrypt(a, a.header(wire.ExchangeInformational, asked, true), answer)
		if err != nil {
			t.Fatal(err)
		}
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, NATT: true, Data: data[0]})
		if b.state != stateDeleting {
			t.Errorf("answer %v: the IKE SA is %v", answer, b.info())
		}
	}
}

// TestOnlyTheInitiatorMoves: an original initiator does not follow the responder's UPDATE_SA_ADDRESSES, also after the responder has rekeyed the
// IKE SA (RFC 4555 section 3.5).
func TestOnlyTheInitiatorMoves(t *testing.T) {
	for _, rekeyed := range []bool{false, true} {
		p := established(t)
		if rekeyed {
			p.b.event(Rekey{Connection: "gw"})
			p.run(time.Minute)
		}
		a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
		before := a.remote
		request, err := p.b.e.encrypt(b, b.header(wire.ExchangeInformational, a.in.next, false), []wire.Payload{notification(wire.NotifyUpdateSAAddresses, nil)})
		if err != nil {
			t.Fatal(err)
		}
		p.a.e.HandlePacket(p.now, Packet{Local: a.local, Remote: netip.MustParseAddrPort("198.51.100.9:4500"), NATT: true, Data: request[0]})
		p.a.drain()
		if a.remote != before || len(p.a.moved) != 0 {
			t.Errorf("rekeyed %v: the initiator follows its peer to %v, with %d CHILD_SAs", rekeyed, a.remote, len(p.a.moved))
		}
	}
}

// TestUpdateBringsNATDetection: the request to use other addresses, and its answer, say what each end sees of the addresses, so that a NAT on
// the new path is noticed (RFC 4555 section 3.5).
func TestUpdateBringsNATDetection(t *testing.T) {
	p := established(t)
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	var bare []string // messages without
	seen := 0
	p.lose = func(from *host, k Packet) bool {
		m, err := wire.ParseMessage(bytes.Clone(k.Data), wireLimits)
		if err != nil || m.Encrypted == nil {
			t.Fatal("not an encrypted message")
		}
		open := a.open
		if from == p.a {
			open = b.open
		}
		plain, err := wire.Open(nil, m.Encrypted, open)
		if err != nil {
			t.Fatal(err)
		}
		payloads, err := wire.ParsePayloads(m.Encrypted.First, plain, wireLimits)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		if wire.FirstNotify(payloads, wire.NotifyNATDetectionSourceIP) == nil || wire.FirstNotify(payloads, wire.NotifyNATDetectionDestinationIP) == nil {
			bare = append(bare, from.name)
		}
		return false
	}
	p.a.e.startUpdate(a)
	p.a.drain()
	p.settle()
	if seen != 2 || len(bare) != 0 {
		t.Errorf("%d messages, want 2; without NAT detection: those of %v", seen, bare)
	}
}
