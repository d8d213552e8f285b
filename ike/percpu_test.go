package ike

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// newPerCPUPair is a pair whose child is up and may have a CHILD_SA for each of four CPUs.
func newPerCPUPair(t *testing.T, edit func(a, b *Config)) *pair {
	t.Helper()
	a, b := testConfigs(t)
	for _, c := range []*Config{a, b} {
		c.CPUs = 4
		c.Connections[0].Children[0].PerCPU = true
	}
	if edit != nil {
		edit(a, b)
	}
	p := newPair(t, a, b)
	p.run(time.Second)
	p.wantUp(t)
	return p
}

// acquires has traffic of a CPU ask for its SA.
func (h *host) acquires(cpu, seq uint32) {
	h.event(Acquire{ReqID: h.children()[0].SA.ReqID, CPU: CPU{Bound: true, Number: cpu}, Seq: seq})
}

func (h *host) children() []ChildInfo {
	var list []ChildInfo
	for _, sa := range h.e.Snapshot(h.pair.now).IKESAs {
		list = append(list, sa.Children...)
	}
	slices.SortFunc(list, func(x, y ChildInfo) int { return int(x.SA.ID) - int(y.SA.ID) })
	return list
}

// wantCPUs checks which CPUs the host has CHILD_SAs for, "all" being the one for all, and that all are of one reqid.
func (h *host) wantCPUs(t *testing.T, want string) {
	t.Helper()
	var got []string
	for _, c := range h.children() {
		switch {
		case c.State != ChildInstalled:
			got = append(got, c.State.String())
		case c.SA.CPU.Bound:
			got = append(got, fmt.Sprint(c.SA.CPU.Number))
		default:
			got = append(got, "all")
		}
		if c.SA.ReqID != h.children()[0].SA.ReqID {
			t.Errorf("%s: reqids %d and %d", h.name, c.SA.ReqID, h.children()[0].SA.ReqID)
		}
	}
	slices.Sort(got)
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s has CHILD_SAs for CPUs %q, want %q\n%s", h.name, s, want, h.pair.history())
	}
}

// childFor finds the CHILD_SA for a CPU.
func (h *host) childFor(cpu uint32) *ChildSA {
	for _, c := range h.children() {
		if c.SA.CPU == (CPU{true, cpu}) && c.State == ChildInstalled {
			return c.SA
		}
	}
	return nil
}

// RFC 9611: the first CHILD_SA is for all CPUs; another one is made for each CPU with traffic, which each end gives to a
// CPU of its own.
func TestPerCPU(t *testing.T) {
	p := newPerCPUPair(t, nil)
	p.a.wantCPUs(t, "all")
	p.a.acquires(2, 7)
	p.a.acquires(2, 8) // while it is under way
	p.run(time.Second)
	p.a.acquires(2, 9)
	p.run(time.Second)
	p.a.wantCPUs(t, "2 all")
	p.b.wantCPUs(t, "0 all")
	p.wantWorking(t)
	if seq := p.a.childFor(2).AcquireSeq; seq != 7 {
		t.Errorf("it answers request %d, want 7", seq)
	}
	p.b.acquires(3, 0)
	p.b.acquires(0, 0) // has one by the peer's doing
	p.run(time.Second)
	p.a.wantCPUs(t, "0 2 all")
	p.b.wantCPUs(t, "0 3 all")
	p.wantWorking(t)
	for _, h := range []*host{p.a, p.b} {
		if h.up["net"] != 1 || len(h.failures()) > 0 {
			t.Errorf("%s: reported up %d times, failures %q", h.name, h.up["net"], h.failures())
		}
	}
}

// Both ends ask at once, and neither CHILD_SA is taken for a copy of the other.
func TestPerCPUAtOnce(t *testing.T) {
	p := newPerCPUPair(t, nil)
	for cpu := range uint32(3) {
		p.a.acquires(cpu, 0)
		p.b.acquires(cpu, 0)
	}
	p.run(time.Minute)
	for _, h := range []*host{p.a, p.b} {
		all := h.children()
		bound := map[uint32]int{}
		for _, c := range all {
			if c.SA.CPU.Bound {
				bound[c.SA.CPU.Number]++
			}
		}
		if len(all) != 7 || bound[0] == 0 || bound[1] == 0 || bound[2] == 0 {
			t.Errorf("%s has %d CHILD_SAs, for CPUs %v\n%s", h.name, len(all), bound, p.history())
		}
	}
	p.wantWorking(t)
}

