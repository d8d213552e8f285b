package bgp

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"

	api "github.com/osrg/gobgp/v3/api"
	gobgp "github.com/osrg/gobgp/v3/pkg/server"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

const (
	ourAS   = 65515
	theirAS = 31898
	// patience bounds every wait: GoBGP rests up to 5 s between attempts.
	patience = 20 * time.Second
)

// speaker is the other side: a GoBGP of its own on a loopback address.
type speaker struct {
	t    *testing.T
	bgp  *gobgp.BgpServer
	addr netip.Addr
	port uint16
}

// newSpeaker listens on 127.0.0.host and waits for us on 127.0.0.1.
func newSpeaker(t *testing.T, host int, peerAS uint32) *speaker {
	t.Helper()
	addr := netip.AddrFrom4([4]byte{127, 0, 0, byte(host)})
	p := &speaker{t: t, addr: addr, port: freePort(t, addr)}
	p.bgp = gobgp.NewBgpServer(gobgp.LoggerOption(&logAdapter{log: slog.New(slog.DiscardHandler), reason: func(string, string) {}}))
	go p.bgp.Serve()
	p.must(p.bgp.StartBgp(t.Context(), &api.StartBgpRequest{Global: &api.Global{
		Asn: theirAS, RouterId: fmt.Sprintf("192.0.2.%d", host), UseMultiplePaths: true,
		ListenPort: int32(p.port), ListenAddresses: []string{addr.String()},
	}}))
	t.Cleanup(func() { p.stop() })
	p.must(p.bgp.AddPeer(t.Context(), &api.AddPeerRequest{Peer: &api.Peer{
		Conf:            &api.PeerConf{NeighborAddress: "127.0.0.1", PeerAsn: peerAS},
		Transport:       &api.Transport{PassiveMode: true, LocalAddress: addr.String()},
		GracefulRestart: &api.GracefulRestart{Enabled: true, RestartTime: 3, DeferralTime: 1},
		AfiSafis: []*api.AfiSafi{{
			Config:            &api.AfiSafiConfig{Family: apiFamily(IPv4), Enabled: true},
			MpGracefulRestart: &api.MpGracefulRestart{Config: &api.MpGracefulRestartConfig{Enabled: true}},
		}},
	}}))
	return p
}

func freePort(t *testing.T, addr netip.Addr) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(addr.String(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).AddrPort().Port()
}

func (p *speaker) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *speaker) stop() {
	if p.bgp != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		p.must(stop(ctx, p.bgp))
		p.bgp = nil
	}
}

// path has the given next hop and an AS path that is longer by prepend.
func (p *speaker) path(prefix, nexthop string, prepend int) *api.Path {
	pfx := netip.MustParsePrefix(prefix)
	numbers := make([]uint32, prepend)
	for i := range numbers {
		numbers[i] = 64512
	}
	attrs := []proto.Message{
		&api.OriginAttribute{Origin: 0},
		&api.NextHopAttribute{NextHop: nexthop},
		&api.AsPathAttribute{Segments: []*api.AsSegment{{Type: api.AsSegment_AS_SEQUENCE, Numbers: numbers}}},
	}
	if prepend == 0 {
		attrs = attrs[:2]
	}
	out := &api.Path{Family: apiFamily(IPv4)}
	out.Nlri = p.any(&api.IPAddressPrefix{Prefix: pfx.Addr().String(), PrefixLen: uint32(pfx.Bits())})
	for _, a := range attrs {
		out.Pattrs = append(out.Pattrs, p.any(a))
	}
	return out
}

func (p *speaker) any(m proto.Message) *anypb.Any {
	a, err := anypb.New(m)
	p.must(err)
	return a
}

func (p *speaker) announce(prefix, nexthop string, prepend int) {
	p.t.Helper()
	_, err := p.bgp.AddPath(p.t.Context(), &api.AddPathRequest{
		TableType: api.TableType_GLOBAL, Path: p.path(prefix, nexthop, prepend)})
	p.must(err)
}

