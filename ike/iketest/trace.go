package iketest

import (
	"fmt"
	"strings"
	"time"
)

// traceLimit bounds the memory of a run that goes on for ever.
const traceLimit = 50000

type trace struct{ lines []traceLine }

// traceLine is a line that is put into words only when somebody wants to read it. Its
// arguments must not change any more.
type traceLine struct {
	at     time.Duration
	format string
	args   []any
}

// String writes the line.
func (l traceLine) String() string {
	return fmt.Sprintf("%9.3f ", l.at.Seconds()) + fmt.Sprintf(l.format, l.args...)
}

// tracef adds a line to the trace.
func (n *Net) tracef(format string, args ...any) {
	if len(n.trace.lines) < traceLimit {
		n.trace.lines = append(n.trace.lines, traceLine{n.Elapsed(), format, args})
	}
}

// Tracef adds a line of the test's own to the trace.
func (n *Net) Tracef(format string, args ...any) { n.tracef(format, args...) }

// Trace returns what happened, one line for each message, action and remark of an engine.
func (n *Net) Trace() string {
	var b strings.Builder
	for _, l := range n.trace.lines {
		b.WriteString(l.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Violation is an invariant that did not hold.
type Violation struct {
	Seed uint64
	At   time.Duration // since the run began
	Text string
}

// Error returns what did not hold, and when.
func (v *Violation) Error() string {
	return fmt.Sprintf("seed %d, after %.3f s: %s", v.Seed, v.At.Seconds(), v.Text)
}

// violate stops the run.
func (n *Net) violate(format string, args ...any) {
	if n.failed != nil {
		return
	}
	v := &Violation{Seed: n.seed, At: n.Elapsed(), Text: fmt.Sprintf(format, args...)}
	n.failed = v
	n.tracef("VIOLATION: %s", v.Text)
}

// Err returns the violation that stopped the run, a *Violation, or nil.
func (n *Net) Err() error { return n.failed }
