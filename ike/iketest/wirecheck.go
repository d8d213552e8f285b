package iketest

import (
	"bytes"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// ivLen octets at the start of the encrypted payload differ in every message under one
// key, whichever cipher it is.
const ivLen = 8

// wireCheck watches the messages that the engines send.
type wireCheck struct {
	first     map[messageKey][]byte // as it was first sent
	ivs       map[ivKey]messageKey  // where an IV was used
	answered  map[direction]uint32  // requests that were answered, as seen by who sent them
	requested map[direction]uint32  // requests that were sent
	arrived   map[messageKey]int    // how often a request was delivered
	responses map[messageKey]int    // how often its response was sent
	spoiled   map[wire.SPI]bool     // initiators that got a spoiled answer to IKE_SA_INIT, and may begin anew with a better one
}

// direction is what one end of an IKE SA sends.
type direction struct {
	i, r          wire.SPI
	fromInitiator bool
}

// messageKey tells a message from all that are not its retransmissions.
type messageKey struct {
	direction
	response bool
	id       uint32
	fragment uint16
}

type ivKey struct {
	direction
	keys uint32 // each IKE_INTERMEDIATE has keys of its own: its message ID; 0 for those of all others
	iv   string
}

func (w *wireCheck) init() {
	w.first = map[messageKey][]byte{}
	w.ivs = map[ivKey]messageKey{}
	w.answered = map[direction]uint32{}
	w.requested = map[direction]uint32{}
	w.arrived, w.responses = map[messageKey]int{}, map[messageKey]int{}
	w.spoiled = map[wire.SPI]bool{}
}

func directionOf(h wire.Header) direction {
	return direction{h.InitiatorSPI, h.ResponderSPI, h.FromInitiator()}
}

// sent checks a message of an engine.
func (w *wireCheck) sent(n *Net, m *Message) {
	msg, err := wire.ParseMessage(m.Data, wire.Limits{})
	if err != nil {
		n.violate("%v cannot be parsed: %v", m, err)
		return
	}
	m.original = msg.Header
	if msg.Encrypted == nil {
		return // IKE_SA_INIT: may begin anew with a cookie or another group
	}
	key := messageKey{directionOf(msg.Header), msg.IsResponse(), msg.MessageID, msg.Encrypted.Fragment}
	defer w.response(n, m, key) // what else is wrong counts first
	if first, ok := w.first[key]; ok {
		// RFC 7296 section 2.1.
		proving := msg.Exchange == wire.ExchangeAuth || msg.Exchange == wire.ExchangeIntermediate
		if !bytes.Equal(first, m.Data) && !(w.spoiled[key.i] && proving && !key.response) {
			n.violate("%v is a retransmission, but not bitwise identical", m)
		}
		return
	}
	w.first[key] = bytes.Clone(m.Data)
	w.iv(n, m, key, msg.Encrypted.Body)
	if !key.response {
		w.request(n, m, key)
	}
}

// iv checks that no IV is used twice under one key.
func (w *wireCheck) iv(n *Net, m *Message, key messageKey, body []byte) {
	if len(body) < ivLen {
		n.violate("%v has no IV", m)
		return
	}
	iv := ivKey{direction: key.direction, iv: string(body[:ivLen])}
	if m.original.Exchange == wire.ExchangeIntermediate {
		iv.keys = key.id
	}
	if other, used := w.ivs[iv]; used {
		n.violate("%v uses the IV of the message with id %d again", m, other.id)
	}
	w.ivs[iv] = key
}

// request checks that requests are numbered in order and that there is one at a time
// (RFC 7296 sections 2.2 and 2.3).
func (w *wireCheck) request(n *Net, m *Message, key messageKey) {
	if key.fragment > 1 {
		return
	}
	last, any := w.requested[key.direction]
	if any && key.id != last+1 {
		n.violate("%v follows request %d", m, last)
	}
	if answered, ok := w.answered[key.direction]; any && (!ok || answered != last) {
		n.violate("%v is sent while request %d is not answered", m, last)
	}
	w.requested[key.direction] = key.id
}

// response checks that a response is sent only for a request, and again only for one that came again
// (RFC 7296 section 2.1).
func (w *wireCheck) response(n *Net, m *Message, key messageKey) {
	if !key.response || key.fragment > 1 {
		return
	}
	key.fragment = 0
	w.responses[key]++
	if sent, arrived := w.responses[key], w.arrived[key]; sent > arrived {
		n.violate("%v is sent %d times, and its request has come %d times", m, sent, arrived)
	}
}

// requestArrives counts a request, under what its response will be.
func (w *wireCheck) requestArrives(data []byte) {
	msg, err := wire.ParseMessage(data, wire.Limits{})
	if err != nil || msg.IsResponse() || msg.Encrypted == nil || msg.Encrypted.Fragment > 1 {
		return
	}
	key := messageKey{direction: directionOf(msg.Header), response: true, id: msg.MessageID}
	key.fromInitiator = !key.fromInitiator
	w.arrived[key]++
}

// delivered notes which requests are answered.
func (w *wireCheck) delivered(m *Message) {
	h := m.original
	if !m.corrupt {
		w.requestArrives(m.Data)
	}
	if m.corrupt && h.IsResponse() && h.Exchange == wire.ExchangeSAInit {
		w.spoiled[h.InitiatorSPI] = true
	}
	if m.corrupt || !h.IsResponse() {
		return
	}
	asker := directionOf(h)
	asker.fromInitiator = !asker.fromInitiator
	if last, ok := w.requested[asker]; ok && last == h.MessageID {
		w.answered[asker] = last
	}
}
