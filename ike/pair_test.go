package ike

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// host is one engine with what the world would do for it: packets are put on
// the pair's wire, computations run at once, the kernel says yes.
type host struct {
	t      *testing.T
	name   string
	e      *Engine
	pair   *pair
	addr   netip.Addr
	notes  []Note
	up     map[string]int // ChildUp minus ChildDown, by child
	kernel map[uint32]*InstallChild
	out    map[uint32]bool // CHILD_SAs whose outbound SA is there
	refuse bool            // the kernel says no
	holdKE bool            // computations wait in held
	held   []Compute
	worked []JobClass // of the computations so far
	moved  []*ChildSA
}

// pair is two hosts and the wire between them.
type pair struct {
	a, b *host
	now  time.Time
	wire []sent
	// lose, if set, says which packets are lost.
	lose func(from *host, p Packet) bool
	// delays, if set, returns when the copies of a packet arrive.
	delays func() []time.Duration
	seen   int
	trace  []string
}

type sent struct {
	to *host
	p  Packet
	at time.Time
}

func newPair(t *testing.T, a, b *Config) *pair {
	t.Helper()
	p := &pair{now: time.Unix(1000, 0)}
	mk := func(name, addr string, cfg *Config, seed byte) *host {
		return &host{
			t: t, name: name, pair: p, addr: netip.MustParseAddr(addr), up: map[string]int{},
			kernel: map[uint32]*InstallChild{}, out: map[uint32]bool{},
			e: New(cfg, rand.NewChaCha8([32]byte{seed}), seed),
		}
	}
	p.a, p.b = mk("a", "192.0.2.1", a, 1), mk("b", "192.0.2.2", b, 2)
	return p
}

// testConfigs returns matching configurations; a starts the child.
func testConfigs(t *testing.T) (a, b *Config) {
	t.Helper()
	mk := func(local, remote string, start ChildAction) *Config {
		c := DefaultConnection()
		c.Name, c.Source = "gw", "test.conf:1"
		c.Lines = Lines{"local": "test.conf:2", "local.id": "test.conf:3", "remote": "test.conf:4", "remote.id": "test.conf:5",
			"local_addrs": "test.conf:6", "proposals": "test.conf:7"}
		c.LocalAddrs = []AddrMatch{{Prefix: netip.MustParsePrefix(local + "/32")}}
		c.RemoteAddrs = []AddrMatch{{Prefix: netip.MustParsePrefix(remote + "/32")}}
		c.Local.Method, c.Remote.Method = AuthPSK, AuthPSK
		c.Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519")
		ch := DefaultChild()
		ch.Name, ch.Source = "net", "test.conf:9"
		ch.Lines = Lines{"esp_proposals": "test.conf:11", "local_ts": "test.conf:12", "remote_ts": "test.conf:13", "mode": "test.conf:14"}
		ch.Proposals = proposals(t, suite.ESP, "aes128gcm16-x25519")
		ch.StartAction = start
		ts := PrefixSelector(netip.MustParsePrefix("0.0.0.0/0"))
		ch.LocalTS, ch.RemoteTS = []TrafficSelector{ts}, []TrafficSelector{ts}
		c.Children = []*ChildConfig{&ch}
		return &Config{
			Connections: []*Connection{&c},
			Secrets:     []auth.Secret{{Name: "ike", Source: "test.conf:40", Key: suite.NewKey([]byte("a pre-shared key"))}},
			Limits:      DefaultLimits(), Timing: DefaultTiming(),
		}
	}
	return mk("192.0.2.1", "192.0.2.2", ActionStart), mk("192.0.2.2", "192.0.2.1", ActionClear)
}

