package daemon

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/wire"
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

// A flood that the engine does not keep up with leaves the sockets of strangers empty once it has ended, so
// that who comes then is in the queue.
func TestRequestAfterAFloodIsQueued(t *testing.T) {
	free, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := free.LocalAddr().(*net.UDPAddr)
	free.Close()
	peers, err := openSocket(uint16(to.Port), false, false)
	if err != nil {
		t.Fatal(err)
	}
	strangers, err := peers.openStrangers()
	if err != nil {
		t.Fatal(err)
	}
	socks := &sockets{list: []*socket{peers, strangers}}
	defer socks.close()
	in := newIntake()
	socks.receive(t.Context(), in, func(netip.Addr) bool { return false })

	from, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	send := func(spi wire.SPI) {
		t.Helper()
		data, err := wire.AppendMessage(nil, wire.Header{InitiatorSPI: spi, Exchange: wire.ExchangeSAInit, Flags: wire.FlagInitiator})
		if err == nil {
			_, err = from.WriteTo(data, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const flood, late = 20_000, 77_777
	for i := range wire.SPI(flood) {
		send(i + 1)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		drops, err := socketDrops(uint16(to.Port))
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the socket of strangers is not emptied: of %d requests the kernel dropped %d, the queue %d (%v)", flood, drops, in.strangers.dropped(), err)
		}
		if drops+in.strangers.dropped()+strangerQueue == flood {
			break
		}
		time.Sleep(time.Millisecond)
	}
	send(late)
	for {
		select {
		case <-in.strangers.ready:
		case <-time.After(time.Minute):
			t.Fatal("the request after the flood was lost")
		}
		if p, ok := in.strangers.take(); ok && binary.BigEndian.Uint64(p.Data) == late {
			return
		}
	}
}
