package updown

import (
	"bytes"
	"log/slog"
)

// longestLine is how many octets of a script's line are logged as one.
const longestLine = 1024

// lines logs what a script writes.
type lines struct {
	log  *slog.Logger
	rest []byte
}

// Write takes output in any pieces.
func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		switch {
		case i >= 0:
			l.say(l.rest[:i])
			l.rest = l.rest[i+1:]
		case len(l.rest) >= longestLine:
			l.say(l.rest[:longestLine])
			l.rest = l.rest[longestLine:]
		default:
			return len(b), nil
		}
	}
}

// flush logs a last line without an end.
func (l *lines) flush() {
	if len(l.rest) > 0 {
		l.say(l.rest)
	}
	l.rest = nil
}

func (l *lines) say(line []byte) { l.log.Info("updown: " + string(line)) }
