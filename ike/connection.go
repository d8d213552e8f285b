package ike

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// connection is a configured connection and what became of it.
type connection struct {
	cfg     *Connection
	wants   []*want
	sas     []*ikeSA // all that use it
	removed bool     // by a Reconfigure

	peers   []*connection // those of its peers, if it is for any
	of      *connection   // whose part for one peer it is; nil: it is configured
	peer    netip.Addr    // that peer
	source  netip.Addr    // of the traffic that asked for it
	crowded bool          // traffic asks for more peers than are allowed

	stopped bool // the operator took it down
	asked   bool // the IKE SA alone is asked for

	virtual    []netip.Addr // that we had last
	names      hostNames
	redirect   redirection
	nextRemote int // which of the remote addresses is tried next
	tries      int // attempts since it was last up
	backoff    int // failures that lengthen the wait before the next try
	upSince    time.Time
	lastError  string
	errorAt    time.Time
	retry      timer
}

// asking says how much a child is asked for, beside its start_action.
type asking uint8

const (
	notAsked asking = iota
	askedFor        // by Initiate or traffic: until it is up or keyingtries are spent
	keptUp          // by close_action or dpd_action: until it is up
)

// want is what we want of one configured child.
type want struct {
	conn     *connection
	of       *want // of the configured connection, where conn is for one of its peers
	cfg      *ChildConfig
	reqid    uint32 // 0 where conn is for one of many peers
	stopped  bool   // the operator took it down
	asked    asking
	backoff  int
	children []*childSA // all, in any state
	up       bool       // ChildUp was reported, and no ChildDown since
	gone     bool       // by a Reconfigure
	trap     *ChildSA   // given out with Trap; nil: none is there
	packet   *packet    // that asks for it
	acquire  uint32     // the kernel's number of its request; 0: none is open
	retry    timer
	cpuRetry time.Time // when the peer may be asked again for a CHILD_SA for one CPU
}

// desired reports whether the child ought to be up.
func (w *want) desired() bool {
	switch {
	case w.cfg.Mode.Shunt():
		return false
	case w.asked != notAsked:
		return true
	case w.of != nil:
		return false
	}
	return w.cfg.StartAction.Starts() && !w.stopped && !w.conn.stopped
}

// live reports whether a CHILD_SA is there that is not about to go, nor for one CPU alone.
func (w *want) live() bool {
	return slices.ContainsFunc(w.children, func(c *childSA) bool { return c.live() && !c.info.CPU.Bound })
}

// want finds a want by the child's name.
func (c *connection) want(name string) *want {
	for _, w := range c.wants {
		if w.cfg.Name == name {
			return w
		}
	}
	return nil
}

// startConnections begins with what start_action asks for.
func (e *Engine) startConnections() {
	for c := range e.everyConnection() {
		e.ensure(c)
		if c.names.known == nil {
			e.lookUp(c) // to know the peer when it comes
		}
	}
}

// ensure takes the next step towards what is desired of a connection. It may be
// called at any time; what is under way already is not begun twice.
func (e *Engine) ensure(c *connection) {
	if e.closing || e.quiet || !e.started || c.removed {
		return
	}
	var missing []*want
	for _, w := range c.wants {
		if w.desired() && !w.live() && w.retry.pos == 0 {
			missing = append(missing, w)
		}
	}
	sa := c.usable()
	switch {
	case len(missing) == 0 && !(c.asked && sa == nil):
	case sa == nil && c.retry.pos != 0: // it will be tried then
	case sa == nil:
		var first *want
		if len(missing) > 0 {
			first = missing[0]
		}
		e.initiate(c, first)
	case sa.up():
		for _, w := range missing {
			e.createChild(sa, w)
		}
	}
}

// usable returns the newest IKE SA that is up, or else one that we are setting up, or nil.
func (c *connection) usable() *ikeSA {
	var setting *ikeSA
	for _, sa := range slices.Backward(c.sas) {
		switch {
		case sa.up():
			return sa
		case sa.initiator && sa.setting() && !sa.closing():
			setting = sa
		}
	}
	return setting
}

// initiate begins to set up an IKE SA, with w as its first CHILD_SA.
func (e *Engine) initiate(c *connection, w *want) {
	if !c.names.fresh && len(c.hostNames()) > 0 {
		e.lookUp(c)
		return
	}
	c.names.fresh = false
	c.tries++
	remote, ok := c.remoteAddr()
	if !ok {
		e.attemptFailed(c, nil, c.nowhere())
		return
	}
	local := e.localFor(c, remote)
	sa := e.newSA(true, netip.AddrPortFrom(local, c.cfg.LocalPort), netip.AddrPortFrom(remote, c.cfg.RemotePort))
	sa.natt = c.cfg.RemotePort != ikePort
	if sa.natt {
		sa.local = netip.AddrPortFrom(local, nattPort)
	}
	sa.forceEncap = c.cfg.ForceEncap
	sa.setup = &setup{child: w}
	e.bind(sa, c)
	e.note(sa, LevelInfo, "IKE", "initiating IKE_SA %s to %v", sa.label(), remote)
	e.enqueue(sa, setupTask{})
}

