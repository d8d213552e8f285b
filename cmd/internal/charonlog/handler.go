package charonlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// charon's levels.
const (
	levelAudit   = 0
	levelControl = 1
	levelMore    = 2
)

type auditKey struct{}

// Audit marks what is logged with the context as of charon's level 0: SAs that come and go.
func Audit(ctx context.Context) context.Context { return context.WithValue(ctx, auditKey{}, true) }

// Log is all the places where lines go beside the daemon's own log. Its methods are safe for concurrent use.
type Log struct {
	mu    sync.RWMutex
	sinks []*sink
}

// Configure opens the places anew, also those that stay: their files may have been moved away. What cannot be opened is
// left out, and told.
func (l *Log) Configure(list []Config) error {
	var errs []error
	var next []*sink
	l.mu.Lock()
	old := l.sinks
	l.sinks = nil
	l.mu.Unlock()
	for _, s := range old {
		s.close()
	}
	for _, c := range list {
		s, err := newSink(c)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		next = append(next, s)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sinks = next
	return errors.Join(errs...)
}

// Close writes what waits and closes the places.
func (l *Log) Close() { _ = l.Configure(nil) }

func (l *Log) put(n line) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, s := range l.sinks {
		if s.conf.wants(n.group, n.level) {
			s.put(n)
		}
	}
}

// wants reports whether any place takes lines of a level, of whatever group.
func (l *Log) wants(level int) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, s := range l.sinks {
		if s.conf.Default >= level {
			return true
		}
		for _, most := range s.conf.Levels {
			if most >= level {
				return true
			}
		}
	}
	return false
}

// Handler returns a handler that writes to the log, and to next.
func (l *Log) Handler(next slog.Handler) slog.Handler { return &handler{log: l, next: next} }

type handler struct {
	log   *Log
	next  slog.Handler
	attrs []slog.Attr
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level) || h.log.wants(charonLevel(ctx, level))
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.log, h.next.WithAttrs(attrs), append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.log, h.next.WithGroup(name), h.attrs}
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	n := line{at: r.Time, group: "DMN", level: charonLevel(ctx, r.Level)}
	var connection, id string
	var more strings.Builder
	each := func(a slog.Attr) bool {
		switch a.Key {
		case "group":
			n.group = a.Value.String()
		case "connection":
			connection = a.Value.String()
		case "ike":
			id = a.Value.String()
		case "child":
		default:
			fmt.Fprintf(&more, " %s=%v", a.Key, a.Value)
		}
		return true
	}
	for _, a := range h.attrs {
		each(a)
	}
	r.Attrs(each)
	if connection != "" && id != "" {
		n.name, n.id = connection, id
	}
	n.text = r.Message + more.String()
	if n.at.IsZero() {
		n.at = time.Now()
	}
	h.log.put(n)
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

func charonLevel(ctx context.Context, level slog.Level) int {
	switch {
	case level < slog.LevelInfo:
		return levelMore
	case ctx.Value(auditKey{}) != nil:
		return levelAudit
	}
	return levelControl
}
