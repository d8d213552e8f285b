package router

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/bgp"
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/routing"
	"github.com/ipsecd/ipsecd/routing/routingtest"
)

// fakeBGP is a Source that the test plays.
type fakeBGP struct {
	ready chan struct{}

	mu      sync.Mutex
	batch   bgp.Batch
	configs []bgp.Config // New's, then Reconfigure's
	refuse  error        // of the next Reconfigure
	stopped bool
}

func (f *fakeBGP) Ready() <-chan struct{} { return f.ready }

func (f *fakeBGP) Take() bgp.Batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.batch
	f.batch = bgp.Batch{}
	return b
}

func (f *fakeBGP) Peers() []bgp.PeerStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []bgp.PeerStatus
	for _, n := range f.configs[len(f.configs)-1].Neighbors {
		out = append(out, bgp.PeerStatus{Name: n.Name, Address: n.Address, AS: n.AS, State: bgp.StateEstablished})
	}
	return out
}

func (f *fakeBGP) Reconfigure(_ context.Context, c bgp.Config) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		return f.refuse
	}
	f.configs = append(f.configs, c)
	return nil
}

func (f *fakeBGP) Stop() { f.stopped = true }

func (f *fakeBGP) push(b bgp.Batch) {
	f.mu.Lock()
	f.batch.Updates = append(f.batch.Updates, b.Updates...)
	f.batch.EndOfRIB = append(f.batch.EndOfRIB, b.EndOfRIB...)
	f.batch.Sessions = append(f.batch.Sessions, b.Sessions...)
	f.mu.Unlock()
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// kernel makes the fake one usable by the test and the router at a time.
type kernel struct {
	*routingtest.Kernel
	mu sync.Mutex
}

func (k *kernel) Links() ([]routing.Link, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.Kernel.Links()
}

func (k *kernel) Nexthops() ([]routing.NexthopObject, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.Kernel.Nexthops()
}

func (k *kernel) Routes() ([]routing.RouteEntry, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.Kernel.Routes()
}

func (k *kernel) Apply(ops []routing.Op) []error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.Kernel.Apply(ops)
}

func (k *kernel) SetLink(l routing.Link) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Kernel.SetLink(l)
}

// world is one router process in a bubble of synctest, with its kernel, its
// BGP, and the keying process's end of the socket.
type world struct {
	*testing.T
	kernel *kernel
	bgp    *fakeBGP
	conn   *routerproto.Conn
	done   chan error // Run's result

	mu     sync.Mutex
	status *routerproto.Status
	logs   []string
	gate   chan struct{} // if set, the reader waits for it

	newSource func(bgp.Config) error // may refuse, or look at the kernel
	resolve   func(a netip.Addr) (hop routing.Nexthop, err error)
}

// newKernel has tunnels t1 to t3 and a plain link.
func newKernel() *kernel {
	k := &kernel{Kernel: routingtest.New()}
	for i, name := range []string{"t1", "t2", "t3", "eth0"} {
		k.SetLink(routing.Link{Index: i + 1, Name: name, Up: true})
	}
	k.Pending()
	return k
}

func newWorld(t *testing.T, k *kernel) *world {
	w := &world{T: t, kernel: k, bgp: &fakeBGP{ready: make(chan struct{}, 1)}, done: make(chan error, 1)}
	w.resolve = func(a netip.Addr) (routing.Nexthop, error) {
		return routing.Nexthop{Interface: "eth0", Gateway: a}, nil
	}
	return w
}

// run starts the router with cfg.
func (w *world) run(cfg *routerproto.Config) {
	ours, theirs := net.Pipe()
	w.conn = routerproto.NewConn(ours)
	opt := Options{
		Kernel: w.kernel,
		NewSource: func(c bgp.Config, _ *slog.Logger) (Source, error) {
			if w.newSource != nil {
				if err := w.newSource(c); err != nil {
					return nil, err
				}
			}
			w.bgp.configs = append(w.bgp.configs, c)
			return w.bgp, nil
		},
		Resolve: func(a netip.Addr) (routing.Nexthop, error) { return w.resolve(a) },
		Sysctls: w.TempDir(),
	}
	go func() { w.done <- Run(context.Background(), routerproto.NewConn(theirs), opt) }()
	go w.receive()
	w.send(cfg)
}

