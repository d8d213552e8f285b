package bgp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	gobgplog "github.com/osrg/gobgp/v3/pkg/log"
)

// logAdapter gives GoBGP's log to slog at debug level, since every line for
// people is written by us, and listens for the reasons that its events leave
// out. GoBGP calls it with locks held: it must not call back.
type logAdapter struct {
	log    *slog.Logger
	reason func(key, reason string) // why there is no session with the neighbour at address key
	told   sync.Map                 // keys of neighbours whose message we have just refused
}

// GetLevel is debug, always: the reasons are in debug records.
func (l *logAdapter) GetLevel() gobgplog.LogLevel { return gobgplog.DebugLevel }

func (l *logAdapter) SetLevel(gobgplog.LogLevel) {}

// Panic and Fatal report what GoBGP calls a bug of its own. The process ends,
// as it would with GoBGP's logger; the supervisor starts another.
func (l *logAdapter) Panic(msg string, f gobgplog.Fields) { l.die(msg, f) }
func (l *logAdapter) Fatal(msg string, f gobgplog.Fields) { l.die(msg, f) }

func (l *logAdapter) die(msg string, f gobgplog.Fields) {
	l.write(slog.LevelError, msg, f)
	panic("gobgp: " + msg)
}

func (l *logAdapter) Error(msg string, f gobgplog.Fields) { l.write(slog.LevelWarn, msg, f) }

func (l *logAdapter) Warn(msg string, f gobgplog.Fields) {
	if msg == "sent notification" || msg == "received notification" {
		l.noteNotification(msg, f)
	}
	l.write(slog.LevelDebug, msg, f)
}

func (l *logAdapter) Info(msg string, f gobgplog.Fields) {
	if msg == "Peer Down" {
		l.reason(text(f["Key"]), downReason(text(f["Reason"])))
	}
	l.write(slog.LevelDebug, msg, f)
}

func (l *logAdapter) Debug(msg string, f gobgplog.Fields) {
	switch msg {
	case "failed to connect":
		l.reason(text(f["Key"]), text(f["Error"]))
	case "state changed":
		// Either we refused the OPEN and said why, or the neighbour refused ours.
		if text(f["reason"]) == "invalid-msg" {
			if _, told := l.told.LoadAndDelete(text(f["Key"])); !told {
				l.reason(text(f["Key"]), downReason("invalid-msg"))
			}
		}
	}
	l.write(slog.LevelDebug, msg, f)
}

// noteNotification keeps what a NOTIFICATION said (RFC 4271 section 6).
func (l *logAdapter) noteNotification(msg string, f gobgplog.Fields) {
	if err, ok := f["Data"].(error); ok {
		l.told.Store(text(f["Key"]), nil)
		l.reason(text(f["Key"]), "we refused the neighbour's message: "+err.Error())
	}
}

func (l *logAdapter) write(level slog.Level, msg string, f gobgplog.Fields) {
	if !l.log.Enabled(context.Background(), level) {
		return
	}
	attrs := make([]slog.Attr, 0, len(f))
	for _, k := range slices.Sorted(maps.Keys(f)) {
		attrs = append(attrs, slog.String(k, text(f[k])))
	}
	l.log.LogAttrs(context.Background(), level, "gobgp: "+msg, attrs...)
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
