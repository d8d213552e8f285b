package labtest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// XfrmState is one SA as 'ip -s xfrm state' shows it.
type XfrmState struct {
	Src, Dst  string
	SPI       uint32
	ReqID     uint32
	Mode      string // tunnel or transport
	IfID      uint32
	Algorithm string // as the kernel names it, e.g. rfc4106(gcm(aes))
	Encap     bool   // in UDP
	ESN       bool
	Window    int // replay window
	Bytes     uint64
	Packets   uint64
	Added     string // when, as the kernel says it
}

// XfrmStates lists the namespace's SAs.
func XfrmStates(t testing.TB, n *Netns) []XfrmState {
	t.Helper()
	out := n.Run(t, "ip", "-s", "xfrm", "state")
	states, err := parseStates(out)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	return states
}

// parseStates reads the blocks of 'ip -s xfrm state'; each begins with an
// unindented line.
func parseStates(out string) ([]XfrmState, error) {
	var states []XfrmState
	counters := false // the next line is "N(bytes), M(packets)"
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if !strings.HasPrefix(line, "\t") {
			if len(f) < 4 || f[0] != "src" || f[2] != "dst" {
				return nil, fmt.Errorf("unexpected line %q", line)
			}
			states = append(states, XfrmState{Src: f[1], Dst: f[3]})
			counters = false
			continue
		}
		if len(states) == 0 {
			return nil, fmt.Errorf("line before the first state: %q", line)
		}
		s := &states[len(states)-1]
		if counters {
			counters = false
			if _, err := fmt.Sscanf(strings.TrimSpace(line), "%d(bytes), %d(packets)", &s.Bytes, &s.Packets); err != nil {
				return nil, fmt.Errorf("counters %q: %w", line, err)
			}
			continue
		}
		switch {
		case f[0] == "proto":
			s.SPI, s.ReqID = uint32(numberAfter(f, "spi")), uint32(numberAfter(f, "reqid"))
			s.Mode = f[len(f)-1]
		case f[0] == "replay-window":
			// With ESN this is 0, and the window of the anti-replay context says it.
			s.Window = max(s.Window, int(numberAfter(f, "replay-window")))
			s.ESN = s.ESN || strings.Contains(line, "esn")
		case f[0] == "replay_window":
			s.Window = max(s.Window, int(numberAfter(f, "replay_window")))
		case f[0] == "aead" || f[0] == "enc":
			s.Algorithm = f[1]
		case f[0] == "encap":
			s.Encap = true
		case f[0] == "add" && len(f) > 2:
			s.Added = f[1] + " " + f[2]
		case f[0] == "if_id":
			s.IfID = uint32(numberAfter(f, "if_id"))
		case f[0] == "lifetime" && f[1] == "current:":
			counters = true
		}
	}
	return states, nil
}

// numberAfter returns the number that follows a word, 0 if there is none. It may
// be followed by the same number in another base, in brackets.
func numberAfter(fields []string, word string) uint64 {
	for i, f := range fields {
		if f == word && i+1 < len(fields) {
			text, _, _ := strings.Cut(strings.TrimSuffix(fields[i+1], ","), "(")
			v, _ := strconv.ParseUint(text, 0, 64)
			return v
		}
	}
	return 0
}

// StateCount returns how many SAs and policies the namespace has. Policies of
// sockets do not count: they go with their process.
func StateCount(t testing.TB, n *Netns) (states, policies int) {
	t.Helper()
	out := n.Run(t, "ip", "xfrm", "policy")
	policies = strings.Count("\n"+out, "\nsrc ") - strings.Count(out, "\tsocket ")
	return len(XfrmStates(t, n)), policies
}

// XfrmErrors returns the counters of /proc/net/xfrm_stat that are not zero.
func XfrmErrors(t testing.TB, n *Netns) map[string]uint64 {
	t.Helper()
	errors := map[string]uint64{}
	for line := range strings.Lines(n.Run(t, "cat", "/proc/net/xfrm_stat")) {
		if f := strings.Fields(line); len(f) == 2 && f[1] != "0" {
			errors[f[0]], _ = strconv.ParseUint(f[1], 10, 64)
		}
	}
	return errors
}
