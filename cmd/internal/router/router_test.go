package router

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipsecd/ipsecd/bgp"
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/routing"
)

func sorted(s []string) []string { slices.Sort(s); return s }

const guard = "10.2.0.0/16 blackhole"

func TestGuardsBeforeBGP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newKernel())
		w.newSource = func(bgp.Config) error {
			if got := routes(w.kernel); !slices.Equal(got, []string{guard}) {
				t.Errorf("when BGP starts: routes %q, want the guard", got)
			}
			return nil
		}
		w.run(config())
		if len(w.bgp.configs) != 1 {
			t.Fatal("BGP was not started")
		}
		for _, n := range w.bgp.configs[0].Neighbors {
			if protected := len(n.Refuse) > 0; protected != (n.Name == "plain") {
				t.Errorf("neighbour %s refuses %v", n.Name, n.Refuse)
			}
		}
		st := w.lastStatus()
		if len(st.Guards) != 1 || !st.Guards[0].Installed {
			t.Errorf("guards in the status: %+v", st.Guards)
		}
		w.leave()
		w.kernelIs("after leaving", guard)
	})
}

func TestHoldUntilEndOfRIB(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newKernel())
		w.run(config())
		w.push(learn("10.2.0.0/16", "t1>169.254.21.2"), endOfRIB("t1"))
		w.after(time.Second)
		w.kernelIs("while three have not sent all", guard)
		w.push(learn("10.2.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4", "t3>169.254.21.6"), endOfRIB("t2", "t3", "plain"))
		w.after(tick)
		w.kernelIs("after every End-of-RIB", guard, "10.2.0.0/16 t1 t2 t3")
		w.leave()
	})
}

func TestHoldEndsAtDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newKernel())
		w.run(config())
		w.push(learn("10.2.0.0/16", "t1>169.254.21.2"))
		w.after(DefaultHold - tick)
		w.kernelIs("before the deadline", guard)
		w.after(2 * tick)
		w.kernelIs("after the deadline", guard, "10.2.0.0/16 t1")
		w.leave()
	})
}

func TestHoldDoesNotWaitForTunnelsThatAreDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernel()
		k.SetLink(routing.Link{Index: 3, Name: "t3"})
		w := newWorld(t, k)
		w.run(config())
		w.push(learn("10.2.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4"), endOfRIB("t1", "t2", "plain"))
		w.after(tick)
		w.kernelIs("with t3 down", guard, "10.2.0.0/16 t1 t2")
		w.leave()
	})
}

// up starts a router whose neighbours have all sent their End-of-RIB.
func up(t *testing.T, bs ...bgp.Batch) *world {
	w := newWorld(t, newKernel())
	w.run(config())
	w.push(bs...)
	w.push(endOfRIB(allNames...))
	w.after(tick)
	return w
}

func TestFailoverFollowsTheLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, learn("10.2.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4"), learn("10.2.9.0/24", "t1>169.254.21.2"))
		w.kernelIs("at first", guard, "10.2.0.0/16 t1 t2", "10.2.9.0/24 t1")
		w.lastStatus() // counts the routes of each tunnel

		w.kernel.SetLink(routing.Link{Index: 1, Name: "t1"})
		w.kernelIs("t1 down", guard, "10.2.0.0/16 t2")
		st := w.lastStatus()
		f := st.LastFailover
		if f == nil || f.Tunnel != "t1" || f.Routes != 2 || f.Duration < 0 || st.Counters.Failovers != 1 {
			t.Errorf("failover %+v, counters %+v", f, st.Counters)
		}
		if st.Tunnels[0].Up || !st.Tunnels[1].Up || st.Tunnels[1].Routes != 1 {
			t.Errorf("tunnels: %+v, %+v", st.Tunnels[0], st.Tunnels[1])
		}

		w.kernel.SetLink(routing.Link{Index: 2, Name: "t2"})
		w.kernelIs("both down: the guard has it", guard)

		w.kernel.SetLink(routing.Link{Index: 1, Name: "t1", Up: true})
		w.kernelIs("t1 back", guard, "10.2.0.0/16 t1", "10.2.9.0/24 t1")
		w.kernel.SetLink(routing.Link{Index: 2, Name: "t2", Up: true})
		w.kernelIs("both back", guard, "10.2.0.0/16 t1 t2", "10.2.9.0/24 t1")
		w.leave()
	})
}

// TestFailoverWithoutAReader: a keying process that reads nothing must not
// delay anything.
func TestFailoverWithoutAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, learn("10.2.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4"))
		w.gate = make(chan struct{}) // the reader stops in the middle of a message
		for range logQueue {
			w.kernel.SetLink(routing.Link{Index: 1, Name: "t1"})
			w.after(tick)
			w.kernel.SetLink(routing.Link{Index: 1, Name: "t1", Up: true})
			w.after(tick)
		}
		w.kernel.SetLink(routing.Link{Index: 1, Name: "t1"})
		w.kernelIs("t1 down, nobody reads", guard, "10.2.0.0/16 t2")
		close(w.gate)
		w.after(tick)
		w.mu.Lock()
		if !slices.ContainsFunc(w.logs, func(s string) bool { return strings.Contains(s, "were lost") }) {
			t.Error("lost log records were not reported")
		}
		w.mu.Unlock()
		w.leave()
	})
}

