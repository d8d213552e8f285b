package ike

import (
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// TestRedirectNonce: an unprotected REDIRECT in answer to IKE_SA_INIT counts only with our nonce in it (RFC 5685 section 3).
func TestRedirectNonce(t *testing.T) {
	elsewhere := netip.MustParseAddr("192.0.2.77")
	for _, forged := range []bool{true, false} {
		p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
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
			nonce, _ := wire.First[*wire.Nonce](m.Payloads)
			data := append(gateway{addr: elsewhere}.data(), nonce.Data...)
			if forged {
				data[len(data)-1] ^= 1
			}
			answer, _ := wire.AppendMessage(nil, wire.Header{InitiatorSPI: m.InitiatorSPI, Exchange: m.Exchange, Flags: wire.FlagResponse},
				notification(wire.NotifyRedirect, data))
			p.wire = append(p.wire, sent{to: p.a, p: Packet{Local: k.Local, Remote: k.Remote, Data: answer}, at: p.now})
			return forged
		}
		p.settle()
		if moved := len(went) > 1 && went[1] == elsewhere; moved == forged {
			t.Errorf("forged: %v; IKE_SA_INIT went to %v", forged, went)
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
	elsewhere := netip.MustParseAddr("192.0.2.77")
	p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
	var went, from []netip.Addr
	deleted := false
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
	if len(went) < 2 || went[1] != elsewhere || from[0] != went[0] || !deleted {
		t.Errorf("IKE_SA_INIT went to %v, redirected from %v; the first gateway was told: %v", went, from, deleted)
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
