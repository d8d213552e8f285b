package ike

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// childSA is one CHILD_SA.
type childSA struct {
	info     *ChildSA
	sa       *ikeSA // changes when the IKE SA is rekeyed
	want     *want
	state    ChildState
	proposal suite.Proposal
	nonceMin []byte // the lower nonce of the exchange that made it (RFC 7296 section 2.8.1)

	replaces   *childSA
	replacedBy *childSA
	moves      *childSA // on another IKE SA, deleted when this one is installed
	redundant  bool     // lost a collision: it is never used
	announced  bool     // NoteChildUp was given for it, or for what it replaced
	noOutbound bool     // the outbound SA waits until the peer is ready
	madeBy     *message // the peer's request that made it; nil: ours
	sends      bool     // its outbound SA is in the kernel
	absent     bool     // the kernel does not have it
	expired    bool     // the kernel has deleted it, or a half of it
	closed     bool     // both sides know that it is deleted

	// answer, if not nil, sends the response that waits for the kernel: RFC 7296
	// section 2.8 wants us to be able to receive before the peer sends.
	answer func(err error)

	installed  time.Time
	lastIn     uint64 // packets, as the kernel counted last
	lastOut    uint64
	lastUse    time.Time // traffic in either direction, as far as inactivity counts
	rekeyTries int
	timers     [childTimers]timer
}

// agreed is what was negotiated for a CHILD_SA.
type agreed struct {
	want              *want
	proposal          suite.Proposal
	spiIn, spiOut     uint32
	localTS, remoteTS []TrafficSelector
	mode              Mode
	noTFC             bool     // the peer takes no TFC padding
	initiator         bool     // of the exchange
	request           *message // of the peer, as responder
	inAuth            bool     // keys come from the IKE SA's own exchange
	ni, nr            []byte
	secrets           []suite.Key // of its own key exchanges
	replaces          *childSA
	redundant         bool
	cpuShare
}

// outKey names an outbound SA, as the kernel does.
type outKey struct {
	spi uint32
	dst netip.Addr
}

func (c *childSA) outKey() outKey { return outKey{c.info.SPIOut, c.info.Remote} }

// live reports whether the CHILD_SA is there to stay: not replaced, not
// redundant, not being deleted, nor is its IKE SA.
func (c *childSA) live() bool {
	return !c.redundant && c.sa.state != stateDeleting && (c.state == ChildInstalling || c.state == ChildInstalled || c.state == ChildRekeying)
}

func (c *childSA) label() string { return fmt.Sprintf("%s{%d}", c.info.Config.Name, c.info.ID) }

func (e *Engine) setChildTimer(c *childSA, kind timerKind, at time.Time) {
	e.timers.set(&c.timers[kind], c, kind, at)
}

// timeout is called when one of the CHILD_SA's timers is due.
func (c *childSA) timeout(e *Engine, kind timerKind) {
	e.serving = c.sa
	switch kind {
	case timerChildRekey:
		e.startChildRekey(c)
	case timerChildExpire:
		e.expireChild(c)
	case timerChildLinger:
		e.childLingered(c)
	case timerOutbound:
		e.activate(c)
	case timerInactive:
		e.childIdle(c)
	}
}

