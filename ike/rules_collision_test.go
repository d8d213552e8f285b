package ike

import (
	"bytes"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// TestLowestNonceLoses: of two rekeys at once the one with the lowest of the four nonces loses (RFC 7296 section
// 2.8.1). Two ends that both had it the other way round would agree with each other, and with nobody else.
func TestLowestNonceLoses(t *testing.T) {
	for _, whole := range []bool{false, true} {
		p := established(t)
		seen := map[uint64][]byte{} // the lower nonce of each exchange, by the SPI of what it made
		look := func() {
			for _, sa := range p.a.e.sorted() {
				if whole && sa.nonceMin != nil {
					seen[uint64(sa.spiI)] = sa.nonceMin
				}
				for _, c := range sa.children {
					if !whole {
						seen[uint64(c.info.SPIIn)] = c.nonceMin
					}
				}
			}
		}
		look()
		var before uint64
		for before = range seen {
		}
		p.lose = func(*host, Packet) bool { look(); return false }
		p.delays = func() []time.Duration { return []time.Duration{time.Second} }
		for _, h := range []*host{p.a, p.b} {
			if whole {
				h.event(Rekey{Connection: "gw"})
			} else {
				h.event(Rekey{Child: "net"})
			}
		}
		p.run(time.Minute)
		p.wantUp(t)
		survivor := uint64(p.a.e.sorted()[0].spiI)
		if !whole {
			survivor = uint64(p.a.e.sorted()[0].children[0].info.SPIIn)
		}
		delete(seen, before)
		if len(seen) != 2 || seen[survivor] == nil {
			t.Fatalf("IKE SA %v: %d new SAs were seen, want those of two exchanges\n%s", whole, len(seen), p.history())
		}
		for spi, nonce := range seen {
			if spi != survivor && bytes.Compare(nonce, seen[survivor]) > 0 {
				t.Errorf("IKE SA %v: that with the lower nonce survives", whole)
			}
		}
	}
}

// TestCrossingDeletesAreAnsweredEmpty: who is asked to delete what it is deleting itself does not name its half in the answer (RFC
// 7296 section 1.4.1).
func TestCrossingDeletesAreAnsweredEmpty(t *testing.T) {
	p := established(t)
	open := map[*host]wire.AEAD{p.a: p.b.e.sorted()[0].open, p.b: p.a.e.sorted()[0].open}
	answers := 0
	p.delays = func() []time.Duration { return []time.Duration{time.Second} }
	p.lose = func(from *host, k Packet) bool {
		m, err := wire.ParseMessage(bytes.Clone(k.Data), wireLimits)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := wire.Open(nil, m.Encrypted, open[from])
		if err != nil {
			t.Fatal(err)
		}
		if m.IsResponse() {
			answers++
			if len(plain) != 0 {
				t.Errorf("%s answers with %x", from.name, plain)
			}
		}
		return false
	}
	p.a.event(Terminate{Child: "net"})
	p.b.event(Terminate{Child: "net"})
	p.run(10 * time.Second)
	if answers != 2 || len(p.a.kernel)+len(p.b.kernel) != 0 {
		t.Errorf("%d answers; %d and %d CHILD_SAs are left", answers, len(p.a.kernel), len(p.b.kernel))
	}
}
