package vici

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
)

func nextEvent(t *testing.T, ch <-chan vici.Event) vici.Event {
	t.Helper()
	select {
	case e := <-ch:
		return e
	case <-time.After(10 * time.Second):
		t.Fatal("no event")
	}
	panic("unreachable")
}

// later is the status with a change, taken in the future of every note.
func later(change func(*status.Status)) *status.Status {
	st := statustest.New()
	change(st)
	st.Engine.Taken = time.Now().Add(time.Hour)
	return st
}

func subscribe(t *testing.T, s *vici.Session, names ...string) <-chan vici.Event {
	t.Helper()
	ch := make(chan vici.Event, 16)
	s.NotifyEvents(ch)
	if err := s.Subscribe(names...); err != nil {
		t.Fatal(err)
	}
	return ch
}

// An IKE SA that went down is described as it last was: the status has it no
// more.
func TestIKEDownEventDescribesTheSA(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	events := subscribe(t, s, "ike-updown")
	ctl.Publish(ike.Note{Kind: ike.NoteIKEDown, Connection: "hq", IKEID: 1})
	ctl.Set(later(func(st *status.Status) { st.Engine.IKESAs = st.Engine.IKESAs[1:] }))
	m := nextEvent(t, events).Message
	sa, ok := m.Get("hq").(*vici.Message)
	if !ok || sa.Get("uniqueid") != "1" || sa.Get("state") != "DELETING" || sa.Get("child-sas") != nil || m.Get("up") != nil {
		t.Errorf("event %v", m)
	}
}

// A CHILD_SA that went down is described as it last was, alone.
func TestChildDownEvent(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	events := subscribe(t, s, "child-updown")
	ctl.Publish(ike.Note{Kind: ike.NoteChildDown, Connection: "hq", Child: "net", IKEID: 1, ChildID: 8})
	ctl.Set(later(func(st *status.Status) { st.Engine.IKESAs[0].Children = nil }))
	m := nextEvent(t, events).Message
	sa, _ := m.Get("hq").(*vici.Message)
	if sa == nil || sa.Get("uniqueid") != "1" || m.Get("up") != nil {
		t.Fatalf("event %v", m)
	}
	children, _ := sa.Get("child-sas").(*vici.Message)
	if children == nil || len(children.Keys()) != 1 || children.Get("net-8").(*vici.Message).Get("spi-in") != "c0ffee08" || children.Get("net-8").(*vici.Message).Get("state") != "DELETING" {
		t.Errorf("children %v", children)
	}
}

// The event of an IKE SA that came up waits for the status that says so.
func TestIKEUpEventIsNotStale(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	events := subscribe(t, s, "ike-updown")
	ctl.Publish(ike.Note{Kind: ike.NoteIKEUp, Connection: "new", IKEID: 3})
	ctl.Set(later(func(st *status.Status) { st.Engine.IKESAs[2].State = ike.IKEEstablished }))
	m := nextEvent(t, events).Message
	sa, ok := m.Get("new").(*vici.Message)
	if !ok || m.Get("up") != "yes" || sa.Get("state") != "ESTABLISHED" {
		t.Errorf("event %v", m)
	}
}

// The event of an IKE SA that moves has the new endpoints, and describes it with the old ones.
func TestMovedEvent(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	events := subscribe(t, s, "ike-update")
	ctl.Set(later(func(*status.Status) {}))
	end := netip.MustParseAddrPort
	ctl.Publish(ike.Note{Kind: ike.NoteIKEMoved, Connection: "hq", IKEID: 1, Moved: &ike.Moved{
		OldLocal: end("192.0.2.1:500"), OldRemote: end("203.0.113.6:500"), Local: end("192.0.2.1:4500"), Remote: end("203.0.113.7:4501"),
	}})
	m := nextEvent(t, events).Message
	sa, _ := m.Get("hq").(*vici.Message)
	if got := m.Keys(); !slices.Equal(got, []string{"local-host", "local-port", "remote-host", "remote-port", "hq"}) {
		t.Fatalf("keys %v", got)
	}
	if m.Get("remote-host") != "203.0.113.7" || m.Get("remote-port") != "4501" || sa.Get("remote-host") != "203.0.113.6" || sa.Get("local-port") != "500" || sa.Get("child-sas") != nil {
		t.Errorf("event %v", m)
	}
}

// An alert names its IKE SA, if it is about one; what has no text is not in the log.
func TestAlertEvent(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	events := subscribe(t, s, "alert", "log")
	ctl.Set(later(func(*status.Status) {}))
	ctl.Publish(ike.Note{Kind: ike.NoteAlert, Alert: ike.AlertRetransmitSend, Connection: "hq", IKEID: 1})
	ctl.Publish(ike.Note{Kind: ike.NoteAlert, Alert: ike.AlertInvalidSPI})
	first, second := nextEvent(t, events), nextEvent(t, events)
	if first.Name != "alert" || first.Message.Get("type") != "retransmit-send" {
		t.Fatalf("first event %s %v", first.Name, first.Message)
	}
	sa, _ := first.Message.Get("ike-sa").(*vici.Message).Get("hq").(*vici.Message)
	if sa == nil || sa.Get("uniqueid") != "1" || sa.Get("child-sas") != nil {
		t.Errorf("its IKE SA: %v", sa)
	}
	if second.Message.Get("type") != "invalid-ike-spi" || second.Message.Get("ike-sa") != nil {
		t.Errorf("second event %v", second.Message)
	}
}

func TestRekeyEvents(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	events := subscribe(t, s, "ike-rekey", "child-rekey")
	ctl.Set(later(func(*status.Status) {}))
	ctl.Publish(ike.Note{Kind: ike.NoteIKERekeyed, Connection: "hq", Old: 1, IKEID: 2})
	m := nextEvent(t, events).Message.Get("hq").(*vici.Message)
	for section, id := range map[string]string{"old": "1", "new": "2"} {
		if got := m.Get(section).(*vici.Message).Get("uniqueid"); got != id {
			t.Errorf("ike-rekey %s is %v, want %s", section, got, id)
		}
	}
	if got := m.Get("old").(*vici.Message).Get("state"); got != "REKEYING" { // as with charon
		t.Errorf("the state of the old one is %v", got)
	}
	ctl.Publish(ike.Note{Kind: ike.NoteChildRekeyed, Connection: "hq", Child: "net", IKEID: 1, Old: 7, ChildID: 8})
	m = nextEvent(t, events).Message.Get("hq").(*vici.Message).Get("child-sas").(*vici.Message).Get("net").(*vici.Message)
	for section, spi := range map[string]string{"old": "c0ffee07", "new": "c0ffee08"} {
		if got := m.Get(section).(*vici.Message).Get("spi-in"); got != spi {
			t.Errorf("child-rekey %s has spi-in %v, want %s", section, got, spi)
		}
	}
}

func TestLogEvent(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	events := subscribe(t, s, "log")
	ctl.Publish(ike.Note{Group: "IKE", Level: ike.LevelWarn, Connection: "hq", IKEID: 1, Text: "peer is dead"})
	m := nextEvent(t, events).Message
	for k, want := range map[string]string{"group": "IKE", "level": "0", "ikesa-name": "hq", "ikesa-uniqueid": "1", "msg": "peer is dead"} {
		if m.Get(k) != want {
			t.Errorf("%s = %v, want %s", k, m.Get(k), want)
		}
	}
}
