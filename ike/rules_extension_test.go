package ike

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// Rules of the extensions: RFC 4478, RFC 4555, RFC 9242 and RFC 9370.

// followupProposal has an additional key exchange.
const followupProposal = "aes128gcm16-x25519-ke1_ecp256"

// withFollowup lets CREATE_CHILD_SA need IKE_FOLLOWUP_KE.
func withFollowup(t *testing.T) func(a, b *Config) {
	return func(a, b *Config) {
		for _, c := range []*Config{a, b} {
			c.Connections[0].Children[0].Proposals = proposals(t, suite.ESP, followupProposal)
		}
	}
}

// beginFollowup has b answer a CREATE_CHILD_SA that IKE_FOLLOWUP_KE must follow, and returns the link.
func beginFollowup(t *testing.T, p *pair) []byte {
	t.Helper()
	ts := sels(t, "0.0.0.0/0")
	ke, err := suite.NewKE(suite.KEX25519, p.a.e.rand)
	if err != nil {
		t.Fatal(err)
	}
	answer := inject(t, p, wire.ExchangeCreateChildSA,
		offerSA(proposals(t, suite.ESP, followupProposal), []byte{7, 7, 7, 7}), &wire.Nonce{Data: make([]byte, 32)},
		&wire.KeyExchange{Method: ke.Group(), Data: ke.Public()}, tsPayload(wire.PayloadTSi, ts), tsPayload(wire.PayloadTSr, ts))
	n := wire.FirstNotify(answer, wire.NotifyAdditionalKeyExchange)
	if n == nil {
		t.Fatalf("CREATE_CHILD_SA is answered by %+v, without ADDITIONAL_KEY_EXCHANGE", answer)
	}
	return n.Data
}

// ecp256 returns the public value of a key pair.
func ecp256(t *testing.T, p *pair) *wire.KeyExchange {
	t.Helper()
	ke, err := suite.NewKE(suite.KEECP256, p.a.e.rand)
	if err != nil {
		t.Fatal(err)
	}
	return &wire.KeyExchange{Method: ke.Group(), Data: ke.Public()}
}

// TestFollowupWithoutItsState: IKE_FOLLOWUP_KE with another link than that of its CREATE_CHILD_SA, without one, or too late is answered by
// STATE_NOT_FOUND, and nothing else happens (RFC 9370 section 2.2.4).
func TestFollowupWithoutItsState(t *testing.T) {
	for name, late := range map[string]bool{"other link": false, "late": true} {
		p := established(t, withFollowup(t))
		link := beginFollowup(t, p)
		if bytes.Equal(link, make([]byte, len(link))) {
			t.Errorf("the link is %x", link)
		}
		b := p.b.e.sorted()[0]
		state := 1
		if late {
			p.run(followupTime + time.Second)
			state = 0
		} else {
			link[0] ^= 1
		}
		for _, payloads := range [][]wire.Payload{
			{ecp256(t, p), notification(wire.NotifyAdditionalKeyExchange, link)}, {ecp256(t, p)},
		} {
			answer := inject(t, p, wire.ExchangeFollowupKE, payloads...)
			if len(answer) != 1 || wire.FirstNotify(answer, wire.NotifyStateNotFound) == nil {
				t.Errorf("%s: answered by %+v, want STATE_NOT_FOUND", name, answer)
			}
		}
		if !b.up() || len(b.children) != 1 || len(b.pending) != state {
			t.Errorf("%s: up %v, %d CHILD_SAs, %d exchanges wait", name, b.up(), len(b.children), len(b.pending))
		}
		if late {
			continue
		}
		link[0] ^= 1
		if answer := inject(t, p, wire.ExchangeFollowupKE, ecp256(t, p), notification(wire.NotifyAdditionalKeyExchange, link)); wire.FirstError(answer) != nil || len(b.children) != 2 {
			t.Errorf("the right link is answered by %+v, %d CHILD_SAs", answer, len(b.children))
		}
	}
}