// addChild derives the keys of a new CHILD_SA (RFC 7296 section 2.17) and has it installed. As responder this
// happens before the response goes out, so that we can receive as soon as the
// peer sends (section 2.8).
func (e *Engine) addChild(sa *ikeSA, a agreed) (*childSA, error) {
	defer wipe(a.secrets)
	s := a.proposal.Suite()
	in := suite.ChildInput{PRF: sa.prf, SKd: sa.keys.SKd, Encr: s.Encr, Integ: s.Integ, Ni: a.ni, Nr: a.nr}
	if len(a.secrets) > 0 {
		in.Shared, in.More = a.secrets[0], a.secrets[1:]
	}
	keys, err := suite.DeriveChild(in)
	if err != nil {
		delete(e.childSPI, a.spiIn)
		return nil, err
	}
	e.ids.child++
	c := &childSA{
		sa: sa, want: a.want, state: ChildInstalling, proposal: a.proposal,
		nonceMin: lowerNonce(a.ni, a.nr), replaces: a.replaces, redundant: a.redundant,
		info: e.describe(sa, a), madeBy: a.request,
	}
	c.noOutbound = a.redundant || !a.initiator && (a.replaces != nil || sa.repeats(a.want) || a.inAuth && a.want.servedBeside(sa))
	c.sends = !c.noOutbound
	e.children[c.info.ID] = c
	e.childSPI[a.spiIn] = c
	e.outSPI[c.outKey()] = c
	sa.children = append(sa.children, c)
	a.want.children = append(a.want.children, c)

	k := &ESPKeys{
		Encr: s.Encr, Integ: s.Integ, ESN: s.ESN.ID == suite.ESNYes,
		EncrIn: keys.EncrR, IntegIn: keys.IntegR, EncrOut: keys.EncrI, IntegOut: keys.IntegI,
	}
	if !a.initiator {
		k.EncrIn, k.IntegIn, k.EncrOut, k.IntegOut = k.EncrOut, k.IntegOut, k.EncrIn, k.IntegIn
	}
	install := InstallChild{Child: c.info, Keys: k, DeferOutbound: c.noOutbound}
	if a.replaces != nil {
		install.Replaces = a.replaces.info.ID
	}
	e.do(install)
	return c, nil
}

// describe makes the public description of a CHILD_SA.
func (e *Engine) describe(sa *ikeSA, a agreed) *ChildSA {
	cfg, conn := a.want.cfg, sa.conn.cfg
	info := &ChildSA{
		ID: e.ids.child, IKEID: sa.id, Connection: conn.Name, Config: cfg,
		SPIIn: a.spiIn, SPIOut: a.spiOut, LocalTS: a.localTS, RemoteTS: a.remoteTS,
		Mode: a.mode, NoTFC: a.noTFC, Initiator: a.initiator, LifeTime: cfg.LifeTime,
		RekeyBytes: cfg.RekeyBytes - e.below(min(cfg.RandBytes, cfg.RekeyBytes/2)), RekeyPackets: e.packetLimit(a),
	}
	info.PerCPU, info.CPU = a.perCPU, a.cpu
	like := a.beside
	if a.replaces != nil {
		like = a.replaces
	}
	if like != nil {
		info.ReqID, info.AcquireSeq = like.info.ReqID, a.seq
		info.IfIDIn, info.IfIDOut, info.MarkIn, info.MarkOut = like.info.IfIDIn, like.info.IfIDOut, like.info.MarkIn, like.info.MarkOut
	} else {
		e.numberChild(sa, info)
		if !sa.whole(a) {
			e.alert(sa, AlertTSNarrowed)
		}
		info.ReqID = e.reqidFor(sa, a)
		info.AcquireSeq, a.want.acquire = a.want.acquire, 0
	}
	sa.outer(info)
	return info
}

// servedBeside reports whether the child is in use on another IKE SA with the same peer, as where
// both ends have set up at once. The peer receives on that one, and not yet on a second.
func (w *want) servedBeside(sa *ikeSA) bool {
	return slices.ContainsFunc(w.children, func(o *childSA) bool {
		return o.sa != sa && o.sends && !o.absent && o.live() && o.sa.samePeer(sa)
	})
}

// activateSecond begins to send on what waited in IKE_AUTH, when the peer has shown that the IKE SA is established there, too.
func (e *Engine) activateSecond(children []*childSA) {
	for _, c := range slices.Clone(children) {
		if c.noOutbound && c.madeBy != nil && c.madeBy.Exchange == wire.ExchangeAuth && !c.installed.IsZero() {
			e.activate(c)
		}
	}
}

