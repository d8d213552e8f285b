package ike

import (
	"fmt"
	"io"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// Engine is an IKEv2 endpoint: any number of IKE SAs with their CHILD_SAs.
// It is not safe for concurrent use.
type Engine struct {
	cfg   *Config
	rand  io.Reader
	index uint8

	now     time.Time // of the call that is being served
	serving *ikeSA    // the SA that fails if this call panics
	started bool
	closing bool // after Shutdown: nothing is set up any more
	quiet   bool // after Quiet: nothing is begun
	over    bool // after HandOver: nothing is done

	actions []Action
	timers  timers

	sas      map[wire.SPI]*ikeSA // by the SPI that we chose
	inits    map[initHash]*ikeSA // as responder, by their IKE_SA_INIT request
	ghosts   ghosts
	halfOpen halfOpenSAs
	cookies  cookieJar
	addrs    []netip.Addr // of the host, as AddressChanged told last

	pairs    map[idPair][]*ikeSA // by their identities, from IKE_AUTH on
	children map[uint32]*childSA // by ID
	childSPI map[uint32]*childSA // by inbound SPI; nil: taken by an offer of ours
	outSPI   map[outKey]*childSA // by outbound SPI
	leaving  map[uint32]bool     // CHILD_SAs given up before the kernel answered

	connections []*connection // in configured order
	byName      map[string]*connection
	passing     []*connection // those of peers of which nothing may be left
	pools       addressPools
	directory   *directory
	reqids      map[childKey]uint32
	strangers   limiter
	alerts      limiter
	jobs        map[uint64]*job
	ids         idSource
	counters    Counters
	named       map[string]*ConnectionCounters
}

// New returns an engine that takes all randomness from rand. index (0..15) is
// put into the low bits of every SPI that the engine chooses, so that several
// engines can share a host. Connections start when the first HandleTimeout is
// called.
func New(cfg *Config, rand io.Reader, index uint8) *Engine {
	e := &Engine{
		rand:     rand,
		index:    index & indexMask,
		sas:      map[wire.SPI]*ikeSA{},
		inits:    map[initHash]*ikeSA{},
		pairs:    map[idPair][]*ikeSA{},
		children: map[uint32]*childSA{},
		childSPI: map[uint32]*childSA{},
		outSPI:   map[outKey]*childSA{},
		leaving:  map[uint32]bool{},
		byName:   map[string]*connection{},
		jobs:     map[uint64]*job{},
		counters: newCounters(),
		named:    map[string]*ConnectionCounters{},
	}
	e.ghosts.init()
	e.halfOpen.init()
	e.configure(cfg)
	return e
}

// HandlePacket takes one IKE message from the network. The engine owns p.Data
// from then on.
func (e *Engine) HandlePacket(now time.Time, p Packet) {
	if e.over {
		return
	}
	e.now = now
	defer e.guard("a message from " + p.Remote.String())
	e.receive(p.normal())
}

// HandleEvent takes one event.
func (e *Engine) HandleEvent(now time.Time, ev Event) {
	if e.over {
		return
	}
	e.now = now
	defer e.guard(fmt.Sprintf("event %T", ev))
	e.event(ev)
}

// HandleTimeout runs every timer that is due at now.
func (e *Engine) HandleTimeout(now time.Time) {
	if e.over {
		return
	}
	e.now = now
	if !e.started {
		e.started = true
		e.runGuarded("start", e.startConnections)
	}
	for {
		t := e.timers.next()
		if t == nil || t.at.After(now) {
			return
		}
		if e.quiet && t.begins() {
			e.timers.set(t, t.owner, t.kind, now.Add(quietStep))
			continue
		}
		e.timers.stop(t)
		e.runGuarded("a timer", func() { t.owner.timeout(e, t.kind) })
	}
}

// NextTimeout returns when HandleTimeout must be called next, if at all.
func (e *Engine) NextTimeout() (time.Time, bool) {
	if e.over {
		return time.Time{}, false
	}
	if !e.started {
		return time.Time{}, true
	}
	if t := e.timers.next(); t != nil {
		return t.at, true
	}
	return time.Time{}, false
}

// NextAction returns the next action to carry out, if any. It is called until
// it reports false after each Handle call.
func (e *Engine) NextAction() (Action, bool) {
	if len(e.actions) == 0 {
		e.actions = nil
		return nil, false
	}
	a := e.actions[0]
	e.actions[0] = nil
	e.actions = e.actions[1:]
	return a, true
}

// Idle reports whether no IKE SA is left.
func (e *Engine) Idle() bool { return len(e.sas) == 0 }

func (e *Engine) do(a Action) { e.actions = append(e.actions, a) }

func (e *Engine) runGuarded(what string, f func()) {
	defer e.guard(what)
	f()
}

// guard is deferred around everything that comes from outside: what panics
// takes down the one SA that it concerned, never the process.
func (e *Engine) guard(what string) {
	sa := e.serving
	e.serving = nil
	cause := recover()
	defer e.forgetPeers()
	if cause == nil {
		if sa != nil {
			e.tellMoved(sa)
		}
		return
	}
	e.counters.Invalid["panic"]++
	e.note(sa, LevelError, "IKE", "internal error on %s: %v\n%s", what, cause, debug.Stack())
	if sa != nil {
		defer func() {
			if recover() != nil { // even its orderly end fails: forget it
				delete(e.sas, sa.ourSPI())
			}
		}()
		e.failSA(sa, "internal error, see the log; please report it")
	}
}
