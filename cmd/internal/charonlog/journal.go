package charonlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/syslog"
	"net"
	"strings"
)

// journalSocket is where systemd's journal takes entries in its native protocol.
const journalSocket = "/run/systemd/journal/socket"

// journalName is the program that the readers of charon's entries ask for.
const journalName = "charon-systemd"

// journal writes entries, each in one datagram. It goes on when the journal's service has been restarted.
type journal struct {
	socket string
	conn   net.Conn
}

func (j *journal) Write(entry []byte) (int, error) {
	if j.conn != nil {
		if n, err := j.conn.Write(entry); err == nil {
			return n, nil
		}
		j.conn.Close()
	}
	var err error
	if j.conn, err = net.Dial("unixgram", j.socket); err != nil {
		j.conn = nil
		return 0, fmt.Errorf("the journal: %w", err)
	}
	return j.conn.Write(entry)
}

func (j *journal) Close() error {
	if j.conn == nil {
		return nil
	}
	return j.conn.Close()
}

// entry has charon's fields. We have no threads to number.
func entry(l line) []byte {
	var b bytes.Buffer
	field := func(name, value string) {
		if !strings.Contains(value, "\n") {
			fmt.Fprintf(&b, "%s=%s\n", name, value)
			return
		}
		b.WriteString(name + "\n")
		b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(value))))
		b.WriteString(value + "\n")
	}
	field("MESSAGE", l.text)
	field("PRIORITY", fmt.Sprint(int(priority(l.level))))
	field("SYSLOG_IDENTIFIER", journalName)
	field("LEVEL", fmt.Sprint(l.level))
	field("THREAD", "0")
	field("GROUP", l.group)
	if l.name != "" {
		field("IKE_SA_UNIQUE_ID", l.id)
		field("IKE_SA_NAME", l.name)
	}
	return b.Bytes()
}

func priority(level int) syslog.Priority {
	switch {
	case level <= levelAudit:
		return syslog.LOG_NOTICE
	case level == levelControl:
		return syslog.LOG_INFO
	}
	return syslog.LOG_DEBUG
}