func TestProtectedPrefixesStayOnTunnels(t *testing.T) {
	for name, tt := range map[string]struct {
		learned []bgp.Batch
		want    []string
		reason  string // of the first route in the status
	}{
		"by the plain neighbour alone": {
			[]bgp.Batch{learn("10.2.0.0/16", "plain>192.0.2.1")}, nil, "protected"},
		"inside, by the plain neighbour": {
			[]bgp.Batch{learn("10.2.3.0/24", "plain>192.0.2.1")}, nil, "protected"},
		"covering, by the plain neighbour": {
			[]bgp.Batch{learn("10.0.0.0/8", "plain>192.0.2.1")}, nil, "protected"},
		"by both": {
			[]bgp.Batch{learn("10.2.0.0/16", "plain>192.0.2.1", "t1>169.254.21.2")}, []string{"10.2.0.0/16 t1"}, "protected"},
		"another prefix in the clear": {
			[]bgp.Batch{learn("10.9.0.0/16", "plain>192.0.2.1")}, []string{"10.9.0.0/16 eth0"}, ""},
		"a default route in the clear": {
			[]bgp.Batch{learn("0.0.0.0/0", "plain>192.0.2.1")}, []string{"0.0.0.0/0 eth0"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := up(t, tt.learned...)
				w.kernelIs("after learning", sorted(append(slices.Clone(tt.want), guard))...)
				st := w.lastStatus()
				if len(st.Routes) != 1 || !strings.Contains(st.Routes[0].Reason, tt.reason) || (tt.reason == "") != (st.Routes[0].Reason == "") {
					t.Errorf("routes in the status: %+v, want the reason %q", st.Routes, tt.reason)
				}
				w.leave()
			})
		})
	}
}

// TestProtectionWithoutTunnels: no tunnel configured does not mean that
// everything is one.
func TestProtectionWithoutTunnels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		cfg.Routing.Tunnels = nil
		w := newWorld(t, newKernel())
		w.run(cfg)
		w.push(learn("10.2.0.0/16", "t1>169.254.21.2", "plain>192.0.2.1"), endOfRIB(allNames...))
		w.after(tick)
		w.kernelIs("no tunnels", guard)
		w.leave()
	})
}

func TestMaxPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		cfg.Routing.MaxPaths = 2
		w := newWorld(t, newKernel())
		w.run(cfg)
		w.push(learn("10.2.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4", "t3>169.254.21.6"), endOfRIB(allNames...))
		w.after(tick)
		w.kernelIs("two of three", guard, "10.2.0.0/16 t1 t2")
		if st := w.lastStatus(); !strings.Contains(st.Routes[0].Reason, "max_paths") {
			t.Errorf("the status hides the path left out: %+v", st.Routes)
		}
		w.leave()
	})
}

func TestGatewayOfPlainNeighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newKernel())
		var reachable atomic.Bool
		w.resolve = func(a netip.Addr) (routing.Nexthop, error) {
			if !reachable.Load() {
				return routing.Nexthop{}, errTest
			}
			return routing.Nexthop{Interface: "eth0", Gateway: a}, nil
		}
		w.run(config())
		w.push(learn("10.9.0.0/16", "plain>192.0.2.1"), endOfRIB(allNames...))
		w.after(tick)
		w.kernelIs("no way to the gateway", guard)
		if st := w.lastStatus(); !strings.Contains(st.Routes[0].Reason, errTest.Error()) {
			t.Errorf("routes in the status: %+v", st.Routes)
		}
		reachable.Store(true)
		w.after(retryInterval)
		w.kernelIs("the gateway is reachable", guard, "10.9.0.0/16 eth0")
		w.leave()
	})
}

func TestKernelFailureIsReportedAndRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t)
		var failing atomic.Bool
		failing.Store(true)
		w.kernel.Fail = func(op routing.Op) error {
			if failing.Load() && op.Verb == routing.AddRoute {
				return errTest
			}
			return nil
		}
		w.push(learn("10.9.0.0/16", "t1>169.254.21.2"))
		st := w.lastStatus()
		if len(st.Problems) != 1 || !strings.Contains(st.Problems[0], errTest.Error()) || st.Counters.ApplyErrors == 0 {
			t.Errorf("problems %q, counters %+v", st.Problems, st.Counters)
		}
		failing.Store(false)
		w.after(retryInterval)
		w.kernelIs("after the retry", guard, "10.9.0.0/16 t1")
		if st := w.lastStatus(); len(st.Problems) != 0 {
			t.Errorf("problems left: %q", st.Problems)
		}
		w.leave()
	})
}

func TestRunEndsWithTheKernelsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t)
		w.kernel.Close()
		if err := <-w.done; err == nil || errors.Is(err, ErrNeedsRestart) {
			t.Errorf("Run returned %v", err)
		}
		w.conn.Close()
		synctest.Wait()
	})
}

func TestStatusNamesWhatMatters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, learn("10.2.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4"), learn("10.3.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4"))
		st := w.lastStatus()
		if len(st.Peers) != 4 || st.Peers[0].Interface != "t1" || st.Peers[3].Interface != "eth0" {
			t.Errorf("peers %+v", st.Peers)
		}
		if len(st.Groups) != 1 || st.Groups[0].Routes != 2 || len(st.Groups[0].Nexthops) != 2 || st.Groups[0].Nexthops[1].Neighbor != "t2" {
			t.Errorf("groups %+v", st.Groups)
		}
		if c := st.Counters; c.RoutesInstalled != 2 || c.RouteNexthops != 4 || c.PrefixUpdates != 2 {
			t.Errorf("counters %+v", c)
		}
		if st.Phase != routerproto.PhaseRun {
			t.Errorf("phase %s", st.Phase)
		}
		w.leave()
	})
}