func (w *world) receive() {
	for {
		m, err := w.conn.Receive()
		if err != nil {
			return
		}
		if w.gate != nil {
			<-w.gate
		}
		w.mu.Lock()
		if m.Status != nil {
			w.status = m.Status
		}
		if m.Log != nil {
			w.logs = append(w.logs, m.Log.Message)
		}
		w.mu.Unlock()
	}
}

func (w *world) send(cfg *routerproto.Config) {
	w.Helper()
	if err := w.conn.Send(routerproto.Message{Config: cfg}); err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
}

// leave closes the socket as a dying keying process does, and returns what Run
// returned.
func (w *world) leave() error {
	w.conn.Close()
	err := <-w.done
	synctest.Wait()
	return err
}

// after lets virtual time pass.
func (w *world) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// lastStatus is the status once everything has settled.
func (w *world) lastStatus() *routerproto.Status {
	w.Helper()
	w.after(routerproto.StatusInterval + tick)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == nil {
		w.Fatal("no status was sent")
	}
	return w.status
}

// learn plays an update: each path is "neighbour>nexthop".
func learn(prefix string, paths ...string) bgp.Batch {
	u := bgp.Update{Prefix: netip.MustParsePrefix(prefix)}
	for _, p := range paths {
		name, hop, _ := strings.Cut(p, ">")
		u.Paths = append(u.Paths, bgp.Path{Neighbor: name, Nexthop: netip.MustParseAddr(hop)})
	}
	return bgp.Batch{Updates: []bgp.Update{u}}
}

func endOfRIB(names ...string) (b bgp.Batch) {
	for _, n := range names {
		b.EndOfRIB = append(b.EndOfRIB, bgp.EndOfRIB{Neighbor: n, Family: bgp.IPv4})
	}
	return b
}

func (w *world) push(bs ...bgp.Batch) {
	for _, b := range bs {
		w.bgp.push(b)
	}
	synctest.Wait()
}

// kernelIs compares the kernel's routes, with the interfaces that each one uses
// instead of object numbers.
func (w *world) kernelIs(when string, want ...string) {
	w.Helper()
	synctest.Wait()
	if d := cmp.Diff(want, routes(w.kernel)); d != "" {
		w.Errorf("%s: routes (-want +got):\n%s", when, d)
	}
}

// routes are lines such as "10.2.0.0/16 t1 t2" or "10.2.0.0/16 blackhole".
func routes(k *kernel) (out []string) {
	objects := make(map[uint32]routing.NexthopObject)
	nexthops, _ := k.Nexthops()
	for _, o := range nexthops {
		objects[o.ID] = o
	}
	names := make(map[int]string)
	links, _ := k.Links()
	for _, l := range links {
		names[l.Index] = l.Name
	}
	entries, _ := k.Routes()
	for _, e := range entries {
		line := e.Prefix.String()
		if e.Kind == routing.Blackhole {
			line += " blackhole"
		}
		if o, ok := objects[e.NexthopID]; ok {
			if o.Group == nil {
				line += " " + names[o.Index]
			}
			for _, m := range o.Group {
				line += " " + names[objects[m.ID].Index]
			}
		}
		out = append(out, line)
	}
	return sorted(out)
}

// config has tunnels t1 to t3 with a neighbour each, a neighbour on a plain
// link, and one protected prefix.
func config() *routerproto.Config {
	c := &routerproto.Config{
		BGP: routerproto.BGP{AS: 65515, RouterID: netip.MustParseAddr("10.30.0.6")},
		Routing: routerproto.Routing{
			Protect: []netip.Prefix{netip.MustParsePrefix("10.2.0.0/16")},
		},
	}
	for i := 1; i <= 3; i++ {
		name := fmt.Sprintf("t%d", i)
		c.Routing.Tunnels = append(c.Routing.Tunnels, routerproto.Tunnel{Name: name, Interface: name})
		c.BGP.Neighbors = append(c.BGP.Neighbors, routerproto.Neighbor{
			Name: name, Address: netip.AddrFrom4([4]byte{169, 254, 21, byte(2 * i)}), AS: 31898, Interface: name,
		})
	}
	c.BGP.Neighbors = append(c.BGP.Neighbors, routerproto.Neighbor{
		Name: "plain", Address: netip.MustParseAddr("192.0.2.1"), AS: 31898,
	})
	return c
}

var allNames = []string{"t1", "t2", "t3", "plain"}

var errTest = errors.New("a failure that the test made")
