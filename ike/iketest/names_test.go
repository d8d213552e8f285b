package iketest

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// TestAddressesInTurn: the first of several remote addresses is dead, and the next is tried.
func TestAddressesInTurn(t *testing.T) {
	dead := netip.MustParseAddr("198.51.100.66")
	p := NewPair(1, func(a, b *ike.Config) {
		restart(a, b)
		a.Connections[0].RemoteAddrs = append(Addrs(dead), a.Connections[0].RemoteAddrs...)
	})
	p.A.Initiate()
	p.RunFor(settleTime)
	agree(t, p)
}

// TestHostName: a name is looked up again for each attempt; the peer that it leads to may come by itself, too.
func TestHostName(t *testing.T) {
	p := NewPair(1, func(a, b *ike.Config) {
		restart(a, b)
		a.Connections[0].RemoteAddrs = []ike.AddrMatch{{Name: "b.example"}}
		b.Connections[0].RemoteAddrs = []ike.AddrMatch{{Name: "a.example"}}
	})
	p.A.ComputeTime = 20 * time.Millisecond
	p.A.Initiate()
	p.RunFor(time.Minute)
	if f := p.A.Failures(); len(f) == 0 || !strings.Contains(f[0], "b.example") || !strings.Contains(f[0], "no such host") {
		failRun(t, p.Net, "A does not say which name cannot be looked up: %q", f)
	}
	p.A.DNS = map[string][]netip.Addr{"b.example": {netip.MustParseAddr("198.51.100.66")}}
	p.RunFor(time.Minute)
	p.A.DNS["b.example"] = []netip.Addr{EndB.Addr}
	p.B.DNS = map[string][]netip.Addr{"a.example": {EndA.Addr}}
	p.RunFor(10 * time.Minute)
	agree(t, p)
}

// TestRedirect: the peer is sent to another gateway, and goes there; the old IKE SA is deleted (RFC 5685 section 5).
func TestRedirect(t *testing.T) {
	for _, gateway := range []string{EndB.Addr.String(), "b.example"} {
		third := End{ID: EndB.ID, Addr: netip.MustParseAddr("192.0.2.3"), Net: EndB.Net} // the same gateway elsewhere
		p := NewPair(1, func(a, _ *ike.Config) {
			restart(a, a)
			a.Connections[0].RemoteAddrs = Addrs(third.Addr)
		})
		p.A.DNS = map[string][]netip.Addr{"b.example": {EndB.Addr}}
		c := p.AddHost("C", Connect(third, EndA), third.Addr)
		p.A.Initiate()
		p.RunFor(time.Minute)
		if !p.A.Up(ConnectionName, ChildName) || !c.Up(ConnectionName, ChildName) {
			failRun(t, p.Net, "not up")
		}
		c.Do(ike.Redirect{Connection: ConnectionName, Gateway: gateway})
		p.RunFor(time.Minute)
		agree(t, p)
		if err := c.Empty(); err != nil {
			failRun(t, p.Net, "%v", err)
		}
	}
}

// TestRedirectLoop: two gateways that redirect to each other are followed five times in five minutes (RFC 5685 section 8), and later again.
func TestRedirectLoop(t *testing.T) {
	third := End{ID: EndB.ID, Addr: netip.MustParseAddr("192.0.2.3"), Net: EndB.Net}
	p := NewPair(1, func(a, _ *ike.Config) { restart(a, a) })
	c := p.AddHost("C", Connect(third, EndA), third.Addr)
	p.A.Initiate()
	for range 60 {
		p.RunFor(time.Second)
		p.B.Do(ike.Redirect{Connection: ConnectionName, Gateway: third.Addr.String()})
		c.Do(ike.Redirect{Connection: ConnectionName, Gateway: EndB.Addr.String()})
	}
	noViolation(t, p.Net)
	followed := func() (n int) {
		for _, note := range p.A.Notes {
			if strings.HasPrefix(note.Text, "redirected from") {
				n++
			}
		}
		return n
	}
	if n := followed(); n != 5 {
		failRun(t, p.Net, "A has followed %d redirects", n)
	}
	p.RunFor(5 * time.Minute)
	p.B.Do(ike.Redirect{Connection: ConnectionName, Gateway: third.Addr.String()})
	c.Do(ike.Redirect{Connection: ConnectionName, Gateway: EndB.Addr.String()})
	p.RunFor(time.Minute)
	if n := followed(); n != 6 {
		failRun(t, p.Net, "A has followed %d redirects in all", n)
	}
}
