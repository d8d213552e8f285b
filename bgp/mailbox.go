package bgp

import (
	"net/netip"
	"sync"
)

// mailbox coalesces events until somebody takes them.
type mailbox struct {
	ready chan struct{} // holds one value while there is something to take

	mu       sync.Mutex
	updates  map[netip.Prefix][]Path
	eor      []EndOfRIB
	sessions []Session
}

func newMailbox() *mailbox {
	return &mailbox{ready: make(chan struct{}, 1), updates: make(map[netip.Prefix][]Path)}
}

// change runs f with the mailbox locked; f says whether there is something new.
func (m *mailbox) change(f func() bool) {
	m.mu.Lock()
	news := f()
	m.mu.Unlock()
	if !news {
		return
	}
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

func (m *mailbox) update(u Update) {
	m.change(func() bool { m.updates[u.Prefix] = u.Paths; return true })
}

func (m *mailbox) endOfRIB(e EndOfRIB) {
	m.change(func() bool { m.eor = append(m.eor, e); return true })
}

func (m *mailbox) session(s Session) {
	m.change(func() bool { m.sessions = append(m.sessions, s); return true })
}

func (m *mailbox) take() Batch {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := Batch{EndOfRIB: m.eor, Sessions: m.sessions}
	if len(m.updates) > 0 {
		b.Updates = make([]Update, 0, len(m.updates))
		for p, paths := range m.updates {
			b.Updates = append(b.Updates, Update{Prefix: p, Paths: paths})
		}
		m.updates = make(map[netip.Prefix][]Path)
	}
	m.eor, m.sessions = nil, nil
	return b
}
