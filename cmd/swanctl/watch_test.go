package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/vici"
	"github.com/ipsecd/ipsecd/ike"
)

// TestWatching writes events and lines of the log as the stock swanctl does, and says when the daemon ends.
func TestWatching(t *testing.T) {
	d, uri := serveScript(t, nil)
	up := func(b *vici.Builder) {
		b.Key("up", "yes")
		bareSA(b)
	}
	logged := func(b *vici.Builder) { keys(b, "group", "NET", "level", "1", "thread", "3", "msg", "received packet") }
	d.pushed = map[string][]func(*vici.Builder){"child-updown": {up}, "log": {logged}}
	d.hangUp = map[string]bool{"child-updown": true, "log": true}
	for args, want := range map[string]string{
		"--log":        "03[NET] received packet\n",
		"--log --raw":  "log {group=NET level=1 thread=3 msg=received packet}\n",
		"--monitor-sa": "new: #4, CONNECTING, IKEv1, 0123456789abcdef_i (null)_r*\n  local  '(null)' @ %any[(null)]\n  remote '(null)' @ 192.0.2.9[(null)]\n",
		"--monitor-sa --raw": "child-updown event {up=yes new {uniqueid=4 version=1 state=CONNECTING local-host=%any remote-host=192.0.2.9 " +
			"initiator-spi=0123456789abcdef child-sas {}}}\n",
	} {
		got := (world{uri: uri}).ours(t, strings.Fields(args)...)
		if got.Status != exitRequest || got.Stdout != want || !strings.Contains(got.Stderr, "the daemon ended the connection") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// TestWatchingLikeStock has both swanctls watch the same ipsecd, and compares what they write about its events and its log.
func TestWatchingLikeStock(t *testing.T) {
	for _, watched := range []struct {
		command     string
		ready, last ike.Note
		notes       []ike.Note
		first, end  string // what is written about the first of notes has, and, as a regular expression, about last
	}{
		{"--log", ike.Note{Text: "are you there?", Group: "DMN"}, ike.Note{Text: "the end", Group: "DMN"}, []ike.Note{
			{Text: "the beginning", Group: "NET", Level: ike.LevelDebug},
			{Text: "IKE_SA hq[1] established between 192.0.2.1[us]...203.0.113.7[them]", Group: "IKE", Connection: "hq", IKEID: 1},
			{Text: `reading "/etc/x" failed: {no} = such, 100%`, Group: "CFG", Level: ike.LevelWarn},
			{Text: "installing failed", Group: "KNL", Level: ike.LevelError, Connection: "a.b c", IKEID: 7},
		}, "the beginning", "the end"},
		{"--monitor-sa", ike.Note{Kind: ike.NoteChildUp, IKEID: 2, Connection: "lab", Child: "a", ChildID: 9}, ike.Note{Kind: ike.NoteChildDown, IKEID: 1, Connection: "hq", Child: "net", ChildID: 7}, []ike.Note{
			{Kind: ike.NoteChildUp, IKEID: 1, Connection: "hq", Child: "net", ChildID: 8},
			{Kind: ike.NoteIKEUp, IKEID: 1, Connection: "hq"},
			{Kind: ike.NoteIKEDown, IKEID: 3, Connection: "new"},
			{Kind: ike.NoteChildDown, IKEID: 2, Connection: "lab", Child: "a", ChildID: 9},
			// Neither of them watches these.
			{Kind: ike.NoteIKERekeyed, IKEID: 1, Old: 1, Connection: "hq"},
			{Kind: ike.NoteChildRekeyed, IKEID: 1, Connection: "hq", Child: "net", ChildID: 8, Old: 7},
		}, "hq", `\b600\b`}, // octets that the last one has received
	} {
		for _, format := range formats {
			args := append([]string{watched.command}, format...)
			ctl, uri := serveStatus(t, &site{})
			st := *ctl.Status()
			engine := *st.Engine
			engine.Taken = time.Now().Add(time.Hour) // events need not wait for it
			st.Engine = &engine
			ctl.Set(&st)
			w := world{uri: uri}
			all := []*watcher{w.watchStock(t, args...), w.watchOurs(t, args...)}
			wrote := func(pattern string) func() bool {
				r := regexp.MustCompile(pattern)
				return func() bool {
					return !slices.ContainsFunc(all, func(w *watcher) bool { return !r.MatchString(w.text()) })
				}
			}
			until(t, func() bool { ctl.Publish(watched.ready); return wrote(`\n`)() })
			for _, n := range append(watched.notes, watched.last) {
				ctl.Publish(n)
			}
			until(t, wrote(watched.end))
			var got []result
			for _, w := range all {
				r := w.interrupt()
				before, _, _ := strings.Cut(r.Stdout, watched.first) // as many times as it was asked whether it is there
				r.Stdout = r.Stdout[strings.LastIndex(before, "\n")+1:]
				got = append(got, r)
			}
			compare(t, strings.Join(args, " "), got[0], got[1])
		}
	}
}

// until waits for something to become true.
func until(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("a swanctl does not write what was awaited")
		}
	}
}

// watcher is a swanctl that writes until it is interrupted.
type watcher struct {
	mu        sync.Mutex
	out, errs bytes.Buffer
	interrupt func() result
}

func (w *watcher) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

func (w *watcher) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// watchStock runs the stock swanctl so that each line comes at once: it would keep them for a pipe.
func (w world) watchStock(t *testing.T, args ...string) *watcher {
	t.Helper()
	cmd := w.stockCommand(t, args...)
	cmd.Args = append([]string{"stdbuf", "-oL", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/usr/bin/stdbuf"
	var out watcher
	cmd.Stdout, cmd.Stderr = &out, &out.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.interrupt = func() result {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // the status is compared
		return result{cmd.ProcessState.ExitCode(), out.text(), ownNoise.ReplaceAllString(out.errs.String(), "")}
	}
	return &out
}

// watchOurs runs our own.
func (w world) watchOurs(t *testing.T, args ...string) *watcher {
	ctx, cancel := context.WithCancel(t.Context())
	var out watcher
	ended := make(chan result, 1)
	go func() {
		status, errs := w.oursTo(t, ctx, &out, nobody, args...)
		ended <- result{Status: status, Stderr: errs}
	}()
	out.interrupt = func() result {
		cancel()
		r := <-ended
		r.Stdout = out.text()
		return r
	}
	return &out
}