// Each is rekeyed by itself, by either end and by both at once, and stays its CPU's.
func TestPerCPURekey(t *testing.T) {
	for name, by := range map[string]func(p *pair) []*host{
		"a": func(p *pair) []*host { return []*host{p.a} }, "b": func(p *pair) []*host { return []*host{p.b} },
		"both": func(p *pair) []*host { return []*host{p.a, p.b} },
	} {
		p := newPerCPUPair(t, nil)
		p.a.acquires(2, 0)
		p.run(time.Second)
		p.a.acquires(3, 0)
		p.run(time.Second)
		old, other := p.a.childFor(2), p.a.childFor(3)
		for _, h := range by(p) {
			for _, c := range h.children() {
				if c.SA.SPIIn == old.SPIIn || c.SA.SPIOut == old.SPIIn {
					h.event(Rekey{ChildID: c.SA.ID})
				}
			}
		}
		p.run(time.Minute)
		p.a.wantCPUs(t, "2 3 all")
		p.b.wantCPUs(t, "0 1 all")
		if p.a.childFor(2).SPIIn == old.SPIIn || p.a.childFor(3).SPIIn != other.SPIIn {
			t.Errorf("by %s: not the one for CPU 2 was rekeyed", name)
		}
		p.wantWorking(t)
	}
}

// A CPU that asks while the one for all is rekeyed is not forgotten: the kernel would not ask again for minutes.
func TestPerCPUWhileRekeying(t *testing.T) {
	p := newPerCPUPair(t, nil)
	p.a.event(Rekey{Child: "net"})
	p.a.acquires(1, 0)
	p.run(time.Minute)
	p.a.wantCPUs(t, "1 all")
	p.b.wantCPUs(t, "0 all")
	p.wantWorking(t)
}

// The end of the one for a CPU is not the tunnel's: the others serve on, and traffic brings another one up.
func TestPerCPUDelete(t *testing.T) {
	p := newPerCPUPair(t, func(a, b *Config) {
		a.Connections[0].Children[0].CloseAction = ActionStart
		a.Connections[0].Children[0].Updown = "tell"
	})
	p.a.acquires(1, 0)
	p.run(time.Second)
	p.b.event(Terminate{ChildID: p.b.childFor(0).ID})
	p.run(time.Minute)
	p.a.wantCPUs(t, "all")
	p.b.wantCPUs(t, "all")
	p.a.acquires(1, 0)
	p.run(time.Second)
	p.a.wantCPUs(t, "1 all")
	if p.a.up["net"] != 1 {
		t.Errorf("up %d", p.a.up["net"])
	}
	// The one for all goes: it is made anew, as close_action says, while the CPU's serves on.
	p.b.event(Terminate{ChildID: p.b.children()[0].SA.ID})
	p.settle()
	p.a.wantCPUs(t, "1")
	if p.a.up["net"] != 1 {
		t.Errorf("its interface goes down, while a CHILD_SA for a CPU is there: up %d", p.a.up["net"])
	}
	p.run(time.Minute)
	p.a.wantCPUs(t, "1 all")
	p.wantWorking(t)
}

// Where only those for one CPU each are left, the traffic of the other CPUs brings the one for all up again.
func TestPerCPUWithoutShared(t *testing.T) {
	p := newPerCPUPair(t, func(a, b *Config) {
		a.Connections[0].Children[0].StartAction, b.Connections[0].Children[0].StartAction = ActionClear, ActionStart
	})
	p.a.acquires(1, 0)
	p.run(time.Second)
	p.b.event(Terminate{ChildID: p.b.children()[0].SA.ID})
	p.run(time.Minute)
	p.a.wantCPUs(t, "1")
	p.a.acquires(2, 0)
	p.a.acquires(3, 0)
	p.run(time.Minute)
	p.a.wantCPUs(t, "1 all")
	p.b.wantCPUs(t, "0 all")
	p.a.acquires(2, 0)
	p.run(time.Second)
	p.a.wantCPUs(t, "1 2 all")
	p.wantWorking(t)
}

// A trap that close_action sets is for all CPUs, whichever of them the last CHILD_SA was for: it asks for the first one.
func TestPerCPUArmed(t *testing.T) {
	p := newPerCPUPair(t, func(a, b *Config) {
		b.Connections[0].Children[0].StartAction = ActionStart
		a.Connections[0].Children[0].StartAction, a.Connections[0].Children[0].CloseAction = ActionClear, ActionTrap
	})
	p.a.acquires(1, 0)
	p.run(time.Second)
	for _, all := range []bool{true, false} { // the one for all goes first, then it goes last
		for _, c := range p.b.children() {
			if c.SA.CPU.Bound != all {
				p.b.event(Terminate{ChildID: c.SA.ID})
				p.run(time.Minute)
			}
		}
		for _, c := range p.b.children() {
			p.b.event(Terminate{ChildID: c.SA.ID})
			p.run(time.Minute)
		}
		trap := p.a.e.byName["gw"].wants[0].trap
		if trap == nil || trap.PerCPU || trap.CPU.Bound {
			t.Fatalf("trap %+v\n%s", trap, p.history())
		}
		p.a.event(Acquire{ReqID: trap.ReqID})
		p.run(time.Second)
		p.a.wantCPUs(t, "all")
		p.a.acquires(1, 0)
		p.run(time.Second)
		p.a.wantCPUs(t, "1 all")
	}
}