func (p *speaker) withdraw(prefix, nexthop string) {
	p.t.Helper()
	p.must(p.bgp.DeletePath(p.t.Context(), &api.DeletePathRequest{
		TableType: api.TableType_GLOBAL, Path: p.path(prefix, nexthop, 0)}))
}

// received lists the prefixes that we have announced to this speaker.
func (p *speaker) received() (out []string) {
	p.t.Helper()
	p.must(p.bgp.ListPath(p.t.Context(), &api.ListPathRequest{
		TableType: api.TableType_ADJ_IN, Name: "127.0.0.1", Family: apiFamily(IPv4),
	}, func(d *api.Destination) { out = append(out, d.GetPrefix()) }))
	return out
}

// neighbor is this speaker as our configuration has it.
func (p *speaker) neighbor(name string) Neighbor {
	return Neighbor{
		Name: name, Address: p.addr, LocalAddress: netip.MustParseAddr("127.0.0.1"),
		AS: theirAS, RemotePort: p.port, ConnectRetry: time.Second,
	}
}

func config(ns ...Neighbor) Config {
	return Config{AS: ourAS, RouterID: netip.MustParseAddr("10.30.0.6"), Neighbors: ns}
}

// world is our server and all that it has reported.
type world struct {
	*testing.T
	s        *Server
	routes   map[string]string // prefix -> "name>nexthop ..."
	eor      map[string]int
	sessions []Session
}

func start(t *testing.T, cfg Config, ps ...*speaker) *world {
	t.Helper()
	s, err := New(cfg, testLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	// Orders our setting of GoBGP's package variables before the speakers'
	// reading of them.
	for _, p := range ps {
		p.must(p.bgp.ListPeer(t.Context(), &api.ListPeerRequest{}, func(*api.Peer) {}))
	}
	return &world{T: t, s: s, routes: make(map[string]string), eor: make(map[string]int)}
}

func testLogger(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// until takes batches until ok holds.
func (w *world) until(what string, ok func() bool) {
	w.Helper()
	deadline := time.After(patience)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for !ok() {
		select {
		case <-w.s.Ready():
			w.take()
		case <-poll.C: // ok may look at more than batches
		case <-deadline:
			w.Fatalf("%s: not within %v\nroutes: %v\nend of rib: %v\npeers: %+v", what, patience, w.routes, w.eor, w.s.Peers())
		}
	}
}

func (w *world) take() {
	b := w.s.Take()
	for _, u := range b.Updates {
		set := ""
		for _, p := range u.Paths {
			set += p.Neighbor + ">" + p.Nexthop.String() + " "
		}
		if set == "" {
			delete(w.routes, u.Prefix.String())
		} else {
			w.routes[u.Prefix.String()] = set
		}
	}
	for _, e := range b.EndOfRIB {
		w.eor[e.Neighbor]++
	}
	w.sessions = append(w.sessions, b.Sessions...)
}

func (w *world) peer(name string) PeerStatus {
	w.Helper()
	for _, p := range w.s.Peers() {
		if p.Name == name {
			return p
		}
	}
	w.Fatalf("no peer %s", name)
	return PeerStatus{}
}

func (w *world) established(names ...string) {
	w.Helper()
	w.until("sessions "+fmt.Sprint(names), func() bool {
		for _, n := range names {
			if w.peer(n).State != StateEstablished {
				return false
			}
		}
		return true
	})
}

// connectTo adds a neighbour that this speaker connects to.
func (p *speaker) connectTo(addr netip.Addr, port uint16) {
	p.t.Helper()
	p.must(p.bgp.AddPeer(p.t.Context(), &api.AddPeerRequest{Peer: &api.Peer{
		Conf:      &api.PeerConf{NeighborAddress: addr.String(), PeerAsn: ourAS},
		Transport: &api.Transport{LocalAddress: p.addr.String(), RemotePort: uint32(port)},
		Timers:    &api.Timers{Config: &api.TimersConfig{ConnectRetry: 1}},
	}}))
}