// outer fills in the outer addresses.
func (sa *ikeSA) outer(info *ChildSA) {
	info.Local, info.Remote = sa.local.Addr(), sa.remote.Addr()
	info.Encap = sa.encap()
	info.LocalPort, info.RemotePort = 0, 0
	if info.Encap {
		info.LocalPort, info.RemotePort = sa.local.Port(), sa.remote.Port()
	}
}

// moveChild tells the kernel about the SA's new addresses.
func (e *Engine) moveChild(c *childSA) {
	info := *c.info
	c.sa.outer(&info)
	info.follow()
	e.forgetOut(c)
	c.info = &info
	e.outSPI[c.outKey()] = c
	if !c.absent {
		e.do(MoveChild{Child: c.info})
	}
}

// forgetOut takes a CHILD_SA's outbound SPI out of the table.
func (e *Engine) forgetOut(c *childSA) {
	if e.outSPI[c.outKey()] == c {
		delete(e.outSPI, c.outKey())
	}
}

// removeChild takes a CHILD_SA out of everything.
func (e *Engine) removeChild(c *childSA, reason string) {
	id := c.info.ID
	if e.children[id] != c {
		return
	}
	for i := range c.timers {
		e.timers.stop(&c.timers[i])
	}
	delete(e.children, id)
	delete(e.childSPI, c.info.SPIIn)
	e.forgetOut(c)
	c.sa.children = slices.DeleteFunc(c.sa.children, func(o *childSA) bool { return o == c })
	c.want.children = slices.DeleteFunc(c.want.children, func(o *childSA) bool { return o == c })
	e.resolve(c, errors.New(reason))
	if c.replaces != nil && c.replaces.replacedBy == c {
		c.replaces.replacedBy = nil
	}
	if c.replacedBy != nil && c.replacedBy.replaces == c {
		c.replacedBy.replaces = nil
	}
	e.keepSending(c.want, c)
	switch {
	case c.absent:
	case c.installed.IsZero():
		e.leaving[id] = true // it goes when the kernel has it
	default:
		e.do(RemoveChild{ChildID: id})
	}
	if c.announced {
		e.upDown(c, false)
		e.emit(c.event(NoteChildDown, LevelDebug, "CHILD_SA "+c.label()+" is gone: "+reason))
	}
	c.absent = true
	e.reportDown(c.want, reason)
}

// resolve sends the response that waited for the kernel.
func (e *Engine) resolve(c *childSA, err error) {
	answer, sa := c.answer, c.sa
	if answer == nil {
		return
	}
	c.answer = nil
	sa.jobs--
	if !sa.gone {
		answer(err)
		e.unpark(sa)
		e.nextTask(sa)
	}
}

// reportUp tells that a child is in use, once.
func (e *Engine) reportUp(c *childSA) {
	w := c.want
	w.asked, w.backoff, w.packet = notAsked, 0, nil
	e.timers.stop(&w.retry)
	w.conn.clearError()
	w.conn.asked = false
	if r := w.root(); !r.up {
		r.up = true
		e.do(ChildUp{Child: c.info})
	}
}

// reportDown tells that no CHILD_SA of a child is left, once.
func (e *Engine) reportDown(w *want, reason string) {
	w = w.root()
	if !w.up || w.liveAnywhere() {
		return
	}
	w.up = false
	if c := e.byName[w.conn.cfg.Name]; c != nil {
		if now := c.want(w.cfg.Name); now != nil && now.up {
			return // a changed configuration has brought it up anew
		}
	}
	e.do(ChildDown{Connection: w.conn.cfg.Name, Child: w.cfg.Name, Reason: reason})
}

// lowerNonce returns a copy of the lower of two nonces: compared by octets, a
// shorter one being lower than a longer one that begins with it (RFC 7296 section 2.8.1).
func lowerNonce(a, b []byte) []byte {
	if bytes.Compare(a, b) < 0 {
		return slices.Clone(a)
	}
	return slices.Clone(b)
}
