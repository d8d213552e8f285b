package charonlog

import (
	"bufio"
	"fmt"
	"io"
	"log/syslog"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// Groups are charon's subsystems, as the configuration names them.
var Groups = []string{"asn", "app", "cfg", "chd", "dmn", "enc", "esp", "ike", "imc", "imv", "job", "knl", "lib", "mgr", "net", "pts", "tls", "tnc"}

// Config is a place where lines go.
type Config struct {
	Journal  bool   // systemd's journal
	File     string // else a path, or stderr or stdout; empty: syslog
	Facility syslog.Priority
	Tag      string // of syslog; empty: the program's name

	Levels     map[string]int // by group; of others it is Default
	Default    int            // highest level that is written; -1: none
	IKEName    bool           // name the IKE SA
	ShowLevel  bool
	Append     bool
	FlushLine  bool
	Stamp      bool // begin with the time
	TimeFormat string
	AddMS      bool // milliseconds after the time
}

// wants reports whether lines of a group and level go there.
func (c *Config) wants(group string, level int) bool {
	most, named := c.Levels[strings.ToLower(group)]
	if !named {
		most = c.Default
	}
	return level <= most
}

// line is one to be written.
type line struct {
	at    time.Time
	group string
	level int
	name  string // of the IKE SA; empty: it concerns none
	id    string // likewise
	text  string
}

const (
	waiting   = 4096        // lines that a slow sink may be behind
	flushTime = time.Second // between two flushes of a file without flush_line; and how long the end waits
)

// sink writes lines on a goroutine of its own.
type sink struct {
	conf  Config
	lines chan line
	lost  atomic.Uint64
	done  chan struct{}
}

func newSink(c Config) (*sink, error) {
	var w io.WriteCloser
	switch {
	case c.Journal:
		w = &journal{socket: journalSocket}
	case c.File == "":
		var err error
		if w, err = syslog.New(c.Facility|syslog.LOG_INFO, c.Tag); err != nil {
			return nil, fmt.Errorf("syslog: %w", err)
		}
	case c.File == "stderr":
		w = keepOpen{os.Stderr}
	case c.File == "stdout":
		w = keepOpen{os.Stdout}
	default:
		flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if c.Append {
			flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
		}
		f, err := os.OpenFile(c.File, flags, 0o640)
		if err != nil {
			return nil, err
		}
		w = f
	}
	s := &sink{conf: c, lines: make(chan line, waiting), done: make(chan struct{})}
	go s.run(w)
	return s, nil
}

// keepOpen is what others use, too.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

func (s *sink) put(l line) {
	select {
	case s.lines <- l:
	default:
		s.lost.Add(1)
	}
}

func (s *sink) run(w io.WriteCloser) {
	defer close(s.done)
	defer w.Close()
	out := bufio.NewWriter(w)
	flush := time.NewTicker(flushTime)
	defer flush.Stop()
	for {
		select {
		case l, more := <-s.lines:
			if !more {
				_ = out.Flush()
				return
			}
			if n := s.lost.Swap(0); n > 0 {
				s.write(w, out, line{at: l.at, group: "DMN", text: fmt.Sprintf("%d lines of the log are missing: it could not be written", n)})
			}
			s.write(w, out, l)
		case <-flush.C:
			_ = out.Flush()
		}
	}
}

// write writes a line, or several if the text has line ends. Each is one message to syslog.
func (s *sink) write(w io.Writer, out *bufio.Writer, l line) {
	if s.conf.Journal {
		if _, err := w.Write(entry(l)); err != nil {
			s.lost.Add(1)
		}
		return
	}
	for text := range strings.SplitSeq(l.text, "\n") {
		full := s.conf.format(l, text)
		if s.conf.File == "" {
			if _, err := io.WriteString(w, full); err != nil {
				s.lost.Add(1)
			}
			continue
		}
		if _, err := out.WriteString(full + "\n"); err != nil {
			s.lost.Add(1)
			out.Reset(w) // else the error stays for ever
		}
	}
	if s.conf.FlushLine {
		if out.Flush() != nil {
			s.lost.Add(1)
			out.Reset(w)
		}
	}
}

// format makes charon's line of a text. We have no threads to number.
func (c *Config) format(l line, text string) string {
	var b strings.Builder
	if c.Stamp {
		b.WriteString(strftime(c.TimeFormat, l.at))
		if c.AddMS {
			fmt.Fprintf(&b, ".%03d", l.at.Nanosecond()/int(time.Millisecond))
		}
		b.WriteByte(' ')
	}
	b.WriteString("00[" + l.group)
	if c.ShowLevel {
		fmt.Fprintf(&b, "%d", l.level)
	}
	b.WriteString("] ")
	if c.IKEName && l.name != "" {
		fmt.Fprintf(&b, "<%s|%s> ", l.name, l.id)
	}
	return b.String() + text
}

// close writes what waits, as far as it is taken in time.
func (s *sink) close() {
	close(s.lines)
	select {
	case <-s.done:
	case <-time.After(flushTime):
	}
}
