package ike

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// inject has the peer of b send payloads in a protected request and returns the inside of b's
// answer, nil if there is none.
func inject(t *testing.T, p *pair, x wire.ExchangeType, payloads ...wire.Payload) []wire.Payload {
	t.Helper()
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	request, err := p.a.e.encrypt(a, a.header(x, b.in.next, false), payloads)
	if err != nil {
		t.Fatal(err)
	}
	var answer []wire.Payload
	p.lose = func(from *host, k Packet) bool {
		m, err := wire.ParseMessage(k.Data, wireLimits)
		if err != nil || m.Encrypted == nil || !m.IsResponse() {
			return true
		}
		plain, err := wire.Open(nil, m.Encrypted, a.open)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ = wire.ParsePayloads(m.Encrypted.First, plain, wireLimits)
		if answer == nil {
			answer = []wire.Payload{}
		}
		return true
	}
	p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: request[0]})
	p.b.drain()
	return answer
}

// TestRequired leaves each required payload out of each request in turn: the answer is
// INVALID_SYNTAX, and the SA ends (RFC 7296 section 2.21.3).
func TestRequired(t *testing.T) {
	spi := wire.ChildSPI(0x1234567).Bytes()
	ts := sels(t, "0.0.0.0/0")
	child := []wire.Payload{
		offerSA(proposals(t, suite.ESP, "aes128gcm16"), spi), &wire.Nonce{Data: make([]byte, 32)},
		tsPayload(wire.PayloadTSi, ts), tsPayload(wire.PayloadTSr, ts),
	}
	ike := []wire.Payload{
		offerSA(proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519"), wire.SPI(7).Bytes()), &wire.Nonce{Data: make([]byte, 32)},
		&wire.KeyExchange{Method: suite.KEX25519, Data: make([]byte, 32)},
	}
	for _, request := range [][]wire.Payload{child, ike} {
		for i := range request {
			p := established(t)
			less := slices.Delete(slices.Clone(request), i, i+1)
			got := inject(t, p, wire.ExchangeCreateChildSA, less...)
			if wire.FirstNotify(got, wire.NotifyInvalidSyntax) == nil {
				t.Errorf("without %v the answer is %v", request[i].Type(), got)
			}
			if !p.b.e.Idle() {
				t.Errorf("without %v the IKE SA lives on", request[i].Type())
			}
		}
	}
}

func TestUnknownPayloads(t *testing.T) {
	p := established(t)
	got := inject(t, p, wire.ExchangeInformational, &wire.Unknown{PayloadType: 200, Body: []byte("?")})
	if got == nil || len(got) != 0 {
		t.Errorf("an unknown payload that is not critical: %v, want an empty answer (RFC 7296 section 2.5)", got)
	}
	got = inject(t, p, wire.ExchangeInformational, &wire.Unknown{PayloadType: 200, Critical: true, Body: []byte("?")})
	if n := wire.FirstNotify(got, wire.NotifyUnsupportedCriticalPayload); n == nil || len(n.Data) != 1 || n.Data[0] != 200 {
		t.Errorf("an unknown critical payload: %v", got)
	}
	if p.b.e.Idle() {
		t.Error("the IKE SA is gone")
	}
}

// TestPayloadsInAnyOrder turns the payloads of every protected message around (RFC 7296 section 2.5).
func TestPayloadsInAnyOrder(t *testing.T) {
	p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
	turned := map[wire.ExchangeType]int{}
	p.lose = func(from *host, k Packet) bool {
		to := p.a
		if from == p.a {
			to = p.b
		}
		m, err := wire.ParseMessage(k.Data, wireLimits)
		if err != nil || m.Encrypted == nil {
			return false
		}
		mine, yours := from.e.sas[m.InitiatorSPI], to.e.sas[m.ResponderSPI]
		if !m.FromInitiator() {
			mine, yours = from.e.sas[m.ResponderSPI], to.e.sas[m.InitiatorSPI]
		}
		if mine == nil || yours == nil {
			return false // one end is through with it
		}
		plain, err := wire.Open(nil, m.Encrypted, yours.open)
		if err != nil {
			t.Fatal(err)
		}
		payloads, err := wire.ParsePayloads(m.Encrypted.First, plain, wireLimits)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(payloads)
		data, err := wire.Seal(nil, m.Header, mine.seal, from.e.rand, payloads...)
		if err != nil {
			t.Fatal(err)
		}
		p.wire = append(p.wire, sent{to, Packet{Local: k.Remote, Remote: k.Local, NATT: k.NATT, Data: data}, p.now})
		if len(payloads) > 1 {
			turned[m.Exchange]++
		}
		return true
	}
	p.settle()
	for _, h := range []*host{p.a, p.b} {
		h.event(Rekey{Child: "net"})
		p.run(time.Minute)
		h.event(Rekey{Connection: "gw"})
		p.run(time.Minute)
	}
	p.wantUp(t)
	rekeyed := 0
	for _, n := range append(p.a.notes, p.b.notes...) {
		if n.Kind == NoteChildRekeyed {
			rekeyed++
		}
	}
	if f := append(p.a.failures(), p.b.failures()...); len(f) > 0 || rekeyed != 4 || turned[wire.ExchangeAuth] != 2 || turned[wire.ExchangeCreateChildSA] != 8 {
		t.Errorf("failures %q, %d ends rekeyed the CHILD_SA, messages %v", f, rekeyed, turned)
	}
}

func TestRekeyOfUnknownChild(t *testing.T) {
	p := established(t)
	ts := sels(t, "0.0.0.0/0")
	rekey := &wire.Notify{Protocol: wire.ProtocolESP, SPI: []byte{1, 2, 3, 4}, NotifyType: wire.NotifyRekeySA}
	got := inject(t, p, wire.ExchangeCreateChildSA, rekey,
		offerSA(proposals(t, suite.ESP, "aes128gcm16"), []byte{9, 9, 9, 9}), &wire.Nonce{Data: make([]byte, 32)},
		tsPayload(wire.PayloadTSi, ts), tsPayload(wire.PayloadTSr, ts))
	n := wire.FirstNotify(got, wire.NotifyChildSANotFound)
	if n == nil || string(n.SPI) != "\x01\x02\x03\x04" || n.Protocol != wire.ProtocolESP {
		t.Errorf("want CHILD_SA_NOT_FOUND with that SPI (RFC 7296 section 2.25), got %v", got)
	}
}

// TestRules: every line of the table says what it is, and no line hides another.
func TestRules(t *testing.T) {
	for i, r := range rules {
		if r.story == "" || r.step == nil || len(r.states) == 0 {
			t.Errorf("rule %d is incomplete: %q", i, r.story)
		}
		for _, earlier := range rules[:i] {
			if earlier.exchange == r.exchange && earlier.response == r.response && earlier.notify == 0 && earlier.protocol == 0 &&
				slices.Equal(earlier.states, r.states) {
				t.Errorf("%q is never reached, %q comes before it", r.story, earlier.story)
			}
		}
	}
}

// TestAuthValue computes AUTH as RFC 7296 section 2.15 writes it down.
func TestAuthValue(t *testing.T) {
	prf := func(key []byte, parts ...string) string {
		h := hmac.New(sha256.New, key)
		for _, p := range parts {
			h.Write([]byte(p))
		}
		return string(h.Sum(nil))
	}
	f, err := suite.NewPRF(suite.PRFHMACSHA256)
	if err != nil {
		t.Fatal(err)
	}
	sa := &ikeSA{prf: f, initiator: true, setup: &setup{ni: []byte("ni"), nr: []byte("nr"), initI: []byte("first"), initR: []byte("second")}}
	sa.keys.SKpi, sa.keys.SKpr = suite.NewKey([]byte("skpi")), suite.NewKey([]byte("skpr"))
	psk := suite.NewKey([]byte("secret"))
	id, _ := auth.Parse("a.example")
	payload := idPayload(wire.PayloadIDi, id)
	payload.Reserved = [3]byte{1, 2, 3} // ignored, but authenticated
	body := "\x02\x01\x02\x03a.example"
	pad := []byte(prf([]byte("secret"), "Key Pad for IKEv2"))

	if got, want := string(sa.ourAuth(psk, payload)), prf(pad, "first", "nr", prf([]byte("skpi"), body)); got != want {
		t.Errorf("initiator: %x, want %x", got, want)
	}
	sa.initiator = false
	if got, want := string(sa.ourAuth(psk, payload)), prf(pad, "second", "ni", prf([]byte("skpr"), body)); got != want {
		t.Errorf("responder: %x, want %x", got, want)
	}
	if !sa.peerAuthFits(psk, payload, []byte(prf(pad, "first", "nr", prf([]byte("skpi"), body)))) {
		t.Error("the responder refuses the initiator's AUTH")
	}
}
