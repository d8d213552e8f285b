package iketest

import (
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// routes are what the kernel of a host would say.
type routes struct {
	source netip.Addr          // the address that it prefers; invalid: there is no route
	wrong  map[netip.Addr]bool // addresses whose packets would leave over another link
}

func (r *routes) use(c *ike.Config) {
	c.Source = func(netip.Addr) netip.Addr { return r.source }
	c.Routed = func(local, _ netip.Addr) bool { return r.source.IsValid() && !r.wrong[local] }
}

// TestPathChoice: the path stays while it works, unless the better one is asked for; a route that leads elsewhere is as good a
// reason to move as an address that is gone.
func TestPathChoice(t *testing.T) {
	both := []netip.Addr{EndA.Addr, secondA}
	for _, tt := range []struct {
		name   string
		best   bool // prefer_best_path
		addrs  []netip.Addr
		routes routes
		want   netip.Addr
	}{
		{"nothing", false, both, routes{source: EndA.Addr}, EndA.Addr},
		{"other preferred", false, both, routes{source: secondA}, EndA.Addr},
		{"other preferred, and wanted", true, both, routes{source: secondA}, secondA},
		{"routed elsewhere", false, both, routes{secondA, map[netip.Addr]bool{EndA.Addr: true}}, secondA},
		{"address gone", false, both[1:], routes{source: secondA}, secondA},
		{"no route", false, both, routes{}, EndA.Addr},
		{"an address that must not be used", false, append(both[1:], otherAddr), routes{source: otherAddr}, secondA},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := routes{source: EndA.Addr}
			p := NewPair(1, func(a, b *ike.Config) {
				twoAddresses(a, b)
				a.PreferBestPath = tt.best
				now.use(a)
			})
			p.A.Do(ike.AddressChanged{Addrs: both})
			establish(t, p)
			now = tt.routes
			p.A.Do(ike.AddressChanged{Addrs: tt.addrs})
			p.RunFor(time.Second)
			agree(t, p)
			if got := only(t, p.A).Local.Addr(); got != tt.want {
				failRun(t, p.Net, "A is at %v, want %v", got, tt.want)
			}
		})
	}
}

// TestNoWayOut: with no address left the IKE SA waits, and goes on from the first that comes.
func TestNoWayOut(t *testing.T) {
	p := NewPair(1, twoAddresses)
	establish(t, p)
	p.A.Do(ike.AddressChanged{})
	p.A.Do(rekeyChild)
	p.RunFor(30 * time.Second)
	p.A.Do(ike.AddressChanged{Addrs: []netip.Addr{secondA}})
	p.RunFor(10 * time.Second)
	agree(t, p)
}

// TestAttemptFromLostAddress: an attempt that goes out from an address that is gone is begun anew from another one.
func TestAttemptFromLostAddress(t *testing.T) {
	p := NewPair(1, twoAddresses)
	p.Cut(p.A, p.B)
	p.A.Do(ike.AddressChanged{Addrs: []netip.Addr{EndA.Addr, secondA}})
	p.A.Initiate()
	p.RunFor(time.Second)
	p.Mend(p.A, p.B)
	p.A.Do(ike.AddressChanged{Addrs: []netip.Addr{secondA}})
	p.RunFor(time.Second)
	agree(t, p)
}
