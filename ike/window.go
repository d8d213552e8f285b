package ike

import (
	"bytes"
	"crypto/sha256"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// packetHash recognises a retransmitted request, which is bitwise identical
// (RFC 7296 section 2.1).
type packetHash [sha256.Size]byte

// inWindow is the window of the peer's requests; its size is 1 (RFC 7296
// section 2.3).
type inWindow struct {
	next      uint32       // message ID of the next request
	answering bool         // that request is here and being answered
	first     packetHash   // of the first fragment of the request that is coming in
	last      packetHash   // of the last answered request, or of its first fragment
	response  [][]byte     // to it
	open      suite.Cipher // that decrypts it: IKE_INTERMEDIATE changes the keys
	init      initHash     // as responder: of the IKE_SA_INIT request
	fragments wire.Reassembler
}

// outWindow is the window of our requests; its size is 1, whatever the peer
// would allow.
type outWindow struct {
	next      uint32
	request   *request // outstanding, or nil
	fragments wire.Reassembler
}

// request is a request of ours that is not answered yet.
type request struct {
	id       uint32
	exchange wire.ExchangeType
	packets  [][]byte
	sent     int // times
}

// header returns the header of our next message of either direction.
func (sa *ikeSA) header(x wire.ExchangeType, id uint32, response bool) wire.Header {
	h := wire.Header{InitiatorSPI: sa.spiI, ResponderSPI: sa.spiR, Exchange: x, MessageID: id}
	if sa.initiator {
		h.Flags |= wire.FlagInitiator
	}
	if response {
		h.Flags |= wire.FlagResponse
	}
	return h
}

// encrypt builds a protected message, in fragments if it is long and the peer
// can do so (RFC 7383).
func (e *Engine) encrypt(sa *ikeSA, h wire.Header, payloads []wire.Payload) ([][]byte, error) {
	if sa.peerFragments {
		return wire.SealFragments(h, sa.seal, e.rand, e.maxMessage(sa), payloads...)
	}
	data, err := wire.Seal(nil, h, sa.seal, e.rand, payloads...)
	return [][]byte{data}, err
}

// maxMessage returns how long an IKE message to the peer may be without a fragment that is too long.
func (e *Engine) maxMessage(sa *ikeSA) int {
	const udpAndMarker = 8 + 4
	ip, size := 20, e.cfg.FragmentSize4
	if sa.remote.Addr().Is6() {
		ip, size = 40, e.cfg.FragmentSize6
	}
	if size == 0 {
		size = defaultFragment
	}
	return size - ip - udpAndMarker
}

// send transmits packets; they are kept for retransmission, so that the action
// gets copies.
func (e *Engine) send(sa *ikeSA, packets [][]byte) {
	e.sendTo(sa, Packet{Local: sa.local, Remote: sa.remote, NATT: sa.natt}, packets)
}

// sendTo is send to where a packet came from: that is where its answer goes (RFC 7296 section 2.11).
func (e *Engine) sendTo(sa *ikeSA, to Packet, packets [][]byte) {
	for _, p := range packets {
		e.do(Send{Packet: Packet{Local: to.Local, Remote: to.Remote, NATT: to.NATT, Data: bytes.Clone(p)}})
	}
	sa.lastSent = e.now
}

// request sends a protected request for the active task.
func (e *Engine) request(sa *ikeSA, x wire.ExchangeType, payloads ...wire.Payload) {
	packets, err := e.encrypt(sa, sa.header(x, sa.out.next, false), payloads)
	if err != nil {
		e.failSA(sa, "cannot build "+x.String()+": "+err.Error())
		return
	}
	e.outstanding(sa, x, packets)
}

// outstanding sends packets as a request and begins to wait for the answer.
func (e *Engine) outstanding(sa *ikeSA, x wire.ExchangeType, packets [][]byte) {
	sa.out.request = &request{id: sa.out.next, exchange: x, packets: packets, sent: 1}
	sa.out.next++
	e.countSent(sa, x, true)
	e.send(sa, packets)
	e.scheduleRetransmit(sa)
	if sa.out.next >= lastMessageID {
		e.startIKERekey(sa) // RFC 7296 section 2.2: before they are used up
	}
}

// respond answers m, keeps the response for retransmissions of m and moves the
// window on.
func (e *Engine) respond(sa *ikeSA, m *message, payloads ...wire.Payload) {
	packets, err := e.encrypt(sa, sa.header(m.Exchange, m.MessageID, true), payloads)
	if err != nil {
		e.failSA(sa, "cannot build the response to "+m.Exchange.String()+": "+err.Error())
		return
	}
	e.answered(sa, m, packets)
}

func (e *Engine) answered(sa *ikeSA, m *message, packets [][]byte) {
	sa.in.answering = false
	sa.in.next = m.MessageID + 1
	sa.in.last = m.hash
	sa.in.response = packets
	sa.in.open = sa.open
	sa.in.fragments.Reset()
	e.countSent(sa, m.Exchange, false)
	e.sendTo(sa, m.packet, packets)
}

// settle ends the wait for an answer.
func (e *Engine) settle(sa *ikeSA) {
	sa.out.request = nil
	sa.out.fragments.Reset()
	e.timers.stop(&sa.timers[timerRetransmit])
}

// scheduleRetransmit sets when the outstanding request is sent again.
func (e *Engine) scheduleRetransmit(sa *ikeSA) {
	wait := e.cfg.Timing.retransmitWait(sa.out.request.sent - 1)
	wait -= e.jitter(wait * time.Duration(e.cfg.Timing.RetransmitJitter) / 100)
	e.setSATimer(sa, timerRetransmit, e.now.Add(wait))
}

// retransmitWait returns the wait after transmission n (from 0) of a request,
// strongSwan's timeout * base^n.
func (t Timing) retransmitWait(n int) time.Duration {
	wait := float64(t.RetransmitTimeout)
	for range n {
		wait *= t.RetransmitBase
	}
	const longest = float64(24 * time.Hour)
	d := time.Duration(min(wait, longest))
	if t.RetransmitLimit > 0 {
		d = min(d, t.RetransmitLimit)
	}
	return d
}

// RetransmitTotal returns the time from the first transmission of a request until the peer is
// given up.
func (t Timing) RetransmitTotal() time.Duration {
	var total time.Duration
	for n := range t.RetransmitTries + 1 {
		total += t.retransmitWait(n)
	}
	return total
}

// linger returns how long a peer may take for a request that it owes us: all its
// retransmissions, if they are like ours.
func (t Timing) linger() time.Duration { return t.RetransmitTotal() + lingerMargin }

// retransmit sends the outstanding request again, bitwise identical, or gives
// up (RFC 7296 section 2.1 and 2.4).
func (e *Engine) retransmit(sa *ikeSA) {
	r := sa.out.request
	if r == nil {
		return
	}
	if r.sent > e.cfg.Timing.RetransmitTries {
		e.note(sa, LevelInfo, "IKE", "giving up after %d retransmits", r.sent-1)
		e.alert(sa, AlertRetransmitTimeout)
		e.unanswered(sa)
		return
	}
	if r.sent >= repeatsOfInit && e.nextAnswer(sa, false) {
		return
	}
	e.note(sa, LevelInfo, "IKE", "retransmit %d of request with message ID %d", r.sent, r.id)
	e.counters.Retransmits++
	e.alert(sa, AlertRetransmitSend)
	r.sent++
	e.probe(sa)
	e.send(sa, r.packets)
	if r.sent <= repeatsOfInit {
		e.askAgain(sa)
	}
	e.scheduleRetransmit(sa)
}
