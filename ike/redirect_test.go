package ike

import (
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// TestRedirectNonce: an unprotected REDIRECT in answer to IKE_SA_INIT counts only with our nonce in it (RFC 5685 section 3), and where redirects
// are followed at all.
func TestRedirectNonce(t *testing.T) {
	for name, c := range map[string]struct {
		nonce   func([]byte) []byte
		ignored bool
	}{
		"our nonce": {func(b []byte) []byte { return b }, false},
		"another":   {func(b []byte) []byte { return append([]byte{^b[0]}, b[1:]...) }, false},
		"cut off":   {func(b []byte) []byte { return b[:len(b)-1] }, false},
		"none":      {func([]byte) []byte { return nil }, false},
		"ignored":   {func(b []byte) []byte { return b }, true},
	} {
		ca, cb := testConfigs(t)
		ca.IgnoreRedirects = c.ignored
		p := newPair(t, ca, cb)
		follow := name == "our nonce"
		var went []netip.Addr
		p.lose = func(from *host, k Packet) bool {
			m, err := wire.ParseMessage(k.Data, wireLimits)
			if from != p.a || err != nil || m.Exchange != wire.ExchangeSAInit {
				return false
			}
			went = append(went, k.Remote.Addr())
			if len(went) > 1 {
				return true
			}
			if announced := wire.FirstNotify(m.Payloads, wire.NotifyRedirectSupported) != nil; announced == c.ignored {
				t.Errorf("%s: REDIRECT_SUPPORTED is sent: %v", name, announced)
			}
			nonce, _ := wire.First[*wire.Nonce](m.Payloads)
			data := append(gateway{addr: elsewhere}.data(), c.nonce(nonce.Data)...)
			answer, _ := wire.AppendMessage(nil, wire.Header{InitiatorSPI: m.InitiatorSPI, Exchange: m.Exchange, Flags: wire.FlagResponse},
				notification(wire.NotifyRedirect, data))
			p.wire = append(p.wire, sent{to: p.a, p: Packet{Local: k.Local, Remote: k.Remote, Data: answer}, at: p.now})
			return !follow
		}
		p.settle()
		if moved := len(went) > 1 && went[1] == elsewhere; moved != follow {
			t.Errorf("%s: IKE_SA_INIT went to %v", name, went)
		}
	}
}

// TestGateway reads the identities of gateways, and refuses those that can be none.
func TestGateway(t *testing.T) {
	for _, g := range []gateway{
		{addr: netip.MustParseAddr("192.0.2.1")}, {addr: netip.MustParseAddr("2001:db8::1")}, {name: "gw.example"},
	} {
		got, rest, ok := parseGateway(append(g.data(), 1, 2, 3))
		if !ok || got != g || string(rest) != "\x01\x02\x03" {
			t.Errorf("%v is read as %v, %x, %v", g, got, rest, ok)
		}
	}
	for _, bad := range []string{
		"", "\x01", "\x01\x04\x01\x02\x03", "\x01\x05\x01\x02\x03\x04\x05", "\x02\x04\x01\x02\x03\x04", "\x03\x00", "\x03\x03a b", "\x04\x01a",
		"\x01\x04\x7f\x00\x00\x01", "\x01\x04\x00\x00\x00\x00", "\x01\x04\xe0\x00\x00\x01", "\x03\x02-a", "\x03\x02\n\n",
	} {
		if g, _, ok := parseGateway([]byte(bad)); ok {
			t.Errorf("%q is read as %v", bad, g)
		}
	}
}

func FuzzGateway(f *testing.F) {
	for _, s := range []string{"\x01\x04\xc0\x00\x02\x01nonce", "\x02\x10 \x01\x0d\xb8 \x01\x0d\xb8 \x01\x0d\xb8 \x01\x0d\xb8", "\x03\x02gw", "\x03\xffgw"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, rest, ok := parseGateway(b)
		if !ok {
			return
		}
		again, _, ok := parseGateway(append(g.data(), rest...))
		if !ok || again != g {
			t.Errorf("%v is read again as %v, %v", g, again, ok)
		}
	})
}

