package ike

import (
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
)

// reload hands a the configuration that change makes of a fresh copy.
func reload(t *testing.T, h *host, change func(*Config)) {
	t.Helper()
	cfg, _ := testConfigs(t)
	change(cfg)
	h.event(Reconfigure{cfg})
}

func TestReconfigure(t *testing.T) {
	p := established(t)
	id := func() (ike, child uint32) {
		s := p.a.e.Snapshot(p.now)
		if len(s.IKESAs) != 1 || len(s.IKESAs[0].Children) != 1 {
			t.Fatalf("not one tunnel:\n%s", p.history())
		}
		return s.IKESAs[0].ID, s.IKESAs[0].Children[0].SA.ID
	}
	ike, child := id()
	reqid := p.a.e.ReqID("gw", "net")

	reload(t, p.a, func(c *Config) {
		c.Connections[0].Source, c.Connections[0].Lines = "test.conf:77", Lines{"proposals": "test.conf:78"}
		c.Connections[0].Children[0].Lines = Lines{"local_ts": "test.conf:79"}
	})
	p.settle()
	if i, c := id(); i != ike || c != child {
		t.Error("a section that only moved in the file was restarted")
	}
	if s := p.a.e.Snapshot(p.now).Connections[0].Config.Source; s != "test.conf:77" {
		t.Errorf("the connection is still said to be at %s", s)
	}

	trap := c0(p).StartAction.WithTrap(true)
	reload(t, p.a, func(c *Config) { c.Connections[0].Children[0].StartAction = trap })
	p.settle()
	if i, c := id(); i != ike || c != child || c0(p).StartAction != trap {
		t.Error("a trap beside the tunnel restarted it, or is not taken over")
	}

	reload(t, p.a, func(c *Config) { c.Connections[0].Children[0].RekeyTime = time.Minute })
	p.run(10 * time.Second)
	i, c := id()
	if i != ike || c == child {
		t.Error("a changed child must be replaced on the same IKE SA")
	}
	child = c

	reload(t, p.a, func(c *Config) {
		c.Connections[0].Children[0].RekeyTime = time.Minute
		c.Connections[0].DPDDelay = time.Minute
	})
	p.run(10 * time.Second)
	if i, c := id(); i == ike || c == child {
		t.Error("a changed connection must be replaced")
	}
	if p.a.up["net"] < 1 {
		t.Error("the child is not reported up after the change")
	}
	if got := p.a.e.ReqID("gw", "net"); got != reqid {
		t.Errorf("reqid went from %d to %d", reqid, got)
	}

	reload(t, p.a, func(c *Config) { c.Connections = nil })
	p.run(10 * time.Second)
	if !p.a.e.Idle() || len(p.a.kernel) != 0 {
		t.Error("a removed connection is still up")
	}
	if _, ok := p.a.e.NextTimeout(); ok {
		p.run(time.Minute)
		if at, ok := p.a.e.NextTimeout(); ok {
			t.Errorf("a timer is left at %v", at)
		}
	}
}

// c0 is the first child of a, as it is configured.
func c0(p *pair) *ChildConfig { return p.a.e.Snapshot(p.now).Connections[0].Config.Children[0] }

func TestReqIDs(t *testing.T) {
	mk := func(names ...string) *Config {
		cfg := &Config{Limits: DefaultLimits(), Timing: DefaultTiming()}
		for _, n := range names {
			c := DefaultConnection()
			c.Name = n
			c.Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519")
			one, two := DefaultChild(), DefaultChild()
			one.Name, two.Name = "one", "two"
			if n == "fixed" {
				one.ReqID = 2
			}
			c.Children = []*ChildConfig{&one, &two}
			cfg.Connections = append(cfg.Connections, &c)
		}
		return cfg
	}
	e := New(mk("a", "fixed", "b"), nil, 0)
	for _, c := range []struct {
		conn, child string
		want        uint32
	}{{"a", "one", 1}, {"a", "two", 3}, {"fixed", "one", 2}, {"fixed", "two", 4}, {"b", "one", 5}, {"nobody", "one", 0}} {
		if got := e.ReqID(c.conn, c.child); got != c.want {
			t.Errorf("%s/%s has reqid %d, want %d", c.conn, c.child, got, c.want)
		}
	}
	e.HandleEvent(time.Unix(1, 0), Reconfigure{mk("b", "c")})
	if got := e.ReqID("b", "one"); got != 5 {
		t.Errorf("b/one has reqid %d after the reload, it was 5", got)
	}
	if got := e.ReqID("c", "one"); got <= 6 {
		t.Errorf("c/one has reqid %d, which was another's", got)
	}
}

func TestShutdown(t *testing.T) {
	p := established(t)
	p.a.event(Shutdown{})
	p.settle()
	if !p.a.e.Idle() || len(p.a.kernel) != 0 || len(p.b.kernel) != 0 {
		t.Error("something is left after the shutdown")
	}
	p.run(time.Hour)
	if !p.a.e.Idle() {
		t.Error("a connection was started after the shutdown")
	}
}
