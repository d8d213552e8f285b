package iketest

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// TestRunsRepeat: one seed does the same twice, message by message.
func TestRunsRepeat(t *testing.T) {
	for seed := range uint64(5) {
		a, errA := randomRun(seed)
		b, errB := randomRun(seed)
		if errA != nil || errB != nil {
			continue // TestSeeds tells
		}
		x, y := strings.Split(a.Trace(), "\n"), strings.Split(b.Trace(), "\n")
		for i := range x {
			if i >= len(y) || x[i] != y[i] {
				t.Fatalf("seed %d: line %d of the trace is\n%s\nand then\n%s", seed, i, x[i], y[min(i, len(y)-1)])
			}
		}
	}
}

// The invariants are worth something only if they notice. Each case breaks one thing in a tunnel that is up.
func TestInvariantsNotice(t *testing.T) {
	first := func(h *Host) *installed { return h.Kernel.children[h.Kernel.ids()[0]] }
	cases := []struct {
		name  string
		spoil func(p *Pair)
		want  string
	}{
		{"other keys", func(p *Pair) { first(p.A).keys.encrOut[0] ^= 1; p.A.Kernel.changed = true }, "encryption keys differ"},
		{"missing inbound SA", func(p *Pair) { p.B.Kernel.remove(first(p.B).sa.ID) }, "no inbound SA"},
		{"missing outbound SA", func(p *Pair) { p.A.Kernel.removeOutbound(first(p.A).sa.ID) }, "no outbound SA"},
		{"removed twice", func(p *Pair) { p.A.Kernel.remove(77) }, "does not have"},
		{"no deferred outbound SA", func(p *Pair) { p.A.Kernel.installOutbound(first(p.A).sa.ID) }, "has not deferred"},
		{"orphan", func(p *Pair) {
			c := *first(p.A)
			sa := *c.sa
			sa.ID, sa.SPIIn, sa.SPIOut, sa.ReqID = 99, 99999, 99998, 99
			c.sa, c.reported = &sa, true
			p.A.Kernel.children[99], p.A.Kernel.inbound[99999] = &c, &c
		}, "has forgotten"},
		{"reported twice", func(p *Pair) { p.A.report(childName{ConnectionName, ChildName}, true) }, "twice"},
		{"another retransmission", func(p *Pair) {
			m := *p.Recorded()[len(p.Recorded())-1]
			m.Data = slices.Clone(m.Data)
			m.Data[len(m.Data)-1] ^= 1
			p.wire.sent(p.Net, &m)
		}, "not bitwise identical"},
		{"a response that nobody asked for", func(p *Pair) {
			p.wire.sent(p.Net, p.Recorded()[len(p.Recorded())-1])
		}, "its request has come 1 times"},
		{"an IV again", func(p *Pair) {
			m := *p.Recorded()[len(p.Recorded())-1]
			m.Data = slices.Clone(m.Data)
			m.Data[23]++ // the message ID
			p.wire.sent(p.Net, &m)
		}, "IV"},
		{"a foreign source address", func(p *Pair) {
			p.transmit(p.A, ike.Send{Packet: ike.Packet{Local: netip.MustParseAddrPort("10.0.0.1:500"), Remote: netip.AddrPortFrom(EndB.Addr, 500)}})
		}, "not its address"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := NewPair(1, lively)
			p.Record()
			p.Silent = true // so that liveness checks make the engines work
			establish(t, p)
			p.GuardTraffic()
			c.spoil(p)
			p.RunFor(time.Minute)
			if err := p.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				failRun(t, p.Net, "the violation is %v, expected one that names %q", err, c.want)
			}
			if !strings.Contains(p.Trace(), "VIOLATION") {
				t.Error("the trace does not show the violation")
			}
		})
	}
}

// TestFaultsHappen: each kind of fault shows in the trace and in what arrives.
func TestFaultsHappen(t *testing.T) {
	marks := map[FaultKind]string{
		Lose: "[lost]", Duplicate: "[again after 1ms]", Overtake: "[to be overtaken]", Slow: "[slow]", Replay: "[again after 11s]", Corrupt: "[corrupted]",
	}
	for _, kind := range Kinds() {
		p := NewPair(1, nil)
		p.Inject(Fault{kind, 1})
		p.A.Initiate()
		p.RunFor(time.Minute)
		noViolation(t, p.Net)
		line := "A->B IKE_SA_INIT request id=0 #1 " + marks[kind]
		if !strings.Contains(p.Trace(), line) {
			failRun(t, p.Net, "the trace lacks %q", line)
		}
		arrivals := strings.Count(p.Trace(), "#1 arrives at B")
		want := map[FaultKind]int{Lose: 0, Duplicate: 2, Replay: 2}
		if n, ok := want[kind]; ok && n != arrivals || !ok && arrivals != 1 {
			failRun(t, p.Net, "%v: it arrives %d times", kind, arrivals)
		}
	}
}
