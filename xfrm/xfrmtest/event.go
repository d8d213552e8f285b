package xfrmtest

import (
	"context"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// eventQueue is how many events wait for a reader; what comes after is lost.
const eventQueue = 256

type subscriber struct {
	ch   chan xfrm.Event
	lost bool
}

// Events delivers what happens from now on. A reader that falls eventQueue behind
// loses events and gets an OverrunEvent, as from the real kernel.
func (k *Kernel) Events(ctx context.Context) (<-chan xfrm.Event, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := &subscriber{ch: make(chan xfrm.Event, eventQueue)}
	k.subscribers = append(k.subscribers, s)
	context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.subscribers = slices.DeleteFunc(k.subscribers, func(o *subscriber) bool { return o == s })
		close(s.ch)
	})
	return s.ch, nil
}

// Emit delivers an event to every reader.
func (k *Kernel) Emit(ev xfrm.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.emit(ev)
}

func (k *Kernel) emit(ev xfrm.Event) {
	for _, s := range k.subscribers {
		if s.lost {
			s.lost = !s.try(xfrm.OverrunEvent{Err: unix.ENOBUFS})
		}
		if s.lost || !s.try(ev) {
			s.lost = true
		}
	}
}

func (s *subscriber) try(ev xfrm.Event) bool {
	select {
	case s.ch <- ev:
		return true
	default:
		return false
	}
}

// Overrun tells every reader that events were lost.
func (k *Kernel) Overrun() { k.Emit(xfrm.OverrunEvent{Err: unix.ENOBUFS}) }
