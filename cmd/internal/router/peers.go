package router

import (
	"sync/atomic"
	"time"

	"github.com/ipsecd/ipsecd/bgp"
)

// peerPoll asks a Source for its neighbours now and then. A Source that is busy
// with a large table may take seconds to answer, for which a lost tunnel must
// not wait.
type peerPoll struct {
	source Source
	state  atomic.Pointer[[]bgp.PeerStatus]
	kick   chan struct{}
	done   chan struct{}
}

func pollPeers(s Source) *peerPoll {
	p := &peerPoll{source: s, kick: make(chan struct{}, 1), done: make(chan struct{})}
	go p.run()
	return p
}

func (p *peerPoll) run() {
	t := time.NewTicker(peerInterval)
	defer t.Stop()
	for {
		peers := p.source.Peers()
		p.state.Store(&peers)
		select {
		case <-p.done:
			return
		case <-p.kick:
		case <-t.C:
		}
	}
}

// soon asks for a new answer without waiting for it.
func (p *peerPoll) soon() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// latest is the last answer, nil before the first.
func (p *peerPoll) latest() []bgp.PeerStatus {
	if s := p.state.Load(); s != nil {
		return *s
	}
	return nil
}

func (p *peerPoll) stop() { close(p.done) }
