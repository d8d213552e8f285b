package vici

import (
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

// broadcast hands the engine's notes to the clients that registered for the log,
// and those that are events to events. first is the status before all notes.
func (s *server) broadcast(notes <-chan ike.Note, first *status.Status) {
	queue := make(chan noted, eventQueue)
	s.wg.Go(func() { s.events(queue, first) })
	defer close(queue)
	for n := range notes {
		if n.Text != "" {
			s.offer("log", func(b *Builder) { writeLog(b, n) })
		}
		if event, _ := noteEvent(n); event == "" || n.Kind == ike.NoteAlert && !s.registered(event) {
			continue // nobody asks for alerts that others cause, of which there may be many
		}
		select {
		case queue <- noted{n, time.Now(), s.ctl.Status()}:
		default:
			s.log.Warn("VICI event lost: too many at once")
		}
	}
}

// registered reports whether a client wants an event.
func (s *server) registered(event string) bool {
	return slices.ContainsFunc(s.snapshotConns(), func(c *conn) bool { return c.registered(event) > 0 })
}

// offer encodes an event once, if anybody wants it.
func (s *server) offer(event string, fill func(*Builder)) {
	var encoded []byte
	for _, c := range s.snapshotConns() {
		for range c.registered(event) {
			if encoded == nil {
				var b Builder
				fill(&b)
				var err error
				if encoded, err = (packet{kind: eventPacket, name: event, body: b.Bytes()}).append(nil); err != nil {
					s.log.Error("VICI event discarded", "event", event, "err", err)
					return
				}
			}
			c.offer(encoded)
		}
	}
}

func writeLog(b *Builder, n ike.Note) {
	b.Key("group", n.Group)
	b.Keyf("level", "%d", logLevel(n))
	b.Key("thread", "0")
	if n.Connection != "" {
		b.Key("ikesa-name", n.Connection)
	}
	if n.IKEID != 0 {
		b.Keyf("ikesa-uniqueid", "%d", n.IKEID)
	}
	b.Key("msg", n.Text)
}

// logLevel returns charon's level of a note.
func logLevel(n ike.Note) int {
	switch n.Level {
	case ike.LevelWarn, ike.LevelError:
		return 0
	case ike.LevelDebug:
		return 2
	}
	return 1
}
