package daemon

import (
	"context"
	"log/slog"
	"sync"

	"github.com/ipsecd/ipsecd/cmd/internal/charonlog"
	"github.com/ipsecd/ipsecd/ike"
)

// noteBuffer is how many notes a slow reader may be behind before it loses some.
const noteBuffer = 1024

// notes writes the engine's notes to the log and hands them to subscribers.
type notes struct {
	log  *slog.Logger
	mu   sync.Mutex
	subs map[chan ike.Note]bool
}

func newNotes(log *slog.Logger) *notes {
	return &notes{log: log, subs: map[chan ike.Note]bool{}}
}

// subscribe returns a channel of the notes from now on, closed when ctx ends.
func (n *notes) subscribe(ctx context.Context) <-chan ike.Note {
	ch := make(chan ike.Note, noteBuffer)
	n.mu.Lock()
	n.subs[ch] = true
	n.mu.Unlock()
	context.AfterFunc(ctx, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.subs, ch)
		close(ch)
	})
	return ch
}

// publish never blocks: who does not read loses notes.
func (n *notes) publish(note ike.Note) {
	if note.Text != "" {
		n.write(note)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for ch := range n.subs {
		select {
		case ch <- note:
		default:
		}
	}
}

func (n *notes) write(note ike.Note) {
	args := []any{"group", note.Group}
	if note.Connection != "" {
		args = append(args, "connection", note.Connection)
	}
	if note.IKEID != 0 {
		args = append(args, "ike", note.IKEID)
	}
	ctx := context.Background()
	switch note.Kind {
	case ike.NoteIKEUp, ike.NoteIKEDown, ike.NoteIKERekeyed, ike.NoteChildUp, ike.NoteChildDown, ike.NoteChildRekeyed:
		ctx = charonlog.Audit(ctx)
	}
	n.log.Log(ctx, slogLevel(note.Level), note.Text, args...)
}

func slogLevel(l ike.NoteLevel) slog.Level {
	switch l {
	case ike.LevelDebug:
		return slog.LevelDebug
	case ike.LevelWarn:
		return slog.LevelWarn
	case ike.LevelError:
		return slog.LevelError
	}
	return slog.LevelInfo
}
