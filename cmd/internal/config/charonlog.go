package config

import (
	"errors"
	"log/syslog"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/charonlog"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// charonLogs reads the sections filelog, syslog and journal: where the log goes beside the daemon's own.
func (l *loader) charonLogs(sec *settings.Section) {
	for _, s := range sec.Section("filelog").Sections() {
		r := l.section(s, "charon.filelog.*", "charon.filelog."+s.Name)
		c := charonlog.Config{File: s.Name, Append: true, Default: 1}
		read(r, "path", &c.File, text)
		read(r, "append", &c.Append, parseBool)
		read(r, "flush_line", &c.FlushLine, parseBool)
		read(r, "time_add_ms", &c.AddMS, parseBool)
		c.Stamp = read(r, "time_format", &c.TimeFormat, text)
		if c.File != "stderr" && c.File != "stdout" && !strings.HasPrefix(c.File, "/") {
			r.fail(r.at("path"), "%s: %q is no absolute path; expected path = /var/log/charon.log, or stderr or stdout", r.path, c.File)
			continue
		}
		l.charonSink(r, c)
	}
	logs := l.section(sec.Section("syslog"), "charon.syslog", "charon.syslog")
	tag := "charon"
	read(logs, "identifier", &tag, text)
	for _, s := range sec.Section("syslog").Sections() {
		facility, known := facilities[strings.ToLower(s.Name)]
		if !known {
			l.warn(s.Position, "charon.syslog.%s: no such facility; expected daemon or auth", s.Name)
			continue
		}
		r := l.section(s, "charon.syslog.*", "charon.syslog."+s.Name)
		l.charonSink(r, charonlog.Config{Facility: facility, Tag: tag, Default: 1})
	}
	if s := sec.Section("journal"); !empty(s) {
		l.charonLevels(l.section(s, "charon.journal", "charon.journal"), charonlog.Config{Journal: true, Default: 1})
	}
}

var facilities = map[string]syslog.Priority{
	"daemon": syslog.LOG_DAEMON, "auth": syslog.LOG_AUTHPRIV, "local0": syslog.LOG_LOCAL0, "local1": syslog.LOG_LOCAL1, "local2": syslog.LOG_LOCAL2,
	"local3": syslog.LOG_LOCAL3, "local4": syslog.LOG_LOCAL4, "local5": syslog.LOG_LOCAL5, "local6": syslog.LOG_LOCAL6, "local7": syslog.LOG_LOCAL7,
}

// charonSink reads what files and syslog have in common.
func (l *loader) charonSink(r *reader, c charonlog.Config) {
	read(r, "ike_name", &c.IKEName, parseBool)
	read(r, "log_level", &c.ShowLevel, parseBool)
	l.charonLevels(r, c)
}

// charonLevels reads what is written to a log.
func (l *loader) charonLevels(r *reader, c charonlog.Config) {
	read(r, "default", &c.Default, parseLevel)
	c.Levels = map[string]int{}
	for _, g := range charonlog.Groups {
		level := 0
		if read(r, g, &level, parseLevel) {
			c.Levels[g] = level
		}
	}
	for _, k := range r.sec.Keys() {
		if !r.known[k.Name] {
			l.warn(k.Value.Position, "%s.%s is without effect here", r.path, k.Name)
		}
	}
	l.config.CharonLogs = append(l.config.CharonLogs, c)
}

// parseLevel reads how much is written: -1 is nothing, 4 is everything.
func parseLevel(s string) (int, error) {
	levels := map[string]int{"-1": -1, "0": 0, "1": 1, "2": 2, "3": 3, "4": 4}
	n, ok := levels[s]
	if !ok {
		return 0, errors.New("expected a level from -1 to 4")
	}
	return n, nil
}
