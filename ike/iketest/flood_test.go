package iketest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// flood sends IKE_SA_INIT requests to a host, each with another SPI and nonce.
type flood struct {
	to       *Host
	r        *rand.Rand
	payloads []wire.Payload // of an honest request
	returns  bool           // cookies, as one does who has the addresses that it sends from
	answers  int            // that are not cookies
}

// newFlood learns from the first message that was recorded.
func newFlood(t *testing.T, to *Host, returns bool) *flood {
	t.Helper()
	msg, err := wire.ParseMessage(to.net.Recorded()[0].Data, wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return &flood{to: to, r: rand.New(rand.NewPCG(1, 1)), payloads: msg.Payloads, returns: returns}
}

// request sends one from an address.
func (f *flood) request(src netip.Addr) {
	nonce := make([]byte, 32)
	binary.BigEndian.PutUint64(nonce, f.r.Uint64())
	h := wire.Header{InitiatorSPI: wire.SPI(f.r.Uint64()), Exchange: wire.ExchangeSAInit, Flags: wire.FlagInitiator}
	payloads := append([]wire.Payload(nil), f.payloads...)
	for i, p := range payloads {
		if p.Type() == wire.PayloadNonce {
			payloads[i] = &wire.Nonce{Data: nonce}
		}
	}
	cookie := f.send(src, h, payloads)
	if cookie != nil && f.returns {
		f.send(src, h, append([]wire.Payload{&wire.Notify{NotifyType: wire.NotifyCookie, Data: cookie}}, payloads...))
	}
}

// send delivers a request and returns the cookie that is demanded. The checks of Host.step would look at all half-open
// IKE SAs each time, and so are left out.
func (f *flood) send(src netip.Addr, h wire.Header, payloads []wire.Payload) (cookie []byte) {
	data, err := wire.AppendMessage(nil, h, payloads...)
	if err != nil {
		panic(err)
	}
	now, e := f.to.net.now, f.to.engine
	e.HandlePacket(now, ike.Packet{Local: netip.AddrPortFrom(f.to.addrs[0], 500), Remote: netip.AddrPortFrom(src, 500), Data: data})
	for a, ok := e.NextAction(); ok; a, ok = e.NextAction() {
		switch a := a.(type) {
		case ike.Send:
			msg, err := wire.ParseMessage(a.Data, wire.Limits{})
			if err != nil {
				f.to.net.violate("the answer to a flood cannot be parsed: %v", err)
				return nil
			}
			if n := wire.FirstNotify(msg.Payloads, wire.NotifyCookie); n != nil {
				cookie = n.Data
			} else {
				f.answers++
			}
		case ike.Compute:
			e.HandleEvent(now, ike.Computed{ID: a.ID, Result: a.Run()})
		default:
			f.to.perform(a)
		}
	}
	return cookie
}

// heapInUse returns how much memory is in use.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// anybody makes B take everybody who knows the secret.
func anybody(a, b *ike.Config) {
	lively(a, b)
	b.Connections[0].RemoteAddrs, b.Connections[0].Remote.ID = nil, Identity("%any")
}

// TestFlood: ten seconds of half-open requests, ten from all over the world for each from one address. Memory stays bounded, the
// tunnel that is up is rekeyed and checked for life as ever, the log stays readable, and who comes just
// after the flood is served at once (RFC 8019).
func TestFlood(t *testing.T) {
	const tunnelBytes = 100 << 20 // 10,000 half-open IKE SAs, the default limit, and all else
	for _, c := range []struct {
		name         string
		returns      bool
		many, one    int
		mostHalfOpen int
		mostBytes    uint64
	}{
		{"forged addresses", false, 100000, 10000, 30, 1 << 20},
		{"real addresses", true, 20000, 5000, 10000, tunnelBytes},
	} {
		t.Run(c.name, func(t *testing.T) {
			if brief() {
				c.many, c.one = c.many/10, c.one/5
			}
			p := NewPair(1, anybody)
			p.Record()
			establish(t, p)
			f := newFlood(t, p.B, c.returns)
			p.recording = false
			p.GuardTraffic()
			before, notes := heapInUse(), len(p.B.Notes)
			oldIKE, oldChild := spis(t, p.A)
			one := netip.MustParseAddr("203.0.113.9")
			const steps = 1000
			for i := range steps {
				for range c.many / steps {
					f.request(netip.AddrFrom4([4]byte{100, byte(f.r.Uint32()), byte(f.r.Uint32()), byte(f.r.Uint32())}))
				}
				for range c.one / steps {
					f.request(one)
				}
				switch i {
				case 300:
					p.A.Do(rekeyChild)
				case 500:
					p.A.Do(rekeyIKE)
				case 700:
					p.B.Do(rekeyChild)
				}
				p.RunFor(10 * time.Millisecond)
			}
			used := int64(heapInUse()) - int64(before)
			s := p.B.Snapshot()
			t.Logf("%d half-open IKE SAs, %d KiB for them, %d answers, %d cookies, %d lines of log", s.Counters.HalfOpen, used/1024, f.answers, s.Counters.CookiesSent, len(p.B.Notes)-notes)
			noViolation(t, p.Net)
			if s.Counters.HalfOpen > c.mostHalfOpen || used > int64(c.mostBytes) {
				t.Errorf("%d half-open IKE SAs in %d KiB, expected at most %d in %d KiB", s.Counters.HalfOpen, used/1024, c.mostHalfOpen, c.mostBytes/1024)
			}
			if n := p.A.Snapshot().Counters.Retransmits; n > 0 || !p.Up() {
				failRun(t, p.Net, "the tunnel that was up: %d retransmissions, up: %v", n, p.Up())
			}
			if newIKE, newChild := spis(t, p.A); newIKE == oldIKE || newChild == oldChild {
				failRun(t, p.Net, "the SAs were not rekeyed")
			}
			if n := len(p.B.Notes) - notes; n > 200 {
				t.Errorf("%d lines of log in ten seconds", n)
			}
			end := End{ID: "new.example", Addr: netip.MustParseAddr("192.0.2.77"), Net: EndA.Net}
			n := p.AddHost("new", Connect(end, EndB), end.Addr)
			n.Initiate()
			if !p.RunUntil(func() bool { return n.Up(ConnectionName, ChildName) }, 2*time.Second) {
				failRun(t, p.Net, "a new peer is not served within 2 s: %v", n.Failures())
			}
			p.UnguardTraffic()
			p.RunFor(time.Minute)
			if n := p.B.Snapshot().Counters.HalfOpen; n > 0 {
				t.Errorf("%d half-open IKE SAs are left a minute later", n)
			}
		})
	}
}

// TestNewPeerInTheFlood: an honest peer that comes in the middle of the flood is served, too, whatever the flood returns.
func TestNewPeerInTheFlood(t *testing.T) {
	for _, returns := range []bool{false, true} {
		p := NewPair(1, func(a, b *ike.Config) {
			anybody(a, b)
			b.Limits.HalfOpenTotal = 500 // full within 500 ms
		})
		p.Record()
		establish(t, p)
		f := newFlood(t, p.B, returns)
		end := End{ID: "new.example", Addr: netip.MustParseAddr("192.0.2.77"), Net: EndA.Net}
		var n *Host
		for i := range 3000 {
			f.request(netip.AddrFrom4([4]byte{100, 1, byte(i >> 8), byte(i)}))
			p.RunFor(time.Millisecond)
			if i == 2000 {
				n = p.AddHost("new", Connect(end, EndB), end.Addr)
				n.Initiate()
			}
		}
		noViolation(t, p.Net)
		if !n.Up(ConnectionName, ChildName) {
			failRun(t, p.Net, "returning cookies %v: an honest peer is not served during the flood: %v", returns, n.Failures())
		}
	}
}

// TestThousandClientsBehindNAT: a thousand clients come at once from one address, far more than the number from which
// cookies are demanded. All get through.
func TestThousandClientsBehindNAT(t *testing.T) {
	clients := 1000
	if brief() {
		clients = 200
	}
	n := NewNet(1)
	cfg := Connect(EndB, EndA)
	c := cfg.Connections[0]
	c.RemoteAddrs, c.Remote.ID = nil, Identity("%any")
	c.Children[0].RemoteTS = Selectors(netip.MustParsePrefix("198.18.0.0/16"))
	cfg.Limits.HalfOpenPerIP = 100 // they need each other's places
	center := n.AddHost("gateway", cfg, EndB.Addr)
	var all []*Host
	for i := range clients {
		addr := netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)})
		end := End{ID: fmt.Sprintf("client%d.example", i), Addr: addr, Net: netip.PrefixFrom(addr, 32)}
		cfg := Connect(end, EndB)
		persist(cfg, cfg)
		all = append(all, n.AddHost(fmt.Sprint("client", i), cfg, addr))
	}
	n.AddNAT(natAddr, all...)
	for _, h := range all {
		n.After(n.upTo(time.Second), h.Initiate)
	}
	n.RunFor(20 * time.Second)
	noViolation(t, n)
	if center.Kernel.Children() != clients {
		failRun(t, n, "%d of %d clients are up", center.Kernel.Children(), clients)
	}
	if s := center.Snapshot().Counters; s.CookiesSent == 0 {
		t.Error("no cookie was demanded")
	}
}
