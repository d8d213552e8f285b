package iketest

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// Host is one end: an engine, its kernel, and its addresses.
type Host struct {
	Name   string
	Kernel *Kernel

	// ComputeTime and InstallTime are how long Compute and InstallChild take at most;
	// the time is random. With zero they are done at once.
	ComputeTime, InstallTime time.Duration

	// Workers, if not 0, is how many Compute at a time; each then takes just ComputeTime, after those before it.
	Workers int

	// FetchTime is how long what waits for the network takes at most.
	FetchTime time.Duration

	DNS map[string][]netip.Addr // what the host's resolver knows

	Keepalives int // sent, over all restarts

	// UpDowns are the runs of updown scripts, over all restarts.
	UpDowns []ike.UpDown

	// Notes are those of level info and above, over all restarts.
	Notes []ike.Note

	net      *Net
	addrs    []netip.Addr
	lost     map[netip.Addr]bool // addresses that it once had
	nat      *NAT
	engine   *ike.Engine
	config   *ike.Config
	reloaded bool                        // the configuration has changed
	starts   uint64                      // how often the engine was started
	up       map[childName]bool          // by ChildUp and ChildDown
	traps    map[childName]bool          // by Trap and Untrap
	virtual  map[uint32]ike.VirtualAddrs // by IKE SA
	last     []ike.Action                // of the step under way
	busy     []time.Time                 // when each worker is free again
}

// childName names a configured child.
type childName struct{ connection, child string }

// AddHost adds a host with at least one address and starts its engine.
func (n *Net) AddHost(name string, cfg *ike.Config, addrs ...netip.Addr) *Host {
	h := &Host{Name: name, net: n, addrs: addrs, lost: map[netip.Addr]bool{}, config: cfg}
	h.Kernel = newKernel(h)
	for _, a := range addrs {
		n.byAddr[a] = h
	}
	n.hosts = append(n.hosts, h)
	h.Start()
	return h
}

// Start starts the engine, as after Crash. What the kernel held is gone.
func (h *Host) Start() {
	h.starts++
	h.net.tracef("%s starts", h.Name)
	var seed [32]byte
	binary.BigEndian.PutUint64(seed[:], h.net.seed)
	binary.BigEndian.PutUint64(seed[8:], uint64(slices.Index(h.net.hosts, h)))
	binary.BigEndian.PutUint64(seed[16:], h.starts)
	h.Kernel.clear()
	h.up = map[childName]bool{}
	h.traps = map[childName]bool{}
	h.virtual = map[uint32]ike.VirtualAddrs{}
	h.engine = ike.New(h.config, rand.NewChaCha8(seed), 0)
	if h.moved() {
		h.Do(ike.AddressChanged{Addrs: h.addrs})
	}
}

// Crash stops the host without a word to its peers.
func (h *Host) Crash() {
	h.net.tracef("%s crashes", h.Name)
	h.engine = nil
	h.Kernel.clear()
}

func (h *Host) running() bool { return h.engine != nil }

// Engine returns the engine, to be read; nil after Crash. Events go through Do.
func (h *Host) Engine() *ike.Engine { return h.engine }

// Config returns the configuration that the engine was last given.
func (h *Host) Config() *ike.Config { return h.config }

// Do hands an event to the engine now.
func (h *Host) Do(ev ike.Event) {
	if !h.running() || h.net.failed != nil {
		return
	}
	switch ev := ev.(type) {
	case ike.Reconfigure:
		h.config, h.reloaded = ev.Config, true
	case ike.AddressChanged:
		h.setAddrs(ev.Addrs)
	}
	h.net.tracef("%s: %s", h.Name, eventText{ev})
	h.step(func(now time.Time) { h.engine.HandleEvent(now, ev) })
}

// Snapshot returns the state of the engine; an empty one after Crash.
func (h *Host) Snapshot() *ike.Snapshot {
	if !h.running() {
		return &ike.Snapshot{Taken: h.net.now}
	}
	return h.engine.Snapshot(h.net.now)
}

// Trapped reports whether policies of a child wait for traffic by the engine's wish.
func (h *Host) Trapped(connection, child string) bool { return h.traps[childName{connection, child}] }

func (h *Host) trap(c childName, on bool) {
	h.net.tracef("%s: %s/%s trap: %v", h.Name, c.connection, c.child, on)
	if h.traps[c] == on {
		h.net.violate("%s sets or takes the trap of %s/%s twice", h.Name, c.connection, c.child)
	}
	h.traps[c] = on
}

// Up reports whether the engine has reported a child up, and not down since.
func (h *Host) Up(connection, child string) bool { return h.up[childName{connection, child}] }

// Failures returns the texts of the notes that report a failed attempt.
func (h *Host) Failures() []string {
	var texts []string
	for _, note := range h.Notes {
		if note.Kind == ike.NoteFailure {
			texts = append(texts, note.Text)
		}
	}
	return texts
}

