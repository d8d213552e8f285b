package ike

import (
	"net/netip"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// saState is where an IKE SA is in its life.
type saState uint8

const (
	stateInit         saState = iota // initiator: IKE_SA_INIT is being made or sent
	stateIntermediate                // initiator: IKE_INTERMEDIATE is being made or sent
	stateAuth                        // initiator: IKE_AUTH is being made or sent
	stateHalfOpen                    // responder: waits for IKE_INTERMEDIATE or IKE_AUTH
	stateEstablished                 //
	stateRekeyed                     // replaced; waits for its Delete
	stateDeleting                    // our Delete is under way
	stateRejected                    // initiator: the peer did not prove who it is, and is told so
)

// info returns the state in the words of a Snapshot.
func (sa *ikeSA) info() IKEState {
	switch sa.state {
	case stateEstablished:
		if _, ok := sa.active.(*rekeyIKETask); ok {
			return IKERekeying
		}
		return IKEEstablished
	case stateRekeyed:
		return IKERekeyed
	case stateDeleting, stateRejected:
		return IKEDeleting
	case stateAuth:
		if sa.closing() {
			return IKEDeleting
		}
	}
	return IKEConnecting
}

// ikeSA is one IKE SA (RFC 7296 section 1).
type ikeSA struct {
	id        uint32
	state     saState
	gone      bool // out of the engine's tables: late results are dropped
	initiator bool // we are the original initiator (RFC 7296 section 2.2)
	spiI      wire.SPI
	spiR      wire.SPI

	conn       *connection   // nil as responder until the identities are known
	candidates []*connection // as responder: those that fit the addresses

	local, remote netip.AddrPort
	natt          bool // on the NAT-T socket
	natLocal      bool // we are behind a NAT
	natRemote     bool
	forceEncap    bool // we pretend to be behind a NAT
	ppk           bool // the keys depend on a PPK (RFC 8784)
	peerFragments bool // both sides can do RFC 7383
	peerChildless bool // the peer accepts IKE_AUTH without a CHILD_SA (RFC 6023)
	peerRedirects bool // the peer has initiated, and follows redirects (RFC 5685)
	mobike        mobike

	ifIDIn, ifIDOut uint32 // of its CHILD_SAs that have none of their own

	localID, remoteID auth.Identity
	virtual           virtual
	pair              idPair // under which it is in Engine.pairs

	proposal suite.Proposal // chosen
	suite    suite.Suite
	prf      suite.PRFunc
	keys     suite.Keys
	seal     suite.Cipher
	open     suite.Cipher

	setup    *setup // what is needed until IKE_AUTH is done, then nil
	nonceMin []byte // the lower nonce of the exchange that made this SA

	in  inWindow
	out outWindow

	jobs   int        // computations under way: nothing else is done
	parked []*message // verified messages that wait for them
	active task       // our exchange under way
	queue  []task

	children []*childSA
	reserved uint32       // inbound SPI of the CHILD_SA that a computation is for, as responder
	pending  []*pendingKE // what the peer has begun and not finished (RFC 9370)

	rekey  ikeRekey // what a rekey of this SA has led to
	reauth reauth

	halfOpen    halfOpenPlace
	junk        int       // messages that failed verification while half open
	begun       time.Time // when it began to be set up
	confirmed   bool      // the peer is known to have established it, too
	superseded  bool      // by a newer one of the same peer (unique = replace)
	established time.Time
	proved      time.Time // when both ends had proved their identity: it is older than a rekey
	lastInbound time.Time // last authenticated message
	lastESP     time.Time // last ESP that the kernel counted
	told        endpoints // where it was said to be last
	lastSent    time.Time // last packet, for keepalives

	timers [saTimers]timer
}

// setup is the state of an IKE SA that is being set up.
type setup struct {
	ni, nr     []byte
	initI      []byte // IKE_SA_INIT messages as sent, for AUTH (RFC 7296 section 2.15)
	initR      []byte
	request    initRequest // IKE_SA_INIT as last sent
	spare      []Packet    // answers to it that we have not gone on with
	tried      []Packet    // those that were not the peer's
	ke         suite.KeyExchange
	groups     []uint16 // refused by INVALID_KE_PAYLOAD so far
	cookie     []byte   // to return in IKE_SA_INIT (RFC 7296 section 2.6)
	redirected int      // answers that made us send IKE_SA_INIT again
	child      *want    // the CHILD_SA that IKE_AUTH asks for
	offer      *offer   // of it
	sentAuth   bool
	closing    string // why the SA is deleted as soon as the peer has answered IKE_AUTH; empty: it is not

	additional []uint16          // key exchanges that are still to come in IKE_INTERMEDIATE (RFC 9370)
	addKE      suite.KeyExchange // the one under way
	intAuth    intAuth
	ppk        ppkUse

	hashes      auth.HashSet // that the peer can verify signatures with (RFC 7427 section 4)
	announced   bool         // it said so
	asked       bool         // it wants our certificates
	askedRaw    bool         // or our raw public key
	askedOCSP   bool         // and OCSP responses about them (RFC 4806)
	authorities []byte       // of its CERTREQ payloads (RFC 7296 section 3.7)

	initError string // unauthenticated error answer: counts if nothing better comes
}

func (s *setup) wipe() {
	clear(s.ni)
	clear(s.nr)
	s.ke = nil
	s.ppk.plain.Wipe()
}

// newSA makes an IKE SA and puts it into the tables.
func (e *Engine) newSA(initiator bool, local, remote netip.AddrPort) *ikeSA {
	e.ids.ike++
	sa := &ikeSA{id: e.ids.ike, initiator: initiator, local: local, remote: remote, begun: e.now}
	if initiator {
		sa.spiI = e.newIKESPI()
	} else {
		sa.spiR = e.newIKESPI()
	}
	e.sas[sa.ourSPI()] = sa
	return sa
}

func (sa *ikeSA) ourSPI() wire.SPI {
	if sa.initiator {
		return sa.spiI
	}
	return sa.spiR
}

// up reports whether the peer is authenticated and the SA is still in use.
func (sa *ikeSA) up() bool { return !sa.gone && sa.state == stateEstablished }

// setting reports whether the SA is still being set up.
func (sa *ikeSA) setting() bool {
	return sa.state == stateInit || sa.state == stateIntermediate || sa.state == stateAuth || sa.state == stateHalfOpen
}

// closing reports whether the SA is deleted as soon as it is set up.
func (sa *ikeSA) closing() bool { return sa.setup != nil && sa.setup.closing != "" }

// samePeer reports whether two IKE SAs are between the same two identities of
// the same connection.
func (sa *ikeSA) samePeer(o *ikeSA) bool {
	return sa.conn.root() == o.conn.root() && sa.localID == o.localID && sa.remoteID == o.remoteID
}

// sameHost reports whether two IKE SAs of a connection lead to the same host: to the same address, to others
// that it has named (RFC 4555), or to others that are configured.
func (sa *ikeSA) sameHost(o *ikeSA) bool {
	a, b := sa.remote.Addr(), o.remote.Addr()
	if a == b || slices.Contains(sa.mobike.peer, b) || slices.Contains(o.mobike.peer, a) {
		return true
	}
	all := sa.conn.remotes()
	return slices.Contains(all, a) && slices.Contains(all, b)
}

func (e *Engine) setSATimer(sa *ikeSA, kind timerKind, at time.Time) {
	e.timers.set(&sa.timers[kind], sa, kind, at)
}

// timeout is called when one of the SA's timers is due.
func (sa *ikeSA) timeout(e *Engine, kind timerKind) {
	e.serving = sa
	switch kind {
	case timerRetransmit:
		e.retransmit(sa)
	case timerHalfOpen:
		e.halfOpenTimeout(sa)
	case timerIKERekey:
		e.startIKERekey(sa)
	case timerIKEExpire:
		e.expireIKE(sa)
	case timerReauth:
		e.startReauth(sa)
	case timerDPD:
		e.checkLiveness(sa)
	case timerKeepalive:
		e.keepalive(sa)
	case timerLinger:
		e.lingered(sa)
	case timerGather:
		e.resolveSimultaneous(sa)
	}
}

// destroySA takes an IKE SA and its CHILD_SAs out of everything and wipes its
// keys. It does not tell the peer and plans nothing new.
func (e *Engine) destroySA(sa *ikeSA, reason string) {
	if sa.gone {
		return
	}
	sa.gone = true
	wasUp, redundant := !sa.setting() && sa.state != stateRejected, sa.rekey.redundant
	for i := range sa.timers {
		e.timers.stop(&sa.timers[i])
	}
	e.forgetHalfOpen(sa)
	delete(e.sas, sa.ourSPI())
	if sa.in.init != (initHash{}) {
		delete(e.inits, sa.in.init)
	}
	e.setPair(sa, idPair{})
	e.unbind(sa)
	e.dropTasks(sa)
	e.dropAllPending(sa)
	for _, c := range slices.Clone(sa.children) {
		e.removeChild(c, reason)
	}
	e.dropVirtual(sa)
	sa.parked = nil
	sa.out = outWindow{}
	sa.keys.Wipe()
	sa.seal, sa.open = nil, nil
	delete(e.childSPI, sa.reserved)
	if sa.setup != nil {
		e.dropOffer(sa.setup.offer)
		sa.setup.wipe()
		sa.setup = nil
	}
	e.forgetRekey(sa)
	e.forgetReauth(sa)
	if wasUp && sa.state != stateRekeyed && !redundant && sa.conn != nil {
		e.emit(Note{Level: LevelDebug, Kind: NoteIKEDown, Group: "IKE", Connection: sa.conn.cfg.Name, IKEID: sa.id,
			Text: "IKE_SA " + sa.label() + " is gone: " + reason})
	}
}