// Another process that takes over knows which CPU each is for, the first one too, and goes on with the others.
func TestPerCPUHandover(t *testing.T) {
	p := newPerCPUPair(t, nil)
	p.a.acquires(0, 0)
	p.run(time.Minute)
	data, left, err := p.a.e.HandOver(p.now)
	if err != nil || left > 0 {
		t.Fatal(left, err)
	}
	cfg := p.a.e.cfg
	p.a.e = New(cfg, rand.NewChaCha8([32]byte{9}), 1)
	if list, err := p.a.e.TakeOver(p.now, data); err != nil || len(list) != 2 {
		t.Fatal(len(list), err)
	}
	p.run(time.Second)
	p.a.wantCPUs(t, "0 all")
	p.a.acquires(0, 0)
	p.a.acquires(1, 0)
	p.run(time.Second)
	p.a.wantCPUs(t, "0 1 all")
	p.b.wantCPUs(t, "0 1 all")
	p.wantWorking(t)
}

// Where the peer wants no more, CPUs go on with the one for all, and the peer is not asked again at once.
func TestPerCPURefused(t *testing.T) {
	p := newPerCPUPair(t, func(_, b *Config) { b.Limits.PerCPUSAs = 1 })
	refused := 0
	p.lose = func(from *host, k Packet) bool {
		if from == p.a && exchangeOf(k) == byte(wire.ExchangeCreateChildSA) {
			refused++
		}
		return false
	}
	p.a.acquires(0, 0)
	p.run(time.Second)
	for cpu := range uint32(4) {
		p.a.acquires(cpu, 0)
		p.run(time.Second)
	}
	p.a.wantCPUs(t, "0 all")
	p.b.wantCPUs(t, "0 all")
	if refused != 2 {
		t.Errorf("%d requests, want the accepted one and one refused", refused)
	}
	if !strings.Contains(p.a.log(), "TS_MAX_QUEUE") || !strings.Contains(p.b.log(), "limits.per_cpu_sas = 1") {
		t.Errorf("nobody says why:\n%s%s", p.a.log(), p.b.log())
	}
	if f := p.a.failures(); len(f) > 0 {
		t.Errorf("failures %q", f)
	}
	p.b.event(Terminate{ChildID: p.b.childFor(0).ID})
	p.run(2 * p.a.e.cfg.Timing.RetryMax)
	p.a.acquires(3, 0)
	p.run(time.Second)
	p.a.wantCPUs(t, "3 all")
}

// A peer that does not know of it, and a kernel that cannot do it: one CHILD_SA, for all CPUs.
func TestPerCPUAlone(t *testing.T) {
	for name, edit := range map[string]func(a, b *Config){
		"peer":   func(_, b *Config) { b.Connections[0].Children[0].PerCPU = false },
		"kernel": func(a, _ *Config) { a.CPUs = 0 },
	} {
		p := newPerCPUPair(t, edit)
		p.a.acquires(1, 0)
		p.b.acquires(1, 0)
		p.run(time.Second)
		p.wantUp(t)
		for _, h := range []*host{p.a, p.b} {
			if h.children()[0].SA.PerCPU {
				t.Errorf("%s: %s's policies ask for an SA for each CPU", name, h.name)
			}
		}
	}
}

// What a peer sends may be the request again, late, or lost; at the end what one end sends on the other receives on.
func TestPerCPUUnderLoss(t *testing.T) {
	for seed := range uint64(40) {
		p := newPerCPUPair(t, nil)
		n := seed
		p.lose = func(*host, Packet) bool { n = n*6364136223846793005 + 1442695040888963407; return n>>60 < 4 }
		for step := range 12 {
			n = n*6364136223846793005 + 1442695040888963407
			h := []*host{p.a, p.b}[n>>63]
			list := h.children()
			if len(list) == 0 {
				t.Fatalf("seed %d: %s has nothing\n%s", seed, h.name, p.history())
			}
			switch c := list[(n>>40)%uint64(len(list))].SA; {
			case step%4 == 3 && c.CPU.Bound:
				h.event(Terminate{ChildID: c.ID})
			case step%4 == 2:
				h.event(Rekey{ChildID: c.ID})
			default:
				h.acquires(uint32(n>>50)%4, 0)
			}
			p.run(time.Duration(n>>56) * 10 * time.Millisecond)
		}
		p.lose = nil
		p.run(10 * time.Minute)
		p.wantWorking(t)
		for _, h := range []*host{p.a, p.b} {
			all := 0
			for _, c := range h.children() {
				if !c.SA.CPU.Bound {
					all++
				}
			}
			if all != 1 {
				t.Errorf("seed %d: %s has %d CHILD_SAs for all CPUs\n%s", seed, h.name, all, p.history())
			}
		}
		if t.Failed() {
			return
		}
	}
}