func (h *Host) timeout() {
	h.step(func(now time.Time) { h.engine.HandleTimeout(now) })
	if t, ok := h.engine.NextTimeout(); ok && !t.After(h.net.now) {
		h.net.violate("%s: NextTimeout is %v in the past after HandleTimeout", h.Name, h.net.now.Sub(t))
	}
}

func (h *Host) receive(m *Message, dst netip.AddrPort) {
	// The engine owns the data, and a duplicate must not see what it does to them.
	p := ike.Packet{Local: dst, Remote: m.Src, NATT: m.Marker, Data: slices.Clone(m.Data)}
	h.checkUnmoved(m, func() {
		h.step(func(now time.Time) { h.engine.HandlePacket(now, p) })
	})
}

// step lets the engine work, carries out what it wants done, and checks.
func (h *Host) step(work func(now time.Time)) {
	work(h.net.now)
	h.last = h.last[:0]
	for {
		a, ok := h.engine.NextAction()
		if !ok {
			break
		}
		h.last = append(h.last, a)
		h.perform(a)
	}
	if len(h.last) > 0 { // else nothing that others could see has changed
		h.check()
	}
}

func (h *Host) perform(a ike.Action) {
	switch a := a.(type) {
	case ike.Send:
		h.net.transmit(h, a)
	case ike.Compute:
		most := h.ComputeTime
		if a.Waits {
			most = h.FetchTime
		}
		if h.Workers > 0 && !a.Waits {
			h.at(h.worker(), ike.Computed{ID: a.ID, Result: a.Run()})
			return
		}
		h.later(most, ike.Computed{ID: a.ID, Result: a.Run()})
	case ike.InstallChild:
		if err := h.Kernel.install(a); err != nil {
			h.later(h.InstallTime, ike.InstallFailed{ChildID: a.Child.ID, Err: err})
			return
		}
		h.later(h.InstallTime, ike.Installed{ChildID: a.Child.ID})
	case ike.InstallOutbound:
		h.Kernel.installOutbound(a.ChildID)
	case ike.RemoveOutbound:
		h.Kernel.removeOutbound(a.ChildID)
	case ike.RemoveChild:
		h.Kernel.remove(a.ChildID)
	case ike.MoveChild:
		h.Kernel.move(a.Child)
	case ike.VirtualAddrs:
		h.setVirtual(a)
	case ike.UpDown:
		h.UpDowns = append(h.UpDowns, a)
	case ike.Trap:
		h.trap(childName{a.Child.Connection, a.Child.Config.Name}, true)
	case ike.Untrap:
		h.trap(childName{a.Connection, a.Child}, false)
	case ike.Resolve:
		found := ike.Resolved{Connection: a.Connection, Addrs: map[string][]netip.Addr{}}
		for _, name := range a.Names {
			if addrs, ok := h.DNS[name]; ok {
				found.Addrs[name] = addrs
			} else {
				found.Err = errors.New("no such host")
			}
		}
		h.later(h.ComputeTime, found)
	case ike.ChildUp:
		h.report(childName{a.Child.Connection, a.Child.Config.Name}, true)
	case ike.ChildDown:
		h.report(childName{a.Connection, a.Child}, false)
	case ike.Note:
		if a.Level > ike.LevelDebug {
			h.Notes = append(h.Notes, a)
			h.net.tracef("%s: %s", h.Name, a.Text)
		}
	default:
		h.net.violate("%s wants %T done, which the simulator does not know", h.Name, a)
	}
}

// worker gives a job to the worker that is free first, and returns when it is done.
func (h *Host) worker() time.Duration {
	if len(h.busy) != h.Workers {
		h.busy = make([]time.Time, h.Workers)
	}
	first := 0
	for i, at := range h.busy {
		if at.Before(h.busy[first]) {
			first = i
		}
	}
	if h.busy[first].Before(h.net.now) {
		h.busy[first] = h.net.now
	}
	h.busy[first] = h.busy[first].Add(h.ComputeTime)
	return h.busy[first].Sub(h.net.now)
}

// later brings an event to the engine that is running now, within a time.
func (h *Host) later(most time.Duration, ev ike.Event) { h.at(h.net.upTo(most), ev) }

// at brings an event to the engine that is running now, after a time.
func (h *Host) at(d time.Duration, ev ike.Event) {
	engine := h.engine
	h.net.After(d, func() {
		if i, ok := ev.(ike.Installed); ok && h.Kernel.children[i.ChildID] != nil {
			h.Kernel.children[i.ChildID].reported = true
		}
		if h.engine == engine {
			h.step(func(now time.Time) { engine.HandleEvent(now, ev) })
		}
	})
}

// report keeps track of ChildUp and ChildDown, which alternate, unless a child has changed while the old one is being deleted.
func (h *Host) report(c childName, up bool) {
	h.net.tracef("%s: %s/%s up: %v", h.Name, c.connection, c.child, up)
	if h.up[c] == up && !h.reloaded {
		h.net.violate("%s reports %s/%s up: %v twice", h.Name, c.connection, c.child, up)
	}
	h.up[c] = up
}
