package iketest

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// settleTime is longer than anything that an engine waits for with the default timing: the last
// retransmission, the Delete that a peer owes, and its retransmissions.
const settleTime = 6 * time.Minute

// traceTail is how many lines of the trace a failing test prints; all, where one seed is repeated.
const traceTail = 150

// brief reports whether a part of the runs must do. 'make simulator' plays them all.
func brief() bool { return testing.Short() || slowed || os.Getenv(seedsEnv) == "" }

// failRun ends the test with the trace.
func failRun(t *testing.T, n *Net, format string, args ...any) {
	t.Helper()
	t.Logf("%s", tail(n))
	t.Fatalf(format, args...)
}

// tail returns the end of the trace.
func tail(n *Net) string {
	lines := strings.Split(n.Trace(), "\n")
	if len(lines) > traceTail && os.Getenv(seedEnv) == "" {
		lines = lines[len(lines)-traceTail:]
	}
	return "trace:\n" + strings.Join(lines, "\n")
}

// noViolation fails the test if the run was stopped.
func noViolation(t *testing.T, n *Net) {
	t.Helper()
	if err := n.Err(); err != nil {
		failRun(t, n, "%v", err)
	}
}

// establish sets the tunnel up, from A, and lets it come to rest.
func establish(t *testing.T, p *Pair) {
	t.Helper()
	p.A.Initiate()
	p.RunUntil(p.Up, time.Minute)
	p.RunFor(time.Second)
	agree(t, p)
}

// agree fails the test unless both hosts are at rest with the same SAs.
func agree(t *testing.T, p *Pair) {
	t.Helper()
	noViolation(t, p.Net)
	if err := p.Agree(); err != nil {
		failRun(t, p.Net, "%v", err)
	}
}

// empty fails the test unless no host holds anything.
func empty(t *testing.T, n *Net) {
	t.Helper()
	noViolation(t, n)
	for _, h := range n.Hosts() {
		if err := h.Empty(); err != nil {
			failRun(t, n, "%v", err)
		}
	}
}

// established returns a Pair with a tunnel.
func established(t *testing.T, seed uint64, edit func(a, b *ike.Config)) *Pair {
	t.Helper()
	p := NewPair(seed, edit)
	establish(t, p)
	return p
}

// only returns the one IKE SA of a host.
func only(t *testing.T, h *Host) ike.IKESAInfo {
	t.Helper()
	sas := h.Snapshot().IKESAs
	if len(sas) != 1 {
		failRun(t, h.net, "%s has %d IKE SAs: %s", h.Name, len(sas), h.Describe())
	}
	return sas[0]
}

// The events that most tests send.
var (
	rekeyChild  = ike.Rekey{Connection: ConnectionName, Child: ChildName}
	rekeyIKE    = ike.Rekey{Connection: ConnectionName}
	deleteChild = ike.Terminate{Connection: ConnectionName, Child: ChildName}
	deleteIKE   = ike.Terminate{Connection: ConnectionName}
)
