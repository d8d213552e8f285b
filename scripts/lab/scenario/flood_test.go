//go:build lab

package scenario

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

const (
	// floodMemory is what ipsecd may take at most, all in all, in a flood.
	floodMemory = 64 << 20
	// floodResent is how many requests to an established peer may have to be sent again, because an emulated
	// machine stands still for seconds: were they lost in the flood, it would be most of them.
	floodResent = 3
)

// TestFlood: 100,000 IKE_SA_INIT requests come from as many forged addresses, and 10,000 from one that returns
// cookies (RFC 8019). Memory stays bounded; the tunnel that is up is rekeyed and watched as ever; who comes
// after the flood is served at once.
func TestFlood(t *testing.T) {
	needIpsecd(t)
	s := newSites(t)
	tunnel, fresh := s.link("tunnel", 1, true), s.link("fresh", 2, false)
	tunnel.a.conn, tunnel.b.conn = "dpd_delay = 1s", "dpd_delay = 1s"
	fresh.b.peer = "%any"
	ours, theirs := s.conf([]*link{tunnel, fresh})
	them := labtest.StartCharon(t, s.them)
	them.Load(t, theirs)
	us := labtest.StartIpsecd(t, s.us, "include swanctl.conf\nmetrics { listen = "+metricsListen+" }\n", map[string]string{"swanctl.conf": ours})
	us.Initiate(t, tunnel.name)
	awaitChild(t, tunnel.name, us.Vici, them.Vici)
	before := us.PeakMemory(t)

	f := newFlooder(t, s, fresh.b.addr)
	go f.returnCookies()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	flooded := make(chan error, 1)
	start := time.Now()
	go func() { flooded <- f.run(ctx) }()
	labtest.WaitFor(t, setupTime, "the flood", func() error {
		if n := metric(t, s.us, "ipsec_ike_cookies_sent_total"); n < 1000 {
			return fmt.Errorf("%d cookies demanded, %d requests sent", n, f.sent.Load())
		}
		return nil
	})
	r := rekeyer{conn: tunnel.name, us: us.Vici, them: them.Vici, ping: func(t *testing.T) { awaitPing(t, tunnel) }}
	child := func(v labtest.Vici) error { return v.RekeyChild(tunnel.name) }
	r.once(t, child, []labtest.Vici{us.Vici}, r.childSPI)
	r.once(t, child, []labtest.Vici{them.Vici}, r.childSPI)
	r.once(t, func(v labtest.Vici) error { return v.RekeyIKE(tunnel.name) }, []labtest.Vici{us.Vici}, r.ikeID)
	t.Logf("three rekeys took %v", time.Since(start).Round(10*time.Millisecond))
	const checks = `ipsec_ike_messages_total{direction="in",exchange="INFORMATIONAL"}`
	seen := metric(t, s.us, checks)
	labtest.WaitFor(t, setupTime, "liveness checks in the flood", func() error {
		if n := metric(t, s.us, checks) - seen; n < 3 {
			return fmt.Errorf("%d messages", n)
		}
		return nil
	})
	sa, err := us.IKE(tunnel.name)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-flooded; err != nil {
		t.Fatal(err)
	}
	f.own.Close() // no more cookies are returned
	took := time.Since(start)
	end := time.Now()
	them.Initiate(t, fresh.name)
	awaitChild(t, fresh.name, us.Vici, them.Vici)
	served := time.Since(end)

	peak, halfOpen, resent := us.PeakMemory(t), metric(t, s.us, "ipsec_ike_half_open"), metric(t, s.us, "ipsec_ike_retransmits_total")
	t.Logf("%d requests in %v; %d cookies demanded, %d returned, %d answers; %d half-open, %d dropped by the sockets; %d requests of ours sent again",
		f.sent.Load(), took.Round(10*time.Millisecond), metric(t, s.us, "ipsec_ike_cookies_sent_total"), f.cookies.Load(), f.answers.Load(), halfOpen,
		metric(t, s.us, "ipsec_ike_socket_drops_total"), resent)
	t.Logf("memory: %d MiB before, %d MiB at most; a new peer is up %v after the flood", before>>20, peak>>20, served.Round(10*time.Millisecond))
	if peak > floodMemory {
		t.Errorf("ipsecd took %d MiB, want at most %d", peak>>20, floodMemory>>20)
	}
	if resent > floodResent {
		t.Errorf("%d requests to the peer of the tunnel were sent again, want at most %d", resent, floodResent)
	}
	if limit := floodRecoverTime(); served > limit {
		t.Errorf("a new peer was up after %v, want at most %v", served, limit)
	}
	if now, err := us.IKE(tunnel.name); err != nil || now.SPIInitiator != sa.SPIInitiator {
		t.Errorf("the tunnel's IKE SA was replaced: %v", err)
	}
	if n := metric(t, s.us, "ipsec_dpd_timeouts_total"); n > 0 {
		t.Errorf("%d peers were given up for dead", n)
	}
	pingBothWays(t, tunnel)
}

// floodRecoverTime is promised to new peers once a flood has ended; in emulation, a key
// exchange alone takes as long.
func floodRecoverTime() time.Duration { return recoverTime() / 5 * 2 }

// metric reads one series; 0 where it does not exist yet.
func metric(t *testing.T, n *labtest.Netns, series string) int {
	t.Helper()
	for line := range strings.Lines(scrape(t, n)) {
		if text, ok := strings.CutPrefix(line, series+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatalf("%s: %v", series, err)
			}
			return int(v)
		}
	}
	return 0
}