// TestRedirectInAuth: a responder that has proved who it is may redirect instead of creating a CHILD_SA; it is told that
// we go (RFC 5685 section 6).
func TestRedirectInAuth(t *testing.T) {
	p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
	went, from, deleted := redirectInAuth(t, p, true)
	if len(went) < 2 || went[1] != elsewhere || from[0] != went[0] || !deleted {
		t.Errorf("IKE_SA_INIT went to %v, redirected from %v; the first gateway was told: %v", went, from, deleted)
	}

	p = newPair(t, first(testConfigs(t)), second(testConfigs(t)))
	if went, _, _ := redirectInAuth(t, p, false); len(went) != 1 {
		t.Errorf("a responder that has proved nothing sends us to %v", went)
	}
	ca, cb := testConfigs(t)
	ca.IgnoreRedirects = true
	if went, _, _ := redirectInAuth(t, newPair(t, ca, cb), true); len(went) != 1 {
		t.Errorf("IKE_SA_INIT went to %v, though redirects are not followed", went)
	}
}

// elsewhere is where redirects of these tests lead.
var elsewhere = netip.MustParseAddr("192.0.2.77")

// redirectInAuth has b answer IKE_AUTH by a REDIRECT, and returns where IKE_SA_INIT of a goes, from whom it says that it was redirected, and
// whether the first gateway was told.
func redirectInAuth(t *testing.T, p *pair, proves bool) (went, from []netip.Addr, deleted bool) {
	t.Helper()
	p.lose = func(h *host, k Packet) bool {
		m, err := wire.ParseMessage(k.Data, wireLimits)
		switch {
		case err != nil || k.Remote.Addr() == elsewhere || len(went) > 1:
			if m.Exchange == wire.ExchangeSAInit {
				from = append(from, redirectedFrom(t, m.Payloads))
				went = append(went, k.Remote.Addr())
			}
			deleted = deleted || m.Exchange == wire.ExchangeInformational
			return true
		case h == p.a && m.Exchange == wire.ExchangeSAInit:
			went = append(went, k.Remote.Addr())
		case h == p.a && m.Exchange == wire.ExchangeInformational:
			deleted = true
		case h == p.b && m.Exchange == wire.ExchangeAuth:
			a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
			plain, err := wire.Open(nil, m.Encrypted, a.open)
			if err != nil {
				t.Fatal(err)
			}
			all, _ := wire.ParsePayloads(m.Encrypted.First, plain, wireLimits)
			id, _ := wire.First[*wire.Identification](all)
			proof, _ := wire.First[*wire.Auth](all)
			if !proves {
				proof.Data[0] ^= 1
			}
			data, err := p.b.e.encrypt(b, b.header(wire.ExchangeAuth, 1, true),
				[]wire.Payload{id, proof, notification(wire.NotifyRedirect, gateway{addr: elsewhere}.data())})
			if err != nil {
				t.Fatal(err)
			}
			p.wire = append(p.wire, sent{to: p.a, p: Packet{Local: k.Remote, Remote: k.Local, NATT: k.NATT, Data: data[0]}, at: p.now})
			return true
		}
		return false
	}
	p.settle()
	return went, from, deleted
}

// TestRedirectOfWhoStays: neither the original responder obeys a REDIRECT, nor an initiator that does not follow any.
func TestRedirectOfWhoStays(t *testing.T) {
	p := established(t, func(a, _ *Config) { a.IgnoreRedirects = true })
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	redirect := notification(wire.NotifyRedirect, gateway{addr: elsewhere}.data())
	request, err := p.b.e.encrypt(b, b.header(wire.ExchangeInformational, a.in.next, false), []wire.Payload{redirect})
	if err != nil {
		t.Fatal(err)
	}
	p.a.e.HandlePacket(p.now, Packet{Local: a.local, Remote: a.remote, NATT: a.natt, Data: request[0]})
	p.a.drain()
	inject(t, p, wire.ExchangeInformational, redirect)
	if !a.up() || !b.up() {
		t.Errorf("the initiator is up: %v, the responder: %v\n%s", a.up(), b.up(), p.history())
	}
}

// redirectedFrom reads who is named as the gateway that redirected.
func redirectedFrom(t *testing.T, payloads []wire.Payload) netip.Addr {
	t.Helper()
	n := wire.FirstNotify(payloads, wire.NotifyRedirectedFrom)
	if n == nil {
		t.Fatal("no REDIRECTED_FROM")
	}
	g, _, _ := parseGateway(n.Data)
	return g.addr
}