// TestFollowupKeys: each secret of IKE_FOLLOWUP_KE goes into the keys of what it is for (RFC 9370 section 2.2.4).
func TestFollowupKeys(t *testing.T) {
	for _, ev := range []Rekey{{Child: "net"}, {Connection: "gw"}} {
		p := established(t, withFollowup(t), func(a, b *Config) {
			for _, c := range []*Config{a, b} {
				c.Connections[0].Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519-ke1_ecp256")
			}
		})
		old := p.a.e.sorted()[0]
		skd := suite.NewKey(bytes.Clone(old.keys.SKd.Bytes()))
		var nonces [][]byte
		message := &opened{t: t, p: p}
		p.lose = func(from *host, k Packet) bool {
			if exchangeOf(k) == byte(wire.ExchangeCreateChildSA) {
				_, content, _ := message.take(from, k)
				payloads, err := wire.ParsePayloads(message.first, content, wireLimits)
				if err != nil {
					t.Fatal(err)
				}
				nonce, _ := wire.First[*wire.Nonce](payloads)
				nonces = append(nonces, nonce.Data)
			}
			return false
		}
		p.a.holdKE = true
		p.a.event(ev)
		var secrets []suite.Key
		for range 4 { // a key pair and a shared secret for each exchange
			p.settle()
			secrets = append(secrets, p.a.compute(t)...)
		}
		p.settle()
		if len(secrets) != 2 || len(nonces) != 2 {
			t.Fatalf("%d secrets, %d nonces\n%s", len(secrets), len(nonces), p.history())
		}
		s := old.suite
		if now := p.a.e.sorted()[0]; ev.Connection != "" {
			want, err := suite.DeriveIKERekey(old.prf, skd, suite.IKEInput{PRF: old.prf, Encr: s.Encr, Ni: nonces[0], Nr: nonces[1],
				SPIi: uint64(now.spiI), SPIr: uint64(now.spiR), Shared: secrets[0], More: secrets[1:]})
			if err != nil || now == old {
				t.Fatalf("%v\n%s", err, p.history())
			}
			sameKeys(t, secretsOf(now.keys), secretsOf(want))
			continue
		}
		want, err := suite.DeriveChild(suite.ChildInput{PRF: old.prf, SKd: skd, Encr: s.Encr, Ni: nonces[0], Nr: nonces[1], Shared: secrets[0], More: secrets[1:]})
		if err != nil {
			t.Fatal(err)
		}
		now := old.children[len(old.children)-1]
		if got := p.a.kernel[now.info.ID].Keys; !bytes.Equal(got.EncrOut.Bytes(), want.EncrI.Bytes()) || !bytes.Equal(got.EncrIn.Bytes(), want.EncrR.Bytes()) {
			t.Error("the keys of the CHILD_SA are others")
		}
	}
}

// compute runs the only computation that is held, and returns the shared secret that it yields, if any.
func (h *host) compute(t *testing.T) []suite.Key {
	t.Helper()
	held := h.held
	if h.held = nil; len(held) != 1 {
		t.Fatalf("%d computations wait\n%s", len(held), h.pair.history())
	}
	result := held[0].Run().(keyResult)
	shared := bytes.Clone(result.shared.Bytes())
	h.event(Computed{held[0].ID, result})
	if len(shared) == 0 {
		return nil
	}
	return []suite.Key{suite.NewKey(shared)}
}

// TestUnusableFollowup: a public value that fails the checks, or is for another method, ends the IKE SA in IKE_FOLLOWUP_KE as it does
// in CREATE_CHILD_SA, on both sides (RFC 6989 section 2.5, RFC 7296 section 2.21.3).
func TestUnusableFollowup(t *testing.T) {
	noPoint := &wire.KeyExchange{Method: suite.KEECP256, Data: bytes.Repeat([]byte{1}, suite.PublicLen(suite.KEECP256))}
	for name, ke := range map[string]*wire.KeyExchange{"no point": noPoint, "other method": {Method: suite.KEX25519, Data: bytes.Repeat([]byte{9}, 32)}} {
		p := established(t, withFollowup(t))
		link := beginFollowup(t, p)
		answer := inject(t, p, wire.ExchangeFollowupKE, ke, notification(wire.NotifyAdditionalKeyExchange, link))
		if wire.FirstNotify(answer, wire.NotifyInvalidSyntax) == nil || !p.b.e.Idle() || len(p.b.kernel) != 0 {
			t.Errorf("%s: answered by %+v, idle %v, %d CHILD_SAs in the kernel", name, answer, p.b.e.Idle(), len(p.b.kernel))
		}
		noPanics(t, p)
	}
	for _, ev := range []Rekey{{Child: "net"}, {Connection: "gw"}} {
		p := established(t, withFollowup(t), func(a, b *Config) {
			for _, c := range []*Config{a, b} {
				c.Connections[0].Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519-ke1_ecp256")
			}
		})
		a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
		p.lose = func(from *host, k Packet) bool {
			return from == p.a && exchangeOf(k) == byte(wire.ExchangeFollowupKE)
		}
		p.b.event(ev)
		p.settle()
		plain, err := wire.AppendPayloads(nil, noPoint)
		if err != nil {
			t.Fatal(err)
		}
		data := protect(t, a, a.header(wire.ExchangeFollowupKE, b.out.next-1, true), uint8(wire.PayloadKeyExchange), plain, 0, 0)
		p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: data})
		p.b.drain()
		if b.state != stateDeleting {
			t.Errorf("%+v: after an unusable answer to IKE_FOLLOWUP_KE the IKE SA is in state %v, want it deleted\n%s", ev, b.state, p.history())
		}
		noPanics(t, p)
	}
}

