package ike

import (
	"fmt"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// emit gives a Note out.
func (e *Engine) emit(n Note) { e.do(n) }

// note gives out a line of text about an IKE SA, which may be nil.
func (e *Engine) note(sa *ikeSA, level NoteLevel, group, format string, args ...any) {
	n := Note{Level: level, Group: group, Text: fmt.Sprintf(format, args...)}
	if sa != nil {
		n.IKEID = sa.id
		if sa.conn != nil {
			n.Connection = sa.conn.cfg.Name
		}
	}
	e.emit(n)
}

// refusal tells that a peer's attempt was refused, and why.
func (e *Engine) refusal(c *connection, text string) {
	n := Note{Level: LevelWarn, Kind: NoteFailure, Group: "IKE", Text: text}
	if c != nil {
		n.Connection = c.cfg.Name
		if !c.root().inUse() {
			e.setError(c, text)
		}
	}
	e.emit(n)
}

// setError remembers why something failed, for the snapshot.
func (e *Engine) setError(c *connection, text string) {
	for _, o := range []*connection{c, c.root()} {
		o.lastError, o.errorAt = text, e.now
	}
}

// clearError forgets it: all is well.
func (c *connection) clearError() {
	for _, o := range []*connection{c, c.root()} {
		o.lastError, o.errorAt = "", time.Time{}
	}
}

// limiter bounds what anybody can make us write into the log: a burst, then some a second.
type limiter struct {
	tokens  float64
	since   time.Time
	dropped uint64
}

func (l *limiter) allow(now time.Time) bool {
	l.tokens = min(strangerBurst, l.tokens+now.Sub(l.since).Seconds()*strangerRate)
	if l.since.IsZero() {
		l.tokens = strangerBurst
	}
	l.since = now
	if l.tokens < 1 {
		l.dropped++
		return false
	}
	l.tokens--
	return true
}

// strangerNote is note for what unauthenticated packets cause.
func (e *Engine) strangerNote(sa *ikeSA, format string, args ...any) {
	if e.strangers.allow(e.now) {
		e.note(sa, LevelInfo, "IKE", format, args...)
	}
}

// strangerRefused is refusal for what unauthenticated packets cause.
func (e *Engine) strangerRefused(c *connection, text string) {
	if !e.strangers.allow(e.now) {
		return
	}
	if n := e.strangers.dropped; n > 0 {
		text += fmt.Sprintf(" (and %d notes about unauthenticated messages were left out)", n)
		e.strangers.dropped = 0
	}
	e.refusal(c, text)
}

// label names an IKE SA as charon does: name[id].
func (sa *ikeSA) label() string {
	if sa.conn == nil {
		return fmt.Sprintf("(unnamed)[%d]", sa.id)
	}
	return fmt.Sprintf("%s[%d]", sa.conn.cfg.Name, sa.id)
}

// ends names the two ends of an IKE SA as charon does.
func (sa *ikeSA) ends() string {
	return fmt.Sprintf("%v[%v]...%v[%v]", sa.local.Addr(), sa.localID, sa.remote.Addr(), sa.remoteID)
}

// describeUp is charon's line about an established CHILD_SA.
func (c *childSA) describeUp() string {
	i := c.info
	return fmt.Sprintf("CHILD_SA %s established with SPIs %08x_i %08x_o and TS %s === %s",
		c.label(), i.SPIIn, i.SPIOut, tsString(i.LocalTS), tsString(i.RemoteTS))
}

// event is a note about the CHILD_SA.
func (c *childSA) event(kind NoteKind, level NoteLevel, text string) Note {
	return Note{Level: level, Kind: kind, Group: "CHD", Connection: c.info.Connection, Child: c.info.Config.Name,
		IKEID: c.sa.id, ChildID: c.info.ID, Text: text}
}

// newCounters returns counters that count.
func newCounters() Counters {
	return Counters{
		Messages:     map[MessageKey]uint64{},
		Invalid:      map[string]uint64{},
		Negotiations: map[NegotiationKey]uint64{},
		Rekeys:       map[RekeyKey]uint64{},
	}
}

// count counts a message. Unknown exchange types, which a sender can choose freely, share one line.
func (e *Engine) count(x wire.ExchangeType, inbound, request bool) {
	name := "unknown"
	if x >= wire.ExchangeSAInit && x <= wire.ExchangeInformational || x == wire.ExchangeIntermediate || x == wire.ExchangeFollowupKE {
		name = x.String()
	}
	e.counters.Messages[MessageKey{Exchange: name, Inbound: inbound, Request: request}]++
}

// drop counts a message that is not handled.
func (e *Engine) drop(reason string) {
	e.counters.Invalid[reason]++
	switch reason {
	case "malformed":
		e.strangerAlert(e.serving, AlertParseBody)
	case "unknown SPI":
		e.strangerAlert(nil, AlertInvalidSPI)
	}
}

func (e *Engine) countRekey(child, initiator, ok bool) {
	e.counters.Rekeys[RekeyKey{Child: child, Initiator: initiator, OK: ok}]++
}
