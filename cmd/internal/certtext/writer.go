package certtext

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"
)

// Writer writes to W as of the time Now.
type Writer struct {
	W        io.Writer
	Now      time.Time
	Detailed bool // extensions and lists of revoked certificates, too
	UTC      bool // times in UTC, not in the zone of the host
}

// line writes a value under its name. Further values of the same name have none.
func (w *Writer) line(name, format string, args ...any) {
	fmt.Fprintf(w.W, "  %-10s %s\n", name, fmt.Sprintf(format, args...))
}

// list writes values that hang below their name: the first one beside it.
func (w *Writer) list(name string, values []string) {
	for i, v := range values {
		if i == 0 {
			w.line(name, "%s", v)
			continue
		}
		w.below(v)
	}
}

// below writes a value on a line of its own.
func (w *Writer) below(v string) { fmt.Fprintf(w.W, "           %s\n", v) }

func (w *Writer) time(t time.Time) string {
	if w.UTC {
		return t.UTC().Format("Jan 02 15:04:05 MST 2006")
	}
	return t.Local().Format("Jan 02 15:04:05 2006")
}

// began tells of the time from which something holds.
func (w *Writer) began(t time.Time) string {
	if w.Now.Before(t) {
		return fmt.Sprintf("%s, not valid yet (valid in %s)", w.time(t), between(w.Now, t))
	}
	return w.time(t) + ", ok"
}

// ends tells of the time after which it no longer does.
func (w *Writer) ends(t time.Time) string {
	if w.Now.After(t) {
		return fmt.Sprintf("%s, expired (%s ago)", w.time(t), between(t, w.Now))
	}
	return fmt.Sprintf("%s, ok (expires in %s)", w.time(t), between(w.Now, t))
}

// between counts whole seconds of the clock.
func between(from, to time.Time) string { return Span(to.Unix() - from.Unix()) }

// Span writes a number of seconds in the largest unit of which there are more than two.
func Span(seconds int64) string {
	n, unit := seconds, "second"
	for _, u := range []struct {
		name string
		size int64
	}{{"day", 86400}, {"hour", 3600}, {"minute", 60}} {
		if seconds > 2*u.size {
			n, unit = seconds/u.size, u.name
			break
		}
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// pairs writes octets as pairs of hexadecimal digits between colons.
func pairs(b []byte) string {
	out := make([]string, len(b))
	for i := range b {
		out[i] = hex.EncodeToString(b[i : i+1])
	}
	return strings.Join(out, ":")
}

func serial(n *big.Int) string {
	if n == nil || n.Sign() == 0 {
		return "00"
	}
	return pairs(n.Bytes())
}

// hash is the SHA-1 of octets, by which keys are named.
func hash(b []byte) string {
	sum := sha1.Sum(b)
	return pairs(sum[:])
}