// TestNATForbiddenInAuth: an initiator that forbids NATs in IKE_AUTH, and has met one, is refused by UNEXPECTED_NAT_DETECTED (RFC
// 4555 section 3.9).
func TestNATForbiddenInAuth(t *testing.T) {
	for _, nat := range []bool{false, true} {
		p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
		p.lose = func(from *host, k Packet) bool {
			if from != p.a || exchangeOf(k) != byte(wire.ExchangeAuth) || !nat {
				return false
			}
			p.wire = append(p.wire, sent{p.b, Packet{Local: k.Remote, Remote: netip.MustParseAddrPort("192.0.2.1:1025"), NATT: k.NATT, Data: bytes.Clone(k.Data)}, p.now})
			return true
		}
		p.a.holdKE = true
		for range 2 { // the key pair, the shared secret
			p.settle()
			held := p.a.held
			if p.a.held = nil; len(held) != 1 {
				t.Fatalf("%d computations wait\n%s", len(held), p.history())
			}
			p.a.e.sorted()[0].mobike.natt = false // as if the peer had sent no NAT detection
			p.a.e.HandleEvent(p.now, Computed{held[0].ID, held[0].Run()})
			p.a.drain()
		}
		p.settle()
		if !nat {
			p.wantUp(t)
			continue
		}
		if text := strings.Join(p.a.failures(), "\n"); !strings.Contains(text, "UNEXPECTED_NAT_DETECTED") || !p.b.e.Idle() {
			t.Errorf("the initiator says %q, the responder has %d IKE SAs\n%s", text, len(p.b.e.sas), p.history())
		}
	}
}

// TestAuthLifetimeAfterRekey: AUTH_LIFETIME is for the end that has authenticated itself as initiator, also when the other one has rekeyed
// the IKE SA since; it is nothing that a responder has to obey (RFC 4478 section 3).
func TestAuthLifetimeAfterRekey(t *testing.T) {
	p := established(t)
	p.b.event(Rekey{Connection: "gw"})
	p.run(time.Minute)
	p.wantUp(t)
	lifetime := notification(wire.NotifyAuthLifetime, binary.BigEndian.AppendUint32(nil, 600))
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	if a.initiator || !b.initiator {
		t.Fatal("b did not rekey the IKE SA")
	}
	request, err := p.b.e.encrypt(b, b.header(wire.ExchangeInformational, a.in.next, false), []wire.Payload{lifetime})
	if err != nil {
		t.Fatal(err)
	}
	p.lose = func(*host, Packet) bool { return true }
	p.a.e.HandlePacket(p.now, Packet{Local: a.local, Remote: a.remote, NATT: a.natt, Data: request[0]})
	p.a.drain()
	if at := a.reauth.at.Sub(p.now); at < 5*time.Minute || at > 10*time.Minute {
		t.Errorf("reauthentication is due in %v, want it before 10 minutes are over", at)
	}
	inject(t, p, wire.ExchangeInformational, lifetime)
	if !b.reauth.at.IsZero() {
		t.Error("the original responder obeys AUTH_LIFETIME")
	}
}

// TestForgedIntermediate: somebody on the path answers IKE_SA_INIT before the peer, and then IKE_INTERMEDIATE by an error. The attempt goes on
// with the peer's answer, since nobody has proved anything yet (RFC 7296 section 2.4, RFC 9242 section 3.4).
func TestForgedIntermediate(t *testing.T) {
	many := func(a, b *Config) (*Config, *Config) {
		for _, c := range []*Config{a, b} {
			c.Connections[0].Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519-ke1_ecp256")
		}
		return a, b
	}
	ca, cb := many(testConfigs(t))
	_, evil := many(testConfigs(t))
	p, q := newPair(t, ca, cb), newPair(t, evil, evil)
	q.now, q.b.e.rand = p.now, rand.NewChaCha8([32]byte{66})
	errors := 0
	p.lose = func(from *host, k Packet) bool {
		if from != p.a {
			return false
		}
		if exchangeOf(k) == byte(wire.ExchangeSAInit) && len(q.b.e.sas) == 0 {
			q.lose = func(_ *host, answer Packet) bool {
				p.wire = append(p.wire, sent{p.a, Packet{Local: k.Local, Remote: k.Remote, Data: answer.Data}, p.now})
				return true
			}
			q.b.e.HandlePacket(q.now, Packet{Local: k.Remote, Remote: k.Local, Data: bytes.Clone(k.Data)})
			q.b.drain()
		}
		h, err := wire.ParseHeader(k.Data)
		forger := q.b.e.sas[h.ResponderSPI]
		if err != nil || forger == nil || h.Exchange != wire.ExchangeIntermediate {
			return false
		}
		errors++
		plain, _ := wire.AppendPayloads(nil, notification(wire.NotifyInvalidSyntax, nil))
		data := protect(t, forger, forger.header(h.Exchange, h.MessageID, true), uint8(wire.PayloadNotify), plain, 0, 0)
		p.wire = append(p.wire, sent{p.a, Packet{Local: k.Local, Remote: k.Remote, NATT: k.NATT, Data: data}, p.now.Add(50 * time.Millisecond)})
		return true
	}
	p.run(10 * time.Second)
	if errors != 1 {
		t.Fatalf("%d errors were forged, want one\n%s", errors, p.history())
	}
	p.wantUp(t)
	if f := p.a.failures(); len(f) != 0 {
		t.Errorf("failures: %q", f)
	}
}
