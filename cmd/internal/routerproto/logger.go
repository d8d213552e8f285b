package routerproto

import (
	"context"
	"log/slog"
)

// NewLogHandler returns a handler that gives every record of level or above to
// send, which several goroutines may call and which should not block.
func NewLogHandler(send func(Log) error, level slog.Leveler) slog.Handler {
	return &logHandler{send: send, level: level}
}

type logHandler struct {
	send  func(Log) error
	level slog.Leveler
	attrs []Attr
	group string
}

func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.Level() }

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	m := Log{Time: r.Time, Level: r.Level, Message: r.Message}
	m.Attrs = append(m.Attrs, h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		m.Attrs = appendAttr(m.Attrs, h.group, a)
		return true
	})
	return h.send(m)
}

func (h *logHandler) WithAttrs(as []slog.Attr) slog.Handler {
	n := *h
	n.attrs = append([]Attr(nil), h.attrs...)
	for _, a := range as {
		n.attrs = appendAttr(n.attrs, h.group, a)
	}
	return &n
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	n := *h
	n.group = join(h.group, name)
	return &n
}

func appendAttr(to []Attr, group string, a slog.Attr) []Attr {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		for _, g := range v.Group() {
			to = appendAttr(to, join(group, a.Key), g)
		}
		return to
	}
	return append(to, Attr{Key: join(group, a.Key), Value: v.String()})
}

func join(group, key string) string {
	if group == "" || key == "" {
		return group + key
	}
	return group + "." + key
}

// Record is l as slog's record, for the keying process's own log.
func (l *Log) Record() slog.Record {
	r := slog.NewRecord(l.Time, l.Level, l.Message, 0)
	for _, a := range l.Attrs {
		r.AddAttrs(slog.String(a.Key, a.Value))
	}
	return r
}
