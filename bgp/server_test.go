package bgp

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/osrg/gobgp/v3/api"
)

func TestMultipathSets(t *testing.T) {
	a, b, c := newSpeaker(t, 11, ourAS), newSpeaker(t, 12, ourAS), newSpeaker(t, 13, ourAS)
	a.announce("10.2.0.0/16", "192.0.2.11", 0)
	b.announce("10.2.0.0/16", "192.0.2.12", 0)
	c.announce("10.2.0.0/16", "192.0.2.13", 0)
	c.announce("10.9.0.0/16", "192.0.2.13", 0)

	cfg := config(a.neighbor("a"), b.neighbor("b"), c.neighbor("c"))
	cfg.Networks = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	w := start(t, cfg, a, b, c)
	w.until("all three paths", func() bool {
		return w.routes["10.2.0.0/16"] == "a>192.0.2.11 b>192.0.2.12 c>192.0.2.13 "
	})
	w.until("End-of-RIB of all", func() bool { return w.eor["a"] == 1 && w.eor["b"] == 1 && w.eor["c"] == 1 })

	// Nothing but our networks goes out, although c's 10.9.0.0/16 is best here.
	w.until("our network at a", func() bool { return slices.Contains(a.received(), "10.1.0.0/16") })
	if got := a.received(); len(got) != 1 {
		t.Errorf("a got %v, want 10.1.0.0/16 alone", got)
	}
	if st := w.peer("c"); st.PrefixesReceived != 2 || st.PrefixesAdvertised != 1 || !st.EndOfRIB || st.MessagesIn == 0 {
		t.Errorf("status of c: %+v", st)
	}

	a.withdraw("10.2.0.0/16", "192.0.2.11")
	w.until("a's path gone", func() bool { return w.routes["10.2.0.0/16"] == "b>192.0.2.12 c>192.0.2.13 " })

	// A longer AS path is not equally good.
	a.announce("10.2.0.0/16", "192.0.2.11", 2)
	b.announce("10.2.0.0/16", "192.0.2.12", 1)
	w.until("c alone", func() bool { return w.routes["10.2.0.0/16"] == "c>192.0.2.13 " })

	// A Cease ends the session without a graceful restart.
	c.stop()
	w.until("the next best", func() bool { return w.routes["10.2.0.0/16"] == "b>192.0.2.12 " })
	w.until("10.9.0.0/16 gone", func() bool { _, ok := w.routes["10.9.0.0/16"]; return !ok })
	// The session's end is told apart from the routes'.
	w.until("c's status after its Cease", func() bool {
		st := w.peer("c")
		return st.State != StateEstablished && st.Flaps == 1 && strings.Contains(st.LastError, "notification")
	})
}

func TestFilters(t *testing.T) {
	tunnel, plain := newSpeaker(t, 21, ourAS), newSpeaker(t, 22, ourAS)
	tunnel.announce("10.2.0.0/16", "192.0.2.21", 3)
	for _, p := range []string{"10.2.0.0/16", "10.2.128.0/17", "10.0.0.0/8", "0.0.0.0/0", "10.3.0.0/16", "172.16.0.0/12"} {
		plain.announce(p, "192.0.2.22", 0)
	}
	n := plain.neighbor("plain")
	n.Refuse = []netip.Prefix{netip.MustParsePrefix("10.2.0.0/16")}
	n.Import = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("10.0.0.0/8")}
	w := start(t, config(tunnel.neighbor("tunnel"), n), tunnel, plain)

	// The plain neighbour's shorter AS path must not shadow the tunnel's.
	w.until("protected prefix by the tunnel", func() bool { return w.routes["10.2.0.0/16"] == "tunnel>192.0.2.21 " })
	w.until("the rest", func() bool {
		return w.routes["10.3.0.0/16"] == "plain>192.0.2.22 " && w.routes["0.0.0.0/0"] == "plain>192.0.2.22 " && w.eor["plain"] > 0
	})
	for _, p := range []string{"10.2.128.0/17", "10.0.0.0/8"} {
		if got, ok := w.routes[p]; ok {
			t.Errorf("%s was accepted: %s", p, got)
		}
	}
	w.until("refused prefixes in the status", func() bool { return w.peer("plain").RefusedCount == 3 })
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("10.2.0.0/16"), netip.MustParsePrefix("10.2.128.0/17")}
	if got := w.peer("plain").Refused; !slices.Equal(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}

	// Other filters apply to what was received before, and the session stays.
	since := w.peer("plain").Since
	n.Refuse, n.Import = nil, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	if err := w.s.Reconfigure(t.Context(), config(tunnel.neighbor("tunnel"), n)); err != nil {
		t.Fatal(err)
	}
	w.until("new filters", func() bool {
		_, def := w.routes["0.0.0.0/0"]
		return !def && w.routes["10.2.128.0/17"] == "plain>192.0.2.22 " && w.routes["10.2.0.0/16"] == "plain>192.0.2.22 "
	})
	if st := w.peer("plain"); st.Since != since || st.RefusedCount != 0 {
		t.Errorf("after other filters: %+v", st)
	}
}

