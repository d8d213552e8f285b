package daemon

import (
	"net/netip"
	"sync"

	"github.com/ipsecd/ipsecd/ike"
)

// eventQueue takes events from any goroutine without ever blocking it, so that
// the engine and the kernel goroutine cannot wait for each other.
type eventQueue struct {
	ready chan struct{} // holds a token while the queue is not empty
	mu    sync.Mutex
	list  []ike.Event
}

func newEventQueue() *eventQueue { return &eventQueue{ready: make(chan struct{}, 1)} }

func (q *eventQueue) put(ev ike.Event) {
	q.mu.Lock()
	q.list = append(q.list, ev)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take empties the queue.
func (q *eventQueue) take() []ike.Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list = nil
	return list
}

func addrPort(a netip.Addr, port uint16) netip.AddrPort { return netip.AddrPortFrom(a, port) }