func proposals(t *testing.T, proto suite.Protocol, s ...string) []suite.Proposal {
	t.Helper()
	p, err := suite.ParseProposals(proto, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drain carries out what the engine wants.
func (h *host) drain() {
	for {
		a, ok := h.e.NextAction()
		if !ok {
			return
		}
		now := h.pair.now
		switch a := a.(type) {
		case Send:
			h.pair.transmit(h, a.Packet)
		case Compute:
			h.worked = append(h.worked, a.Class)
			if h.holdKE {
				h.held = append(h.held, a)
				continue
			}
			h.e.HandleEvent(now, Computed{a.ID, a.Run()})
		case InstallChild:
			if h.refuse {
				h.e.HandleEvent(now, InstallFailed{a.Child.ID, errRefused})
				continue
			}
			h.kernel[a.Child.ID] = &a
			h.out[a.Child.ID] = !a.DeferOutbound
			h.e.HandleEvent(now, Installed{a.Child.ID})
		case InstallOutbound:
			if h.kernel[a.ChildID] == nil {
				h.t.Errorf("%s: outbound SA for unknown CHILD_SA %d", h.name, a.ChildID)
			}
			h.out[a.ChildID] = true
		case RemoveOutbound:
			h.out[a.ChildID] = false
		case RemoveChild:
			if h.kernel[a.ChildID] == nil {
				h.t.Errorf("%s: removal of unknown CHILD_SA %d", h.name, a.ChildID)
			}
			delete(h.kernel, a.ChildID)
			delete(h.out, a.ChildID)
		case MoveChild:
			h.moved = append(h.moved, a.Child)
		case ChildUp:
			h.up[a.Child.Config.Name]++
		case ChildDown:
			h.up[a.Child]--
		case Note:
			if a.Level == LevelDebug && strings.Contains(a.Text, "DPD") {
				continue
			}
			h.notes = append(h.notes, a)
			h.pair.trace = append(h.pair.trace, fmt.Sprintf("%8.3f %s %s", h.pair.now.Sub(time.Unix(1000, 0)).Seconds(), h.name, a.Text))
			if strings.Contains(a.Text, "internal error") {
				h.t.Errorf("%s: %s", h.name, a.Text)
			}
		}
	}
}

type refused struct{}

func (refused) Error() string { return "no memory" }

var errRefused = refused{}

func (p *pair) transmit(from *host, k Packet) {
	p.seen++
	if p.lose != nil && p.lose(from, k) {
		return
	}
	to := p.b
	if from == p.b {
		to = p.a
	}
	local := k.Local
	if !local.Addr().IsValid() {
		local = netip.AddrPortFrom(from.addr, local.Port())
	}
	k.Local, k.Remote = k.Remote, local
	delays := []time.Duration{0}
	if p.delays != nil {
		delays = p.delays()
	}
	for _, d := range delays {
		k.Data = bytes.Clone(k.Data)
		p.wire = append(p.wire, sent{to, k, p.now.Add(d)})
	}
}

// due takes the packet that arrives next, if it arrives now.
func (p *pair) due() (sent, bool) {
	for i, s := range p.wire {
		if !s.at.After(p.now) {
			p.wire = slices.Delete(p.wire, i, i+1)
			return s, true
		}
	}
	return sent{}, false
}

// settle delivers until nothing moves any more at this moment.
func (p *pair) settle() {
	for {
		for _, h := range []*host{p.a, p.b} {
			if at, ok := h.e.NextTimeout(); ok && !at.After(p.now) {
				h.e.HandleTimeout(p.now)
			}
			h.drain()
		}
		s, ok := p.due()
		if !ok {
			return
		}
		s.to.e.HandlePacket(p.now, s.p)
		s.to.drain()
	}
}

// run lets time pass, event by event.
func (p *pair) run(d time.Duration) {
	end := p.now.Add(d)
	p.settle()
	for {
		next := end.Add(1)
		for _, h := range []*host{p.a, p.b} {
			if at, ok := h.e.NextTimeout(); ok && at.Before(next) {
				next = at
			}
		}
		for _, s := range p.wire {
			if s.at.Before(next) {
				next = s.at
			}
		}
		if next.After(end) {
			p.now = end
			return
		}
		if next.After(p.now) {
			p.now = next
		}
		p.settle()
	}
}

func (h *host) event(ev Event) {
	h.e.HandleEvent(h.pair.now, ev)
	h.drain()
}

// failures returns the texts of all notes about failures.
func (h *host) failures() []string {
	var out []string
	for _, n := range h.notes {
		if n.Kind == NoteFailure {
			out = append(out, n.Text)
		}
	}
	return out
}

func (h *host) log() string {
	var b strings.Builder
	for _, n := range h.notes {
		b.WriteString(h.name + " " + n.Group + " " + n.Text + "\n")
	}
	return b.String()
}

// history returns what both hosts said.
func (p *pair) history() string {
	var b strings.Builder
	for _, h := range []*host{p.a, p.b} {
		for _, sa := range h.e.Snapshot(p.now).IKESAs {
			fmt.Fprintf(&b, "%s has #%d %v, queued %v active %v\n", h.name, sa.ID, sa.State, sa.TasksQueued, sa.TasksActive)
			for _, c := range sa.Children {
				fmt.Fprintf(&b, "%s   %s{%d} %v\n", h.name, c.SA.Config.Name, c.SA.ID, c.State)
			}
		}
		for _, i := range h.kernel {
			fmt.Fprintf(&b, "%s has %s{%d} %08x_i %08x_o\n", h.name, i.Child.Config.Name, i.Child.ID, i.Child.SPIIn, i.Child.SPIOut)
		}
	}
	return strings.Join(p.trace, "\n") + "\n" + b.String()
}

// wantUp checks that one IKE SA with one CHILD_SA is up on both hosts, with the same keys.
func (p *pair) wantUp(t *testing.T) {
	t.Helper()
	for _, h := range []*host{p.a, p.b} {
		s := h.e.Snapshot(p.now)
		if len(s.IKESAs) != 1 || s.IKESAs[0].State != IKEEstablished || len(s.IKESAs[0].Children) != 1 ||
			s.IKESAs[0].Children[0].State != ChildInstalled || h.up["net"] != 1 || len(h.kernel) != 1 {
			t.Fatalf("%s: not exactly one tunnel: up %v, kernel %d\n%s", h.name, h.up, len(h.kernel), p.history())
		}
	}
	p.wantWorking(t)
}

// wantWorking checks that what each side sends on, the other one receives on.
func (p *pair) wantWorking(t *testing.T) {
	t.Helper()
	check := func(from, to *host) {
		n := 0
		for id, i := range from.kernel {
			if !from.out[id] {
				continue
			}
			n++
			found := false
			for _, j := range to.kernel {
				if j.Child.SPIIn == i.Child.SPIOut {
					found = true
					if string(i.Keys.EncrOut.Bytes()) != string(j.Keys.EncrIn.Bytes()) {
						t.Errorf("%s and %s have different keys for %08x", from.name, to.name, j.Child.SPIIn)
					}
				}
			}
			if !found {
				t.Errorf("%s sends on %08x, and %s does not receive there\n%s", from.name, i.Child.SPIOut, to.name, p.history())
			}
		}
		if n == 0 {
			t.Errorf("%s has nothing to send on\n%s", from.name, p.history())
		}
	}
	check(p.a, p.b)
	check(p.b, p.a)
}

// messageID reads the message ID of a packet.
func messageID(p Packet) uint32 { return binary.BigEndian.Uint32(p.Data[20:]) }

func exchangeOf(p Packet) byte { return p.Data[18] }

func TestSetUp(t *testing.T) {
	p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
	p.settle()
	p.wantUp(t)
	if p.seen != 4 {
		t.Errorf("set-up took %d messages instead of 4", p.seen)
	}
	if f := append(p.a.failures(), p.b.failures()...); len(f) > 0 {
		t.Errorf("failures: %v", f)
	}
}

func first(a, _ *Config) *Config  { return a }
func second(_, b *Config) *Config { return b }