func TestReconfigureTouchesOnlyWhatChanged(t *testing.T) {
	a, b, c := newSpeaker(t, 31, ourAS), newSpeaker(t, 32, ourAS), newSpeaker(t, 33, ourAS)
	for i, p := range []*speaker{a, b, c} {
		p.announce("10.2.0.0/16", netip.AddrFrom4([4]byte{192, 0, 2, byte(31 + i)}).String(), 0)
	}
	w := start(t, config(a.neighbor("a"), b.neighbor("b")), a, b, c)
	w.until("a and b", func() bool { return w.routes["10.2.0.0/16"] == "a>192.0.2.31 b>192.0.2.32 " })
	since := w.peer("a").Since

	cfg := config(a.neighbor("a"), c.neighbor("c"))
	cfg.Networks = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	if err := w.s.Reconfigure(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	w.until("a and c", func() bool { return w.routes["10.2.0.0/16"] == "a>192.0.2.31 c>192.0.2.33 " })
	w.until("the new network", func() bool { return slices.Contains(a.received(), "10.1.0.0/16") })
	if st := w.peer("a"); st.Since != since || st.Flaps != 0 {
		t.Errorf("the session with a was touched: %+v", st)
	}
	if len(w.s.Peers()) != 2 {
		t.Errorf("peers: %+v", w.s.Peers())
	}

	cfg.AS = 65001
	if err := w.s.Reconfigure(t.Context(), cfg); err == nil {
		t.Error("another AS was accepted while running")
	}
}

func TestPrefixLimit(t *testing.T) {
	a := newSpeaker(t, 41, ourAS)
	for _, p := range []string{"10.2.0.0/24", "10.2.1.0/24", "10.2.2.0/24"} {
		a.announce(p, "192.0.2.41", 0)
	}
	n := a.neighbor("a")
	n.ImportMax = 2
	w := start(t, config(n), a)
	w.until("the session to be closed", func() bool { return strings.Contains(w.peer("a").LastError, "import_max") })
	w.until("no route left", func() bool { return len(w.routes) == 0 })

	n.ImportMax = 3
	if err := w.s.Reconfigure(t.Context(), config(n)); err != nil {
		t.Fatal(err)
	}
	w.until("all routes under the higher limit", func() bool { return len(w.routes) == 3 })
}

func TestMaxPaths(t *testing.T) {
	a, b := newSpeaker(t, 51, ourAS), newSpeaker(t, 52, ourAS)
	a.announce("10.2.0.0/16", "192.0.2.51", 0)
	b.announce("10.2.0.0/16", "192.0.2.52", 0)
	cfg := config(a.neighbor("a"), b.neighbor("b"))
	cfg.MaxPaths = 1
	w := start(t, cfg, a, b)
	w.until("both sessions", func() bool { return w.eor["a"] > 0 && w.eor["b"] > 0 })
	if got := w.routes["10.2.0.0/16"]; got != "a>192.0.2.51 " {
		t.Errorf("routes %q, want one path", got)
	}
}

func TestOwnNetworkIsNeverRouted(t *testing.T) {
	a := newSpeaker(t, 61, ourAS)
	a.announce("10.1.0.0/16", "192.0.2.61", 0)
	cfg := config(a.neighbor("a"))
	cfg.Networks = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	w := start(t, cfg, a)
	w.until("End-of-RIB", func() bool { return w.eor["a"] > 0 })
	if got, ok := w.routes["10.1.0.0/16"]; ok {
		t.Errorf("our own network goes to %s", got)
	}
}

func TestListen(t *testing.T) {
	a := newSpeaker(t, 71, ourAS)
	local := netip.MustParseAddr("127.0.0.72")
	cfg := config(Neighbor{Name: "a", Address: a.addr, LocalAddress: local, AS: theirAS, Passive: true})
	cfg.ListenPort = freePort(t, local)
	w := start(t, cfg, a)
	a.connectTo(local, cfg.ListenPort)
	w.established("a")
}

func TestNoSessionNamesTheCause(t *testing.T) {
	// Both ends are wrong about the other's AS; ours finds out first, or theirs does.
	ours, theirs := newSpeaker(t, 81, ourAS), newSpeaker(t, 82, 64999)
	wrongHere := ours.neighbor("wrong-here")
	wrongHere.AS = 64999
	silent := netip.MustParseAddr("127.0.0.83")
	w := start(t, config(wrongHere, theirs.neighbor("wrong-there"), Neighbor{
		Name: "silent", Address: silent, AS: theirAS, RemotePort: freePort(t, silent), ConnectRetry: time.Second,
	}), ours, theirs)
	for name, want := range map[string]string{
		"wrong-here":  "31898",
		"wrong-there": "compare the AS numbers",
		"silent":      "connection refused",
	} {
		w.until(name+": "+want, func() bool { return strings.Contains(w.peer(name).LastError, want) })
		t.Log(w.peer(name).LastError)
	}
}

// TestIPv6Network: loopback has one IPv6 address, too few for a session; that
// GoBGP takes the path and gives it back is what can be seen.
func TestIPv6Network(t *testing.T) {
	cfg := config()
	cfg.Networks = []netip.Prefix{netip.MustParsePrefix("2001:db8:1::/48")}
	w := start(t, cfg)
	announced := func() (out []string) {
		err := w.s.gobgp.ListPath(t.Context(), &api.ListPathRequest{TableType: api.TableType_GLOBAL, Family: apiFamily(IPv6)},
			func(d *api.Destination) { out = append(out, d.GetPrefix()) })
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := announced(); !slices.Equal(got, []string{"2001:db8:1::/48"}) {
		t.Errorf("announced %v", got)
	}
	if err := w.s.Reconfigure(t.Context(), config()); err != nil {
		t.Fatal(err)
	}
	if got := announced(); len(got) != 0 {
		t.Errorf("still announced: %v", got)
	}
}
