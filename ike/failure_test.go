package ike

import (
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// TestFailures: each way to fail is told once on the side that can see it, naming what to change.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(a, b *Config)
		a, b   []string // words of the one failure there; none: no failure there
		ikeUp  bool
	}{
		{
			name:   "wrong pre-shared key",
			change: func(a, b *Config) { a.Secrets[0].Key = suite.NewKey([]byte("another")) },
			a:      []string{"AUTHENTICATION_FAILED", "pre-shared key (secrets.ike at test.conf:40)", "test.conf:1", "next try in"},
			b:      []string{"MAC mismatched", "compare secrets.ike at test.conf:40", "connections.gw", "test.conf:1"},
		},
		{
			name:   "no pre-shared key",
			change: func(a, b *Config) { a.Secrets = nil },
			a:      []string{"no pre-shared key for 192.0.2.1 - 192.0.2.2", "secrets", "connections.gw.local, test.conf:2"},
		},
		{
			name:   "no pre-shared key at the responder",
			change: func(a, b *Config) { b.Secrets = nil },
			a:      []string{"AUTHENTICATION_FAILED", "pre-shared key (secrets.ike at test.conf:40)"},
			b:      []string{"no pre-shared key for '192.0.2.2' - '192.0.2.1'", "add one to secrets"},
		},
		{
			name:   "IKE proposals",
			change: func(a, b *Config) { b.Connections[0].Proposals = proposals(t, suite.IKE, "aes256-sha256-modp2048") },
			a:      []string{"no proposal chosen", "aes128gcm16-prfsha256-x25519", "connections.gw.proposals, test.conf:7"},
			b: []string{"no common encryption algorithm: peer offers aes128gcm16; we allow aes256", "no common DH group: peer offers x25519; we allow modp2048",
				"connections.gw.proposals, test.conf:7"},
		},
		{
			name: "DH group",
			change: func(a, b *Config) {
				b.Connections[0].Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-ecp256")
			},
			a: []string{"no proposal chosen", "connections.gw.proposals, test.conf:7"},
			b: []string{"192.0.2.1: no common DH group: peer offers x25519; we allow ecp256 (connections.gw.proposals, test.conf:7)"},
		},
		{
			name:   "ESP proposals",
			change: func(a, b *Config) { b.Connections[0].Children[0].Proposals = proposals(t, suite.ESP, "aes256-sha256") },
			a:      []string{"no proposal chosen", "children.net.esp_proposals, test.conf:11"},
			b:      []string{"no common encryption algorithm: peer offers aes128gcm16; we allow aes256", "children.net.esp_proposals, test.conf:11"},
			ikeUp:  true,
		},
		{
			name: "selectors",
			change: func(a, b *Config) {
				b.Connections[0].Children[0].LocalTS = sels(t, "10.9.0.0/16")
				a.Connections[0].Children[0].RemoteTS = sels(t, "10.8.0.0/16")
			},
			a:     []string{"TS_UNACCEPTABLE", "0.0.0.0/0 === 10.8.0.0/16", "local_ts and remote_ts", "children.net.remote_ts, test.conf:13"},
			b:     []string{"proposes the traffic selectors 10.8.0.0/16 === 0.0.0.0/0", "net has 10.9.0.0/16 === 0.0.0.0/0 (connections.gw.children.net.local_ts, test.conf:12)"},
			ikeUp: true,
		},
		{
			name: "identity of the responder",
			change: func(a, b *Config) {
				a.Connections[0].Remote.ID, _ = auth.Parse("b.example")
				b.Connections[0].Local.ID, _ = auth.Parse("c.example")
			},
			a: []string{"AUTHENTICATION_FAILED", "remote.id"},
			b: []string{"asks for 'b.example'", "gw has us as 'c.example' (connections.gw.local.id, test.conf:3)"},
		},
		{
			name:   "identity of the initiator",
			change: func(a, b *Config) { b.Connections[0].Remote.ID, _ = auth.Parse("a.example") },
			a:      []string{"AUTHENTICATION_FAILED"},
			b:      []string{"no connection for peer '192.0.2.1'", "gw expects 'a.example' (connections.gw.remote.id, test.conf:5)"},
		},
		{
			name: "identity of a responder that answers with another than asked for",
			change: func(a, b *Config) {
				a.Connections[0].Remote.ID, _ = auth.Parse("*.example")
				b.Connections[0].Local.ID, _ = auth.Parse("gw.test")
			},
			a: []string{"peer is 'gw.test', and we expect '*.example' (connections.gw.remote.id, test.conf:5)"},
			b: []string{"AUTHENTICATION_FAILED", "gw.test"},
		},
		{
			name:   "mode",
			change: func(a, b *Config) { b.Connections[0].Children[0].Mode = ModeTransport },
			a:      []string{"no proposal chosen", "children.net"},
			b:      []string{"peer wants tunnel mode", "children.net.mode, test.conf:14"},
			ikeUp:  true,
		},
		{
			name: "no connection",
			change: func(a, b *Config) {
				b.Connections[0].RemoteAddrs = b.Connections[0].LocalAddrs
			},
			a: []string{"no proposal chosen", "no connection for our address"},
			b: []string{"no connection for 192.0.2.2...192.0.2.1", "none has 192.0.2.1 in remote_addrs"},
		},
		{
			name: "no connection for our address",
			change: func(a, b *Config) {
				b.Connections[0].LocalAddrs = b.Connections[0].RemoteAddrs
			},
			a: []string{"no proposal chosen"},
			b: []string{"no connection for 192.0.2.2...192.0.2.1", "gw has other local_addrs (connections.gw.local_addrs, test.conf:6)"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ca, cb := testConfigs(t)
			for _, cfg := range []*Config{ca, cb} {
				cfg.Timing.RetryInitial, cfg.Timing.RetryMax = time.Minute, time.Minute
			}
			c.change(ca, cb)
			p := newPair(t, ca, cb)
			p.run(5 * time.Second)
			for h, want := range map[*host][]string{p.a: c.a, p.b: c.b} {
				f := h.failures()
				if len(want) == 0 && len(f) == 0 {
					continue
				}
				if len(f) != 1 || len(want) == 0 {
					t.Errorf("%s notes %d failures: %q", h.name, len(f), f)
					continue
				}
				for _, word := range want {
					if !strings.Contains(f[0], word) {
						t.Errorf("%s does not say %q: %s", h.name, word, f[0])
					}
				}
			}
			s := p.a.e.Snapshot(p.now)
			if up := len(s.IKESAs) == 1 && s.IKESAs[0].State == IKEEstablished; up != c.ikeUp {
				t.Errorf("the IKE SA is up: %v", up)
			}
			if i := s.Connections[0]; i.LastError == "" || i.NextTry.IsZero() || i.ErrorAt.IsZero() {
				t.Errorf("the connection does not tell why and when again: %+v", i)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	ca, cb := testConfigs(t)
	p := newPair(t, ca, cb)
	p.lose = func(*host, Packet) bool { return true }
	p.run(170 * time.Second)
	f := p.a.failures()
	if len(f) != 1 || !strings.HasPrefix(f[0], "unreachable: no answer from 192.0.2.2 to IKE_SA_INIT, 6 tries") || !strings.Contains(f[0], "next try in 2 s") {
		t.Errorf("failures: %q", f)
	}
	p.run(24 * time.Hour)
	if n := len(p.a.failures()); n < 24*60*60/(165+60)-10 {
		t.Errorf("only %d attempts in a day: start_action = start must go on for ever", n)
	}
	p.lose = nil
	p.run(4 * time.Minute)
	p.wantUp(t)
	if i := p.a.e.Snapshot(p.now).Connections[0]; i.LastError != "" || i.Tries != 0 || !i.NextTry.IsZero() {
		t.Errorf("the connection is up and tells %+v", i)
	}
}

// TestForgedError: an error that anybody could have sent does not end an
// attempt (RFC 7296 section 2.21.1).
func TestForgedError(t *testing.T) {
	ca, cb := testConfigs(t)
	p := newPair(t, ca, cb)
	p.lose = func(from *host, k Packet) bool {
		if from == p.a && exchangeOf(k) == byte(wire.ExchangeSAInit) {
			h, _ := wire.ParseHeader(k.Data)
			h.Flags = wire.FlagResponse
			forged, _ := wire.AppendMessage(nil, h, notification(wire.NotifyNoProposalChosen, nil))
			p.a.e.HandlePacket(p.now, Packet{Local: k.Local, Remote: k.Remote, Data: forged})
		}
		return false
	}
	p.settle()
	p.wantUp(t)
	if f := p.a.failures(); len(f) != 0 {
		t.Errorf("failures: %q", f)
	}
}

// TestKeyingTries: what the operator or traffic asks for is tried as often as configured.
func TestKeyingTries(t *testing.T) {
	ca, cb := testConfigs(t)
	ca.Connections[0].Children[0].StartAction = ActionTrap
	ca.Connections[0].KeyingTries = 2
	p := newPair(t, ca, cb)
	p.settle()
	p.lose = func(*host, Packet) bool { return true }
	p.a.event(Acquire{ReqID: p.a.e.ReqID("gw", "net")})
	p.run(time.Hour)
	if n := len(p.a.failures()); n != 2 {
		t.Errorf("%d attempts, want 2", n)
	}
	if _, ok := p.a.e.NextTimeout(); ok || !p.a.e.Idle() {
		t.Error("something is left after the last attempt")
	}
	p.lose = nil
	p.a.event(Acquire{ReqID: p.a.e.ReqID("gw", "net")})
	p.settle()
	p.wantUp(t)
}

// TestAcquireIsAnswered: the CHILD_SA that traffic asked for names the kernel's request, which would
// keep the kernel from asking again; one that replaces it does not.
func TestAcquireIsAnswered(t *testing.T) {
	ca, cb := testConfigs(t)
	ca.Connections[0].Children[0].StartAction = ActionTrap
	p := newPair(t, ca, cb)
	p.settle()
	p.a.event(Acquire{ReqID: p.a.e.ReqID("gw", "net"), Seq: 9})
	p.settle()
	p.wantUp(t)
	for _, c := range p.a.kernel {
		if c.Child.AcquireSeq != 9 {
			t.Errorf("the CHILD_SA answers request %d, want 9", c.Child.AcquireSeq)
		}
	}
	p.a.event(Rekey{Child: "net"})
	p.settle()
	if c := p.a.e.Snapshot(p.now).IKESAs[0].Children; c[len(c)-1].SA.AcquireSeq != 0 {
		t.Error("the new CHILD_SA of a rekey answers a request")
	}
}

func TestRestartActions(t *testing.T) {
	for _, c := range []struct {
		action ChildAction
		up     bool
	}{{ActionStart, true}, {ActionTrap, false}, {ActionClear, false}} {
		ca, cb := testConfigs(t)
		ch := ca.Connections[0].Children[0]
		ch.StartAction, ch.CloseAction = ActionClear, c.action
		p := newPair(t, ca, cb)
		p.settle()
		p.a.event(Initiate{"gw", "net"})
		p.settle()
		p.wantUp(t)
		for _, what := range []Terminate{{Child: "net"}, {Connection: "gw"}} {
			p.b.event(what)
			p.settle()
			p.run(10 * time.Second)
			if up := p.a.up["net"] == 1; up != c.up {
				t.Errorf("close_action %d after %+v: up %v", c.action, what, up)
			}
			if !c.up {
				p.a.event(Initiate{"gw", "net"})
				p.settle()
			}
		}
	}
}
