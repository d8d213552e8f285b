package main

import (
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/vici"
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
