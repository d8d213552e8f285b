package ike

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// flood sends n different IKE_SA_INIT requests of a to b from different ports, and drops
// b's answers, which it returns.
func flood(t *testing.T, p *pair, n int, from string) []Packet {
	t.Helper()
	var answers []Packet
	for i := range n {
		ca, _ := testConfigs(t)
		f := newPair(t, ca, ca)
		f.now = p.now
		f.a.e.rand = p.b.e.rand // other SPIs each time
		var request Packet
		f.lose = func(h *host, k Packet) bool { request = k; return true }
		f.a.e.HandleTimeout(f.now)
		f.a.drain()
		p.lose = func(h *host, k Packet) bool { answers = append(answers, k); return true }
		remote := netip.MustParseAddrPort(fmt.Sprintf("%s:%d", from, 10000+i))
		p.b.e.HandlePacket(p.now, Packet{Local: netip.MustParseAddrPort("192.0.2.2:500"), Remote: remote, Data: request.Data})
		p.b.drain()
	}
	p.lose = nil
	return answers
}

func TestCookies(t *testing.T) {
	ca, cb := testConfigs(t)
	cb.Limits.CookieThreshold, cb.Limits.CookiePerIP = 5, 3
	cb.Connections[0].RemoteAddrs = nil
	p := newPair(t, ca, cb)
	p.b.e.HandleTimeout(p.now)
	flood(t, p, 20, "198.51.100.1")
	if n := p.b.e.halfOpen.total; n != 3 {
		t.Fatalf("%d half-open IKE SAs of one address, want 3", n)
	}
	flood(t, p, 2, "198.51.100.2")
	answers := flood(t, p, 20, "198.51.100.3")
	if n := len(p.b.e.sas); n != 5 {
		t.Errorf("%d IKE SAs kept, want 5: a cookie must cost no memory", n)
	}
	if m, err := wire.ParseMessage(answers[0].Data, wireLimits); err != nil || wire.FirstNotify(m.Payloads, wire.NotifyCookie) == nil || m.ResponderSPI != 0 {
		t.Errorf("the answer is no demand for a cookie: %+v %v", m, err)
	}

	p.settle() // a honest peer returns its cookie
	if s := p.a.e.Snapshot(p.now); len(s.IKESAs) != 1 || s.IKESAs[0].State != IKEEstablished {
		t.Fatalf("no IKE SA with cookies:\n%s", p.history())
	}
	p.run(time.Minute)
	if n := p.b.e.halfOpen.total; n != 0 || len(p.b.e.inits) != 1 || len(p.b.e.halfOpen.perIP) != 0 {
		t.Errorf("%d half-open IKE SAs are left after a minute, %d requests remembered", n, len(p.b.e.inits))
	}
}

func TestCookieBinding(t *testing.T) {
	_, cb := testConfigs(t)
	p := newPair(t, cb, cb)
	e := p.b.e
	e.now = p.now
	ip, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.3")
	ni, spi := make([]byte, 32), wire.SPI(7)
	c := e.newCookie(ip, spi, ni)
	if !e.cookieValid(c, ip, spi, ni) {
		t.Fatal("a fresh cookie is refused")
	}
	if e.cookieValid(c, other, spi, ni) || e.cookieValid(c, ip, 8, ni) || e.cookieValid(c, ip, spi, make([]byte, 16)) || e.cookieValid(c[:10], ip, spi, ni) {
		t.Error("a cookie is good for another address, SPI or nonce")
	}
	life := e.cfg.Timing.CookieLifetime
	e.now = e.now.Add(2 * life)
	if e.cookieValid(c, ip, spi, ni) {
		t.Error("a cookie is good for ever, if nobody else is asked for one")
	}
	e.now = e.now.Add(-life)
	e.newCookie(ip, spi, ni) // the secret changes
	if !e.cookieValid(c, ip, spi, ni) {
		t.Error("a cookie of the last secret is refused")
	}
	e.now = e.now.Add(life)
	e.newCookie(ip, spi, ni)
	if e.cookieValid(c, ip, spi, ni) {
		t.Error("a cookie of the secret before the last is accepted")
	}
}

func TestHalfOpenLimit(t *testing.T) {
	ca, cb := testConfigs(t)
	cb.Limits = Limits{HalfOpenTotal: 10, HalfOpenPerIP: 4}
	cb.Connections[0].RemoteAddrs = nil
	p := newPair(t, ca, cb)
	p.b.e.HandleTimeout(p.now)
	flood(t, p, 20, "198.51.100.1")
	if n := len(p.b.e.sas); n != 4 {
		t.Errorf("%d half-open IKE SAs of one address, want 4", n)
	}
	for i := range 5 {
		flood(t, p, 4, fmt.Sprintf("198.51.100.%d", 10+i))
	}
	if n := len(p.b.e.sas); n != 10 {
		t.Errorf("%d half-open IKE SAs, want 10", n)
	}
}

// TestJunkAuth: what does not verify leaves a half-open IKE SA alone, and from some number on
// costs no decryption.
func TestJunkAuth(t *testing.T) {
	ca, cb := testConfigs(t)
	p := newPair(t, ca, cb)
	junk := 3
	p.lose = func(from *host, k Packet) bool {
		if from == p.a && exchangeOf(k) == byte(wire.ExchangeAuth) && junk > 0 {
			for ; junk > 0; junk-- {
				bad := k
				bad.Local, bad.Remote = k.Remote, k.Local
				bad.Data = append([]byte(nil), k.Data...)
				bad.Data[len(bad.Data)-junk] ^= 1
				p.b.e.HandlePacket(p.now, bad)
				p.b.drain()
			}
		}
		return false
	}
	p.settle()
	p.wantUp(t)
	if n := p.b.e.Snapshot(p.now).Counters.Invalid["integrity"]; n != 3 {
		t.Errorf("%d messages without integrity counted, want 3", n)
	}
}
