package iketest

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// Message is one datagram under way.
type Message struct {
	N         int // its number in the run, from 1; keepalives have none
	Sent      time.Time
	From, To  string
	Src, Dst  netip.AddrPort // on the wire, behind the sender's NAT
	Marker    bool           // the non-ESP marker precedes Data (RFC 3948)
	Keepalive bool
	Data      []byte

	from     *Host
	original wire.Header
	corrupt  bool
}

// Header returns the header of the message; it is the zero Header if it has none.
func (m *Message) Header() wire.Header {
	h, _ := wire.ParseHeader(m.Data)
	return h
}

// String writes the message as it stands in the trace.
func (m *Message) String() string {
	if m.Keepalive {
		return fmt.Sprintf("%s->%s keepalive", m.From, m.To)
	}
	h := m.Header()
	kind := "request"
	if h.IsResponse() {
		kind = "response"
	}
	text := fmt.Sprintf("%s->%s %v %s id=%d", m.From, m.To, h.Exchange, kind, h.MessageID)
	if msg, err := wire.ParseMessage(m.Data, wire.Limits{}); err == nil && msg.Encrypted != nil && msg.Encrypted.IsFragment() {
		text += fmt.Sprintf(" fragment %d/%d", msg.Encrypted.Fragment, msg.Encrypted.Total)
	}
	return fmt.Sprintf("%s #%d", text, m.N)
}
