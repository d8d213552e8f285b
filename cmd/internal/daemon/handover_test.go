package daemon

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/handover"
)

// handOver asks the running daemon for a handover and returns what it left.
func (p *peer) handOver(t *testing.T) *handover.Bundle {
	t.Helper()
	p.upgrade <- syscall.SIGUSR2
	select {
	case r := <-p.done:
		p.done <- result{}
		if r.err != nil || r.next == nil {
			t.Fatalf("no handover: %v", r.err)
		}
		return r.next
	case <-time.After(60 * time.Second):
		t.Fatal("no handover in time")
	}
	return nil
}

// sas names the SAs in the kernel.
func (p *peer) sas(t *testing.T) string {
	t.Helper()
	list, err := p.kernel.SAs()
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, sa := range list {
		text = append(text, sa.ID().String())
	}
	return strings.Join(text, "\n")
}

// TestHandOver: a daemon goes on where the one before has left off, as initiator and as responder. Nothing in the kernel
// changes, and the peer notices nothing.
func TestHandOver(t *testing.T) {
	b := startPeer(t, false, "none", canary)
	a := startPeer(t, true, "start", canary)
	eventually(t, "tunnel up on both sides", func() bool { return a.up() && b.up() })
	for _, p := range []*peer{a, b} {
		before := p.kernel.String()
		p.kernel.ResetCalls()
		next := p.handOver(t)
		if got := p.kernel.String(); got != before {
			t.Errorf("who hands over leaves in the kernel\n%s\nand had\n%s", got, before)
		}
		p.start(t, next)
		if got := p.kernel.String(); got != before {
			t.Errorf("who takes over has in the kernel\n%s\nand found\n%s", got, before)
		}
		if calls := p.kernel.Calls(); len(calls) > 0 {
			t.Errorf("a handover changed the kernel: %v", calls)
		}
	}
	sas := a.sas(t)
	for i, p := range []*peer{a, b} {
		if _, err := p.call(t, "rekey", "child", "net"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "other SAs", func() bool { return a.sas(t) != sas && a.up() && b.up() })
		sas = a.sas(t)
		if _, err := p.call(t, "rekey", "ike", "loop"); err != nil {
			t.Fatal(err)
		}
		for _, q := range []*peer{a, b} {
			eventually(t, "another IKE SA", func() bool {
				return strings.Count(q.log.String(), "IKE_SA loop[2] rekeyed")+strings.Count(q.log.String(), "IKE_SA loop[3] rekeyed") == i+1
			})
		}
	}
	if strings.Count(b.log.String(), "is initiating an IKE_SA") != 1 {
		t.Error("the tunnel was set up anew")
	}
	if err := a.stop(); err != nil {
		t.Error(err)
	}
	eventually(t, "peer learned of the stop", func() bool { return !b.up() })
	if got := strings.TrimSpace(a.kernel.String()); got != "" {
		t.Errorf("left in the kernel:\n%s", got)
	}
}

// TestHandOverRefused: a process that cannot be followed goes on.
func TestHandOverRefused(t *testing.T) {
	b := startPeer(t, false, "none", canary)
	a := startPeer(t, true, "start", canary)
	eventually(t, "tunnel up on both sides", func() bool { return a.up() && b.up() })
	if err := os.WriteFile(a.file, []byte("connections {\n  x {\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.upgrade <- syscall.SIGUSR2
	eventually(t, "a refusal", func() bool { return strings.Contains(a.log.String(), "this one goes on") })
	if _, err := b.call(t, "rekey", "child", "net"); err != nil {
		t.Fatal(err)
	}
	sas := a.sas(t)
	eventually(t, "a rekey", func() bool { return a.sas(t) != sas && a.up() && b.up() })
}

// TestHandOverOfRubbish: a state that cannot be read costs the tunnels, not the start.
func TestHandOverOfRubbish(t *testing.T) {
	b := startPeer(t, false, "none", canary)
	a := startPeer(t, true, "start", canary)
	eventually(t, "tunnel up on both sides", func() bool { return a.up() && b.up() })
	next := a.handOver(t)
	next.State = []byte("rubbish")
	a.start(t, next)
	eventually(t, "tunnel up again", func() bool { return a.up() && b.up() })
}
