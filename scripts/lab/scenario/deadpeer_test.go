//go:build lab

package scenario

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestDeadPeerActions cuts the sites off from each other, with one tunnel for each
// action and for each daemon that watches its peer. All are gone then; when the way is
// free again, those with restart come back by themselves, those with clear do not, and those with trap when
// there is something to send.
func TestDeadPeerActions(t *testing.T) {
	needIpsecd(t)
	s := newSites(t)
	watchers := []struct {
		action string
		us     bool
	}{{"restart", true}, {"restart", false}, {"clear", true}, {"clear", false}, {"trap", true}, {"trap", false}}
	var links []*link
	for i, w := range watchers {
		l := s.link(fmt.Sprintf("%s-%v", w.action, w.us), i+1, w.us)
		l.a.conn, l.a.child = "dpd_delay = 1s", "dpd_action = "+w.action
		links = append(links, l)
	}
	s.start(t, links, &siteFiles{}, "retransmit_timeout = 1.0\nretransmit_base = 1.5\nretransmit_tries = 3")
	for _, l := range links {
		l.a.control.Initiate(t, l.name)
		awaitChild(t, l.name, l.a.control, l.b.control)
	}
	s.transit.Nft(t, "table ip cut {\n chain forward {\n  type filter hook forward priority filter\n  drop\n }\n}\n")
	for _, l := range links {
		labtest.WaitFor(t, faultTime, "the end of "+l.name, func() error { return goneAt(l.name, l.a.control) })
	}
	s.transit.Nft(t, "delete table ip cut\n")
	for i, l := range links {
		if watchers[i].action != "restart" {
			continue
		}
		awaitChild(t, l.name, l.a.control, l.b.control)
		pingBothWays(t, l)
		checkStates(t, l, false)
	}
	for i, l := range links {
		if err := goneAt(l.name, l.a.control); watchers[i].action != "restart" && err != nil {
			t.Error(err)
		}
		if watchers[i].action == "trap" {
			awaitPing(t, l)
			awaitChild(t, l.name, l.a.control, l.b.control)
			pingBothWays(t, l)
			checkStates(t, l, false)
		}
	}
}

// TestStartActionReload changes what shall be started, in either daemon's configuration: a
// reload starts what is new and closes what is no more, and touches nothing else.
func TestStartActionReload(t *testing.T) {
	needIpsecd(t)
	s := newSites(t)
	links := []*link{s.link("reload-us", 1, true), s.link("reload-them", 2, false)}
	second := func(l *link, start string) (a, b string) {
		nets := [2]string{aliceNet(l.n + secondNet), bobNet(l.n + secondNet)}
		text := "%s-2 {\nlocal_ts = %s\nremote_ts = %s\nesp_proposals = aes128gcm16\n%s\n}"
		ours, theirs := fmt.Sprintf(text, l.name, nets[0], nets[1], start), fmt.Sprintf(text, l.name, nets[1], nets[0], start)
		if l.a.ns == s.us {
			return ours, theirs
		}
		return theirs, ours
	}
	for _, l := range links {
		l.a.child = "start_action = start"
		_, l.b.more = second(l, "")
	}
	us, them := s.start(t, links, &siteFiles{}, quickRetransmit)
	reload := func() {
		t.Helper()
		ours, theirs := s.conf(links)
		labtest.WriteFile(t, filepath.Join(us.Dir, "swanctl.conf"), ours)
		if _, err := us.Ctl("reload"); err != nil {
			t.Fatal(err)
		}
		them.Load(t, theirs)
	}
	first := make([]labtest.ChildSA, len(links))
	for i, l := range links {
		awaitChild(t, l.name, l.a.control, l.b.control)
		first[i], _ = l.a.control.Child(l.name)
		l.a.more, _ = second(l, "start_action = start")
	}
	reload()
	other := make([]labtest.ChildSA, len(links))
	for i, l := range links {
		other[i] = awaitSecond(t, l)
		if now, err := l.a.control.Child(l.name); err != nil || now.SPIIn != first[i].SPIIn {
			t.Errorf("%s was replaced: %s, then %s %v", l.name, first[i].SPIIn, now.SPIIn, err)
		}
		l.a.alone = true
	}
	reload()
	for i, l := range links {
		labtest.WaitFor(t, setupTime, "the end of "+l.name, func() error { return goneAt(l.name, l.a.control, l.b.control) })
		if now := awaitSecond(t, l); now.SPIIn != other[i].SPIIn {
			t.Errorf("%s-2 was replaced: %s, then %s", l.name, other[i].SPIIn, now.SPIIn)
		}
	}
}

// awaitSecond waits until the second child of a tunnel is there, and returns it.
func awaitSecond(t *testing.T, l *link) (found labtest.ChildSA) {
	t.Helper()
	labtest.WaitFor(t, setupTime, l.name+"-2", func() error {
		ike, err := l.a.control.IKE(l.name)
		if err != nil {
			return err
		}
		for _, c := range ike.Children {
			if c.Name == l.name+"-2" && c.State == "INSTALLED" {
				found = c
				return nil
			}
		}
		return fmt.Errorf("not installed")
	})
	return found
}
