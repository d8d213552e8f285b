package labtest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pingGrace is how long the last replies may take when a ping is stopped.
const pingGrace = 2 * time.Second

// Ping sends count echo requests, 100 ms apart, and fails t unless each is
// answered. The first may wait for a neighbour's address.
func Ping(t testing.TB, n *Netns, count int, args ...string) {
	t.Helper()
	out, err := n.Try("ping", append([]string{"-q", "-c", strconv.Itoa(count), "-i", "0.1", "-W", "20"}, args...)...)
	if err != nil || !strings.Contains(out, fmt.Sprintf(" %d received", count)) {
		t.Fatalf("ping %s from %s: %v\n%s", strings.Join(args, " "), n.Role, err, out)
	}
}

// AwaitPing pings until an echo request is answered, where others have yet to
// route the answer, and fails t at the deadline.
func AwaitPing(t testing.TB, n *Netns, deadline time.Duration, args ...string) {
	t.Helper()
	WaitFor(t, deadline, "an answer to "+n.Role+"'s ping "+strings.Join(args, " "), func() error {
		_, err := n.Try("ping", append([]string{"-q", "-c", "1", "-W", "2"}, args...)...)
		return err
	})
}

// Unreachable fails t when any echo request is answered.
func Unreachable(t testing.TB, n *Netns, args ...string) {
	t.Helper()
	out, _ := n.Try("ping", append([]string{"-q", "-c", "5", "-i", "0.1", "-W", "2"}, args...)...)
	if !strings.Contains(out, " 0 received") {
		t.Errorf("ping %s from %s: want no answer\n%s", strings.Join(args, " "), n.Role, out)
	}
}

// Pinger is a ping that runs in the background.
type Pinger struct {
	*Process
}

// PingResult is what a Pinger saw.
type PingResult struct {
	Received   int
	Lost       int           // unanswered requests that were followed by an answered one
	LongestGap time.Duration // between two answers
}

func (r PingResult) String() string {
	return fmt.Sprintf("%d answered, %d lost, longest gap %v", r.Received, r.Lost, r.LongestGap.Round(time.Millisecond))
}

// StartPing sends an echo request every interval until stopped, and waits for
// the first answer.
func StartPing(t testing.TB, n *Netns, interval time.Duration, args ...string) *Pinger {
	t.Helper()
	name := fmt.Sprintf("ping-%s-%d", n.Role, time.Now().UnixNano())
	p := &Pinger{Start(t, n, name, nil, "ping",
		append([]string{"-n", "-D", "-i", strconv.FormatFloat(interval.Seconds(), 'f', -1, 64)}, args...)...)}
	WaitFor(t, startTimeout, "the first answer to "+name, p.ready(t, func() error {
		if p.Result(t).Received == 0 {
			return errors.New("none")
		}
		return nil
	}))
	return p
}

// Stop ends the ping and returns what it saw from first to last answer. It
// fails t when answers had stopped coming before.
func (p *Pinger) Stop(t testing.TB) PingResult {
	t.Helper()
	before := p.Result(t).Received
	WaitFor(t, pingGrace+startTimeout, "another answer to "+p.Name, p.ready(t, func() error {
		if p.Result(t).Received <= before {
			return errors.New("none")
		}
		return nil
	}))
	p.Signal(t, syscall.SIGINT)
	<-p.done
	return p.Result(t)
}

// Result returns what was seen so far.
func (p *Pinger) Result(t testing.TB) PingResult {
	t.Helper()
	f, err := os.Open(p.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return parsePing(bufio.NewScanner(f))
}

// pingReply matches an answer printed by 'ping -D'.
var pingReply = regexp.MustCompile(`^\[(\d+\.\d+)\] .* icmp_seq=(\d+) ttl=`)

// parsePing counts answers. Sequence numbers are 16 bits wide and wrap.
func parsePing(s *bufio.Scanner) PingResult {
	var r PingResult
	first, last, lastAt := -1, -1, 0.0
	for s.Scan() {
		m := pingReply.FindStringSubmatch(s.Text())
		if m == nil || strings.Contains(s.Text(), "DUP!") {
			continue
		}
		at, _ := strconv.ParseFloat(m[1], 64)
		seq, _ := strconv.Atoi(m[2])
		if first < 0 {
			first, last, lastAt = seq, seq-1, at
		}
		for last-seq > 1<<15 {
			seq += 1 << 16
		}
		r.Received++
		r.LongestGap = max(r.LongestGap, time.Duration((at-lastAt)*float64(time.Second)))
		last, lastAt = max(last, seq), at
	}
	if r.Received > 0 {
		r.Lost = last - first + 1 - r.Received
	}
	return r
}
