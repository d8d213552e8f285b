package vici

import (
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

const (
	eventQueue = 1024                  // events that wait for their status
	statusWait = time.Second           // an event waits so long for the status that shows it
	statusPoll = 10 * time.Millisecond // between two looks at it
)

// noted is a note, when it came, and the status of then.
type noted struct {
	ike.Note
	at     time.Time
	status *status.Status
}

// events sends the events that notes stand for. Each waits for the status that
// was taken after its note, since clients expect to see what changed. An SA that
// is gone by then is described from an older one: that of its note or, if the
// note came late, that of the event before, which had the SA since it came up.
func (s *server) events(queue <-chan noted, last *status.Status) {
	for n := range queue {
		event, write := noteEvent(n.Note)
		after := s.statusAfter(n.at)
		s.offer(event, func(b *Builder) { write(b, statuses{after, n.status, last}) })
		last = after
	}
}

func (s *server) statusAfter(t time.Time) *status.Status {
	tick := time.NewTicker(statusPoll)
	defer tick.Stop()
	deadline := time.Now().Add(statusWait)
	for {
		st := s.ctl.Status()
		if !st.Engine.Taken.Before(t) || time.Now().After(deadline) {
			return st
		}
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return st
		}
	}
}

// statuses are those in which to look for an SA, in this order.
type statuses []*status.Status

// ike finds an IKE SA and the status that it is in.
func (s statuses) ike(id uint32) (*ike.IKESAInfo, *status.Status) {
	for _, st := range s {
		for i := range st.Engine.IKESAs {
			if sa := &st.Engine.IKESAs[i]; sa.ID == id {
				return sa, st
			}
		}
	}
	return nil, nil
}

// child finds a CHILD_SA of an IKE SA.
func (s statuses) child(ikeID, id uint32) (*ike.ChildInfo, *status.Status) {
	for _, st := range s {
		for i := range st.Engine.IKESAs {
			if st.Engine.IKESAs[i].ID != ikeID {
				continue
			}
			for j := range st.Engine.IKESAs[i].Children {
				if ch := &st.Engine.IKESAs[i].Children[j]; ch.SA.ID == id {
					return ch, st
				}
			}
		}
	}
	return nil, nil
}

// noteEvent returns the event that a note stands for, if any.
func noteEvent(n ike.Note) (string, func(*Builder, statuses)) {
	switch n.Kind {
	case ike.NoteIKEUp:
		return "ike-updown", func(b *Builder, s statuses) {
			b.Key("up", "yes")
			writeUpDown(b, s, n)
		}
	case ike.NoteIKEDown:
		return "ike-updown", func(b *Builder, s statuses) { writeDown(b, s, n) }
	case ike.NoteIKERekeyed:
		return "ike-rekey", func(b *Builder, s statuses) {
			b.Section(n.Connection, func() {
				b.Section("old", func() { writeOldIKE(b, s, n.Old) })
				b.Section("new", func() { writeIKEByID(b, s, n.IKEID) })
			})
		}
	case ike.NoteChildUp:
		return "child-updown", func(b *Builder, s statuses) {
			b.Key("up", "yes")
			writeAround(b, s, n, func() {
				if ch, st := s.child(n.IKEID, n.ChildID); ch != nil {
					b.Section(childSection(ch), func() { writeChild(b, st, ch) })
				}
			})
		}
	case ike.NoteChildDown:
		return "child-updown", func(b *Builder, s statuses) { writeChildDown(b, s, n) }
	case ike.NoteIKEMoved:
		return "ike-update", func(b *Builder, s statuses) { writeMoved(b, s, n) }
	case ike.NoteAlert:
		return "alert", func(b *Builder, s statuses) {
			b.Key("type", string(n.Alert))
			if sa, _ := s.ike(n.IKEID); sa != nil {
				b.Section("ike-sa", func() { writeUpDown(b, s, n) })
			}
		}
	case ike.NoteChildRekeyed:
		return "child-rekey", func(b *Builder, s statuses) { writeChildRekey(b, s, n) }
	}
	return "", nil
}

func writeUpDown(b *Builder, s statuses, n ike.Note) {
	if sa, st := s.ike(n.IKEID); sa != nil {
		b.Section(sa.Connection, func() { writeIKE(b, st, sa) })
	}
}

// writeDown writes an IKE SA that is gone as one that is being deleted, whatever it was when it was last seen.
func writeDown(b *Builder, s statuses, n ike.Note) {
	if sa, st := s.ike(n.IKEID); sa != nil {
		gone := *sa
		gone.State = ike.IKEDeleting
		b.Section(sa.Connection, func() { writeIKE(b, st, &gone) })
	}
}

// writeMoved writes the new endpoints, and the IKE SA with the old ones.
func writeMoved(b *Builder, s statuses, n ike.Note) {
	b.Key("local-host", host(n.Moved.Local.Addr()))
	b.Keyf("local-port", "%d", n.Moved.Local.Port())
	b.Key("remote-host", host(n.Moved.Remote.Addr()))
	b.Keyf("remote-port", "%d", n.Moved.Remote.Port())
	if sa, st := s.ike(n.IKEID); sa != nil {
		old := *sa
		old.Local, old.Remote = n.Moved.OldLocal, n.Moved.OldRemote
		b.Section(sa.Connection, func() { writeIKE(b, st, &old) })
	}
}

// writeChildDown writes the IKE SA and, of its CHILD_SAs, the one that is gone, as one that is being deleted.
func writeChildDown(b *Builder, s statuses, n ike.Note) {
	writeAround(b, s, n, func() {
		if ch, st := s.child(n.IKEID, n.ChildID); ch != nil {
			gone := *ch
			gone.State = ike.ChildDeleting
			b.Section(childSection(ch), func() { writeChild(b, st, &gone) })
		}
	})
}

// writeAround writes a note's IKE SA, with what fill writes of its CHILD_SAs.
func writeAround(b *Builder, s statuses, n ike.Note, fill func()) {
	sa, st := s.ike(n.IKEID)
	if sa == nil {
		return
	}
	b.Section(sa.Connection, func() {
		writeIKE(b, st, sa)
		b.Section("child-sas", fill)
	})
}

func writeIKEByID(b *Builder, s statuses, id uint32) {
	if sa, st := s.ike(id); sa != nil {
		writeIKE(b, st, sa)
	}
}

// writeOldIKE describes an IKE SA in the moment in which it is replaced, however much later its status was taken.
func writeOldIKE(b *Builder, s statuses, id uint32) {
	if sa, st := s.ike(id); sa != nil {
		old := *sa
		old.State = ike.IKERekeying
		writeIKE(b, st, &old)
	}
}

func writeChildRekey(b *Builder, s statuses, n ike.Note) {
	writeAround(b, s, n, func() {
		b.Section(n.Child, func() {
			writeChildByID(b, s, "old", n.IKEID, n.Old)
			writeChildByID(b, s, "new", n.IKEID, n.ChildID)
		})
	})
}

func writeChildByID(b *Builder, s statuses, section string, ikeID, id uint32) {
	if ch, st := s.child(ikeID, id); ch != nil {
		b.Section(section, func() { writeChild(b, st, ch) })
	}
}
