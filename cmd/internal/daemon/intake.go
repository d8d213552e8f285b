package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// What waits for the engine at most. When it is behind, the sockets of peers wait, and the
// kernel drops what does not fit into their buffers; of strangers' requests the oldest go.
const (
	packetQueue   = 512     // messages read from the sockets of peers
	strangerQueue = 512     // from those of strangers
	receiveBuffer = 4 << 20 // octets, of each socket of peers: some thousand messages
)

// In a flood, reading what is lost anyway may not take the time of what is served: after so
// many requests lost, a reader rests, and the kernel drops the rest.
const (
	lostBeforeRest = 64
	readerRest     = 5 * time.Millisecond
)

// intake takes messages from the sockets to the engine, which takes peers' first.
type intake struct {
	packets   chan ike.Packet
	strangers *newest
}

func newIntake() *intake {
	return &intake{packets: make(chan ike.Packet, packetQueue), strangers: newNewest(strangerQueue)}
}

// fromPeer delivers a peer's message once there is room for it, or not after ctx.
func (in *intake) fromPeer(ctx context.Context) func(ike.Packet) {
	return func(p ike.Packet) {
		select {
		case in.packets <- p:
		case <-ctx.Done():
		}
	}
}

// fromStranger delivers a stranger's request in the place of the oldest one where there is no room.
func (in *intake) fromStranger(p ike.Packet) {
	if lost, full := in.strangers.put(p); full && lost%lostBeforeRest == 0 {
		time.Sleep(readerRest)
	}
}

// newest queues requests, the oldest first, and keeps the newest ones. Whoever asks as a flood ends is so
// behind a few requests of the flood, and not lost for a queue that is full of them.
type newest struct {
	ready chan struct{} // holds a token while the queue is not empty
	mu    sync.Mutex
	ring  []ike.Packet
	first int // index of the oldest
	n     int
	lost  uint64
}

func newNewest(size int) *newest {
	return &newest{ready: make(chan struct{}, 1), ring: make([]ike.Packet, size)}
}

// put queues a request. It reports how many have been lost up to now, and whether one was for this one.
func (q *newest) put(p ike.Packet) (lost uint64, full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if full = q.n == len(q.ring); full {
		q.first = (q.first + 1) % len(q.ring)
		q.n--
		q.lost++
	}
	q.ring[(q.first+q.n)%len(q.ring)] = p
	q.n++
	q.signal()
	return q.lost, full
}

// take removes the oldest; false where there is none.
func (q *newest) take() (ike.Packet, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		return ike.Packet{}, false
	}
	p := q.ring[q.first]
	q.ring[q.first] = ike.Packet{}
	q.first = (q.first + 1) % len(q.ring)
	if q.n--; q.n > 0 {
		q.signal()
	}
	return p, true
}

func (q *newest) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// dropped is how many were lost.
func (q *newest) dropped() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}
