package ike

import (
	"cmp"
	"slices"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// ConnectionCounters count what happens on the IKE SAs of one connection, by its name. They only ever grow. What comes
// before the connection is known, such as a peer's first requests, is counted for no connection.
type ConnectionCounters struct {
	Connection string

	SAInit, Auth, CreateChild, Informational ExchangeCounters

	IKERekeysInitiated uint64 // by us
	IKERekeysResponded uint64
	ChildRekeys        uint64
	Malformed          uint64 // authenticated messages that cannot be parsed
}

// ExchangeCounters count the messages of one kind of exchange: each once, in however many fragments it comes and however often.
type ExchangeCounters struct{ InRequests, InResponses, OutRequests, OutResponses uint64 }

// exchange returns the counters of an exchange, nil for those that are not counted.
func (c *ConnectionCounters) exchange(x wire.ExchangeType) *ExchangeCounters {
	switch x {
	case wire.ExchangeSAInit:
		return &c.SAInit
	case wire.ExchangeAuth:
		return &c.Auth
	case wire.ExchangeCreateChildSA:
		return &c.CreateChild
	case wire.ExchangeInformational:
		return &c.Informational
	}
	return nil
}

// countersOf returns the counters of an IKE SA's connection, nil if that is not known yet.
func (e *Engine) countersOf(sa *ikeSA) *ConnectionCounters {
	if sa == nil || sa.conn == nil {
		return nil
	}
	name := sa.conn.cfg.Name
	c := e.named[name]
	if c == nil {
		c = &ConnectionCounters{Connection: name}
		e.named[name] = c
	}
	return c
}

// countSent counts a message of ours, for its connection too.
func (e *Engine) countSent(sa *ikeSA, x wire.ExchangeType, request bool) {
	e.count(x, false, request)
	if c := e.countersOf(sa); c != nil {
		if k := c.exchange(x); k != nil && request {
			k.OutRequests++
		} else if k != nil {
			k.OutResponses++
		}
	}
}

// countReceived counts a verified message of the peer's for its connection.
func (e *Engine) countReceived(sa *ikeSA, m *message) {
	if c := e.countersOf(sa); c != nil {
		if k := c.exchange(m.Exchange); k != nil && m.IsResponse() {
			k.InResponses++
		} else if k != nil {
			k.InRequests++
		}
	}
}

// countRekeyed counts a finished rekey.
func (e *Engine) countRekeyed(sa *ikeSA, child, initiator bool) {
	e.countRekey(child, initiator, true)
	c := e.countersOf(sa)
	switch {
	case c == nil:
	case child:
		c.ChildRekeys++
	case initiator:
		c.IKERekeysInitiated++
	default:
		c.IKERekeysResponded++
	}
}

// connectionCounters returns a copy of all, ordered by name.
func (e *Engine) connectionCounters() []ConnectionCounters {
	list := make([]ConnectionCounters, 0, len(e.named))
	for _, c := range e.named {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b ConnectionCounters) int { return cmp.Compare(a.Connection, b.Connection) })
	return list
}
