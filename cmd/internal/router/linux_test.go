package router

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/ipsecd/ipsecd/bgp"
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
)

// The test binary also plays the processes of TestProcesses.
const (
	roleVar = "ROUTER_TEST_ROLE"
	farVar  = "ROUTER_TEST_FAR_END" // address, neighbour's address, networks
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "router":
		conn, err := routerproto.Inherited()
		if err == nil {
			err = Run(context.Background(), conn, Options{})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "idle":
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case "far end":
		farEnd(strings.Fields(os.Getenv(farVar)))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// farEnd is a BGP speaker at the other end of a link, until its standard input ends.
func farEnd(args []string) {
	io.ReadFull(os.Stdin, make([]byte, 1)) // the link is ready
	address, ours := netip.MustParseAddr(args[0]), netip.MustParseAddr(args[1])
	cfg := bgp.Config{
		AS: 31898, RouterID: address, ListenPort: bgp.Port, ListenAddresses: []netip.Addr{address},
		Neighbors: []bgp.Neighbor{{Name: "us", Address: ours, LocalAddress: address, AS: 65515, Passive: true}},
	}
	for _, n := range args[2:] {
		cfg.Networks = append(cfg.Networks, netip.MustParsePrefix(n))
	}
	s, err := bgp.New(cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	io.Copy(io.Discard, os.Stdin)
	s.Stop()
}

// host is a process in a network namespace of its own.
type host struct {
	*exec.Cmd
	net   *netlink.Handle
	ready func()
}

func newHost(t *testing.T, role, far string) *host {
	t.Helper()
	h := &host{Cmd: exec.Command("/proc/self/exe")}
	h.Env = append(os.Environ(), roleVar+"="+role, farVar+"="+far)
	h.Stderr = t.Output()
	h.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	stdin, err := h.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.ready = func() { stdin.Write([]byte{0}) }
	if err := h.Start(); err != nil {
		t.Fatalf("no network namespace (root is needed): %v", err)
	}
	t.Cleanup(func() { h.Process.Kill(); h.Wait() })
	ns, err := netns.GetFromPid(h.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	if h.net, err = netlink.NewHandleAt(ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.net.Close)
	h.up(t, "lo")
	return h
}

func (h *host) up(t *testing.T, name string) {
	t.Helper()
	l, err := h.net.LinkByName(name)
	if err == nil {
		err = h.net.LinkSetUp(l)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (h *host) down(t *testing.T, name string) {
	t.Helper()
	l, err := h.net.LinkByName(name)
	if err == nil {
		err = h.net.LinkSetDown(l)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dev is the interface by which packets to dst leave, or the error.
func (h *host) dev(dst string) string {
	routes, err := h.net.RouteGet(net.ParseIP(dst))
	if err != nil {
		return err.Error()
	}
	l, err := h.net.LinkByIndex(routes[0].LinkIndex)
	if err != nil {
		return err.Error()
	}
	return l.Attrs().Name
}

// link connects a and b; each has an interface of that name.
func link(t *testing.T, name string, a *host, addrA string, b *host, addrB string) {
	t.Helper()
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name, PeerNamespace: netlink.NsPid(b.Process.Pid),
	}
	if err := a.net.LinkAdd(veth); err != nil {
		t.Fatalf("no veth pair: %v", err)
	}
	for h, addr := range map[*host]string{a: addrA, b: addrB} {
		l, err := h.net.LinkByName(name)
		if err != nil {
			t.Fatal(err)
		}
		address, err := netlink.ParseAddr(addr)
		if err == nil {
			err = h.net.AddrAdd(l, address)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.up(t, name)
	}
}

// processes is what a keying process sees of its router processes.
type processes struct {
	*testing.T
	status atomic.Pointer[routerproto.Status]
}

// spawn starts a router process in the namespace of h.
func (p *processes) spawn(h *host, cfg *routerproto.Config) *exec.Cmd {
	p.Helper()
	conn, file, err := routerproto.Socketpair()
	if err != nil {
		p.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVar+"=router")
	cmd.Stderr, cmd.ExtraFiles = p.Output(), []*os.File{file}
	if err := h.enter(cmd.Start); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { conn.Close(); cmd.Process.Kill(); cmd.Wait() })
	p.status.Store(nil)
	go p.receive(conn)
	if err := conn.Send(routerproto.Message{Config: cfg}); err != nil {
		p.Fatal(err)
	}
	return cmd
}

// enter runs f in h's namespace.
func (h *host) enter(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := netns.Get()
	if err != nil {
		return err
	}
	defer before.Close()
	ns, err := netns.GetFromPid(h.Process.Pid)
	if err != nil {
		return err
	}
	defer ns.Close()
	if err := netns.Set(ns); err != nil {
		return err
	}
	defer netns.Set(before)
	return f()
}

func (p *processes) receive(conn *routerproto.Conn) {
	for {
		m, err := conn.Receive()
		if err != nil {
			return
		}
		if m.Status != nil {
			p.status.Store(m.Status)
		}
		if m.Log != nil {
			p.Log(m.Log.Level, m.Log.Message, m.Log.Attrs)
		}
	}
}

func (p *processes) until(what string, ok func(*routerproto.Status) bool) {
	p.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		s := p.status.Load()
		if s != nil && ok(s) {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("%s: not in time; the last status: %+v", what, s)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func routeOf(s *routerproto.Status, prefix string) (up []string) {
	for _, r := range s.Routes {
		if r.Prefix.String() == prefix && r.Installed {
			for _, n := range r.Nexthops {
				if n.Up {
					up = append(up, n.Interface)
				}
			}
		}
	}
	return up
}

// TestProcesses runs a router process against three BGP speakers in a real
// kernel: two behind "tunnels" that share our address with different lengths, as
// clouds hand them out, and one on a plain link. It needs root.
func TestProcesses(t *testing.T) {
	us := newHost(t, "idle", "")
	far1 := newHost(t, "far end", "169.254.21.4 169.254.21.5 10.2.0.0/16")
	far2 := newHost(t, "far end", "169.254.21.6 169.254.21.5 10.2.0.0/16")
	plain := newHost(t, "far end", "192.0.2.1 192.0.2.0 10.9.0.0/16 10.2.0.0/16")
	link(t, "t1", us, "169.254.21.5/31", far1, "169.254.21.4/31")
	link(t, "t2", us, "169.254.21.5/30", far2, "169.254.21.6/30")
	link(t, "eth9", us, "192.0.2.0/31", plain, "192.0.2.1/31")
	for _, h := range []*host{far1, far2, plain} {
		h.ready()
	}
	ours := netip.MustParseAddr("169.254.21.5")
	cfg := &routerproto.Config{
		BGP: routerproto.BGP{
			AS: 65515, RouterID: netip.MustParseAddr("10.30.0.6"),
			Neighbors: []routerproto.Neighbor{
				{Name: "t1", Address: netip.MustParseAddr("169.254.21.4"), LocalAddress: ours, AS: 31898, Interface: "t1"},
				{Name: "t2", Address: netip.MustParseAddr("169.254.21.6"), LocalAddress: ours, AS: 31898, Interface: "t2"},
				{Name: "plain", Address: netip.MustParseAddr("192.0.2.1"), LocalAddress: netip.MustParseAddr("192.0.2.0"), AS: 31898},
			},
		},
		Routing: routerproto.Routing{
			Protect: []netip.Prefix{netip.MustParsePrefix("10.2.0.0/16")},
			Tunnels: []routerproto.Tunnel{{Name: "one", Interface: "t1"}, {Name: "two", Interface: "t2"}},
		},
	}

	p := &processes{T: t}
	first := p.spawn(us, cfg)
	p.until("both tunnels in use", func(s *routerproto.Status) bool {
		return s.Phase == routerproto.PhaseRun && slices.Equal(routeOf(s, "10.2.0.0/16"), []string{"t1", "t2"}) &&
			slices.Equal(routeOf(s, "10.9.0.0/16"), []string{"eth9"})
	})
	p.until("the refused prefix is reported", func(s *routerproto.Status) bool {
		return len(s.Peers) == 3 && s.Peers[2].RefusedCount == 1 && s.Peers[2].Interface == "eth9"
	})

	us.down(t, "t1")
	p.until("failover", func(s *routerproto.Status) bool {
		return s.LastFailover != nil && slices.Equal(routeOf(s, "10.2.0.0/16"), []string{"t2"})
	})
	t.Logf("failover took %v", p.status.Load().LastFailover.Duration)
	us.down(t, "t2")
	p.until("no tunnel left", func(s *routerproto.Status) bool { return len(routeOf(s, "10.2.0.0/16")) == 0 })
	if got := us.dev("10.2.3.4"); got != syscall.EINVAL.Error() { // what a blackhole answers
		t.Errorf("without tunnels, 10.2.3.4 goes to %s", got)
	}
	us.up(t, "t1")
	us.up(t, "t2")
	p.until("both again", func(s *routerproto.Status) bool {
		return slices.Equal(routeOf(s, "10.2.0.0/16"), []string{"t1", "t2"})
	})

	first.Process.Kill()
	first.Wait()
	check := func(when string) {
		t.Helper()
		if got := us.dev("10.2.3.4"); got != "t1" && got != "t2" {
			t.Errorf("%s: 10.2.3.4 goes to %s", when, got)
		}
	}
	check("after the router process was killed")
	killed := time.Now()
	p.spawn(us, cfg)
	p.until("reconciled", func(s *routerproto.Status) bool {
		check("while the next one starts")
		return s.Phase == routerproto.PhaseRun && slices.Equal(routeOf(s, "10.2.0.0/16"), []string{"t1", "t2"})
	})
	t.Logf("reconciled %v after the kill", time.Since(killed).Round(time.Millisecond))
	if c := p.status.Load().Counters; c.RouteWrites+c.RouteDeletes+c.GroupUpdates != 0 {
		t.Errorf("what was right was written again: %+v", c)
	}
}