// localFor returns our address for an attempt: that of the traffic that asks for the peer, as long as it is ours.
func (e *Engine) localFor(c *connection, remote netip.Addr) netip.Addr {
	if a := c.source; a.IsValid() && a.Is4() == remote.Is4() && (len(e.addrs) == 0 || slices.Contains(e.addrs, a)) {
		return a
	}
	return e.localAddr(c.cfg, remote)
}

// bind makes sa one of the connection's, or of its part for the peer.
func (e *Engine) bind(sa *ikeSA, c *connection) {
	if c.of == nil && c.cfg.anyPeer() {
		c = e.ofPeer(c, sa.remote.Addr())
	}
	sa.conn = c
	c.sas = append(c.sas, sa)
	e.numberIKE(sa)
}

// remoteAddr returns the address to try: each in turn.
func (c *connection) remoteAddr() (netip.Addr, bool) {
	all := c.remotes()
	if len(all) == 0 {
		return netip.Addr{}, false
	}
	return all[c.nextRemote%len(all)], true
}

// timeout tries the connection again.
func (c *connection) timeout(e *Engine, _ timerKind) {
	e.ensure(c)
	e.mayForget(c)
}

// timeout tries the child again.
func (w *want) timeout(e *Engine, _ timerKind) {
	e.ensure(w.conn)
	e.mayForget(w.conn)
}

// wait returns how long to wait after n failures in a row: doubling, up to a
// limit, shortened by up to a quarter at random so that peers spread.
func (e *Engine) wait(n int) time.Duration {
	d := e.cfg.Timing.RetryInitial
	for i := 1; i < n && d < e.cfg.Timing.RetryMax; i++ {
		d *= 2
	}
	d = min(d, e.cfg.Timing.RetryMax)
	return d - e.jitter(d/4)
}

// attemptFailed ends an attempt to set up an IKE SA: plans the next, if one is wanted,
// and tells why in one sentence.
func (e *Engine) attemptFailed(c *connection, sa *ikeSA, text string) {
	e.counters.Negotiations[NegotiationKey{Initiator: true, OK: false}]++
	plan := ""
	c.redirect.done() // the next attempt is as configured
	_, possible := c.remoteAddr()
	possible = possible || len(c.hostNames()) > 0
	spent := !possible || c.cfg.KeyingTries > 0 && c.tries >= c.cfg.KeyingTries
	again := false
	for _, w := range c.wants {
		switch {
		case spent && w.asked == askedFor:
			w.asked = notAsked
		case c.of != nil && (spent || w.asked == askedFor && c.cfg.KeyingTries == 0):
			w.asked = notAsked // one of many peers: its traffic asks again
		}
		again = again || w.desired() && !w.live()
	}
	c.asked = c.asked && !spent
	c.nextRemote++
	c.backoff++
	if (again || c.asked) && possible && !c.removed && !e.closing {
		e.timers.set(&c.retry, c, timerRetry, e.now.Add(e.wait(c.backoff)))
		plan = "; next try in " + until(e.now, c.retry.at)
	}
	e.mayForget(c)
	e.failed(c, nil, sa, text, plan)
}

// childFailed is attemptFailed for a CHILD_SA on an IKE SA that lives on.
func (e *Engine) childFailed(w *want, sa *ikeSA, text string) {
	if w.asked == askedFor && w.conn.cfg.KeyingTries > 0 && w.backoff+1 >= w.conn.cfg.KeyingTries {
		w.asked = notAsked
	}
	w.backoff++
	if sa != nil && sa.up() {
		e.alert(sa, AlertKeptWithoutChild)
	}
	plan := ""
	if w.desired() && !w.conn.removed && !e.closing {
		e.timers.set(&w.retry, w, timerRetry, e.now.Add(e.wait(w.backoff)))
		plan = "; next try in " + until(e.now, w.retry.at)
	}
	e.failed(w.conn, w, sa, text, plan)
}

// failed notes a failure, once. plan says what comes next, to the log only: the
// snapshot has the time itself.
func (e *Engine) failed(c *connection, w *want, sa *ikeSA, text, plan string) {
	e.setError(c, text)
	n := Note{Level: LevelError, Kind: NoteFailure, Group: "IKE", Connection: c.cfg.Name, Text: text + plan}
	if w != nil {
		n.Group, n.Child = "CHD", w.cfg.Name
	}
	if sa != nil {
		n.IKEID = sa.id
	}
	e.emit(n)
}

// lost plans what is wanted of a connection whose last IKE SA went away after it
// was up.
func (e *Engine) lost(c *connection, text string) {
	e.setError(c, text)
	if e.now.Sub(c.upSince) > e.cfg.Timing.RetryMax {
		c.backoff = 0
	}
	c.tries = 0
	if c.retry.pos == 0 && !c.removed && !e.closing {
		c.backoff++
		e.timers.set(&c.retry, c, timerRetry, e.now.Add(e.wait(c.backoff)))
	}
}

// until writes the time to a moment for people.
func until(now, at time.Time) string {
	d := at.Sub(now).Round(time.Second)
	if d < 2*time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d min", d/time.Minute)
}
