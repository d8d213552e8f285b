package daemon

import (
	"encoding/binary"
	"testing"

	"github.com/ipsecd/ipsecd/ike"
)

// Of more requests than there is room for, the newest are served, the oldest of them first.
func TestNewestRequestsStay(t *testing.T) {
	const room = 5
	for sent := range 3 * room {
		q := newNewest(room)
		for i := range sent {
			lost, full := q.put(ike.Packet{Data: binary.BigEndian.AppendUint32(nil, uint32(i))})
			if want := max(0, i+1-room); lost != uint64(want) || full != (i >= room) {
				t.Errorf("after %d requests, %d were lost, want %d; full: %v", i+1, lost, want, full)
			}
		}
		for i := max(0, sent-room); i < sent; i++ {
			<-q.ready
			p, ok := q.take()
			if !ok || binary.BigEndian.Uint32(p.Data) != uint32(i) {
				t.Fatalf("of %d requests, %x comes (%v), want %d", sent, p.Data, ok, i)
			}
		}
		select {
		case <-q.ready:
			t.Errorf("after all of %d requests, the queue says that there are more", sent)
		default:
		}
		if _, ok := q.take(); ok {
			t.Errorf("more than the last %d of %d requests came", room, sent)
		}
	}
}
