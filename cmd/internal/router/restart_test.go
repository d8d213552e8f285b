package router

import (
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipsecd/ipsecd/bgp"
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/routing"
)

// earlier is a kernel with the routes of a router that is gone.
func earlier(t *testing.T) *kernel {
	w := up(t, learn("10.2.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4"), learn("10.3.0.0/16", "t1>169.254.21.2"))
	if err := w.leave(); err != nil {
		t.Fatalf("the first router: %v", err)
	}
	if w.bgp.stopped {
		t.Error("the first router closed its sessions: neighbours drop our routes")
	}
	w.kernelIs("of the first router", guard, "10.2.0.0/16 t1 t2", "10.3.0.0/16 t1")
	// Run has closed the kernel's events; this is the same kernel, opened anew.
	k := newKernel()
	objects, _ := w.kernel.Nexthops()
	for _, groups := range []bool{false, true} {
		for _, o := range objects {
			if (o.Group != nil) == groups {
				k.Apply([]routing.Op{{Verb: routing.AddNexthop, Nexthop: o}})
			}
		}
	}
	entries, _ := w.kernel.Routes()
	for _, e := range entries {
		k.Apply([]routing.Op{{Verb: routing.AddRoute, Route: e}})
	}
	k.Log = nil
	return k
}

func TestRestartKeepsThenSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := earlier(t)
		w := newWorld(t, k)
		w.run(config())
		if !w.bgp.configs[0].Restarting {
			t.Error("BGP does not tell its neighbours that it restarts")
		}
		// One neighbour is back: its routes alone would be a loss.
		w.push(learn("10.2.0.0/16", "t1>169.254.21.2"), endOfRIB("t1"))
		w.after(time.Second)
		w.kernelIs("while the others are on their way", guard, "10.2.0.0/16 t1 t2", "10.3.0.0/16 t1")

		w.push(learn("10.2.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4"), endOfRIB("t2", "t3", "plain"))
		w.after(2 * tick)
		w.kernelIs("10.3.0.0/16 is not announced any more", guard, "10.2.0.0/16 t1 t2")
		for _, op := range k.Log {
			if op.Route.Prefix == netip.MustParsePrefix("10.2.0.0/16") {
				t.Errorf("a route that was right was written: %v", op)
			}
		}
		w.leave()
	})
}

func TestRestartSweepsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, earlier(t))
		w.run(config())
		w.push(learn("10.2.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4"), endOfRIB("t1", "t2"))
		w.after(DefaultStaleTime - tick)
		w.kernelIs("before the deadline", guard, "10.2.0.0/16 t1 t2", "10.3.0.0/16 t1")
		w.after(3 * tick)
		w.kernelIs("after the deadline", guard, "10.2.0.0/16 t1 t2")
		w.leave()
	})
}

func TestRestartAfterFreshStartIsNotAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newKernel())
		w.run(config())
		if w.bgp.configs[0].Restarting {
			t.Error("BGP tells its neighbours that it restarts, with an empty kernel")
		}
		w.leave()
	})
}

func TestKeyingProcessGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, learn("10.2.0.0/16", "t1>169.254.21.2"))
		if err := w.leave(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		if w.bgp.stopped {
			t.Error("sessions were closed with a Cease")
		}
		w.kernelIs("left in place", guard, "10.2.0.0/16 t1")
	})
}

func TestReconfigure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := func() *routerproto.Config {
			c := config()
			c.Routing.Metric, c.Routing.GuardMetric = 30, 5000
			return c
		}
		w := newWorld(t, newKernel())
		w.run(config())
		w.push(learn("10.2.0.0/16", "t1>169.254.21.2", "t2>169.254.21.4"), learn("10.9.0.0/16", "plain>192.0.2.1"), endOfRIB(allNames...))
		w.after(tick)
		cfg := config()
		cfg.Routing.Protect = append(cfg.Routing.Protect, netip.MustParsePrefix("10.9.0.0/16"))
		w.send(cfg)
		w.after(tick)
		w.kernelIs("10.9.0.0/16 protected now", guard, "10.2.0.0/16 t1 t2", "10.9.0.0/16 blackhole")
		if n := len(w.bgp.configs); n != 2 || w.bgp.stopped {
			t.Errorf("%d configurations went to BGP, stopped: %v", n, w.bgp.stopped)
		}

		// t2 is not a tunnel any more.
		cfg = config()
		cfg.Routing.Tunnels = cfg.Routing.Tunnels[:1]
		w.send(cfg)
		w.after(tick)
		w.kernelIs("one tunnel, one protected prefix", guard, "10.2.0.0/16 t1", "10.9.0.0/16 eth0")

		// The daemon sends an empty configuration, without the metrics, when
		// there is nothing to do.
		w.send(&routerproto.Config{})
		w.after(tick)
		w.kernelIs("nothing to do")
		if !w.bgp.stopped {
			t.Error("BGP still runs without neighbours")
		}
		w.leave()
	})
}

func TestReconfigureThatNeedsARestart(t *testing.T) {
	for name, change := range map[string]func(*world, *routerproto.Config){
		"metric": func(_ *world, c *routerproto.Config) { c.Routing.Metric = 30 },
		"as":     func(w *world, _ *routerproto.Config) { w.bgp.refuse = bgp.ErrNeedsRestart },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := up(t, learn("10.2.0.0/16", "t1>169.254.21.2"))
				cfg := config()
				change(w, cfg)
				w.send(cfg)
				if err := <-w.done; !errors.Is(err, ErrNeedsRestart) {
					t.Errorf("Run returned %v", err)
				}
				w.kernelIs("left for the next process", guard, "10.2.0.0/16 t1")
				w.conn.Close()
				synctest.Wait()
			})
		})
	}
}

func TestBGPThatDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newKernel())
		w.newSource = func(bgp.Config) error { return errTest }
		w.run(config())
		w.kernelIs("the guard holds", guard)
		if st := w.lastStatus(); len(st.Problems) != 1 || st.Problems[0] != errTest.Error() {
			t.Errorf("problems %q", st.Problems)
		}
		w.newSource = nil
		w.send(config())
		w.push(learn("10.2.0.0/16", "t1>169.254.21.2"), endOfRIB(allNames...))
		w.after(DefaultHold)
		w.kernelIs("a better configuration", guard, "10.2.0.0/16 t1")
		if st := w.lastStatus(); len(st.Problems) != 0 {
			t.Errorf("problems left: %q", st.Problems)
		}
		w.leave()
	})
}
