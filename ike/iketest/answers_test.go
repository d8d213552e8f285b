package iketest

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// TestSpoiledInitAnswer: whatever somebody makes of the responder's first answer under way, the attempt succeeds
// as long as the right one comes before IKE_AUTH is answered, and if it comes later the next does: the initiator keeps several until one turns
// out to be the peer's (RFC 7296 sections 2.4 and 2.21.1).
func TestSpoiledInitAnswer(t *testing.T) {
	for _, late := range []time.Duration{time.Millisecond, 12 * time.Millisecond, 5 * time.Second} {
		for at := 0; ; at += 3 {
			p := NewPair(1, persist)
			length := 0
			p.Fate = func(m *Message) Fate {
				if m.N != 2 {
					return Fate{}
				}
				// The spoiled answer overtakes the right one.
				length = len(m.Data)
				spoiled := slices.Clone(m.Data)
				spoiled[min(at, length-1)] ^= 0x10
				p.After(5*time.Millisecond, func() { p.A.Spoof(netip.AddrPortFrom(EndB.Addr, 500), 500, spoiled) })
				return Fate{Delay: late}
			}
			p.initiated()
			if p.Err() != nil || p.Agree() != nil {
				failRun(t, p.Net, "octet %d changed, the right answer %v later: %v %v", at, late, p.Err(), p.Agree())
			}
			if n := p.A.Failures(); len(n) > 0 && late < time.Second {
				failRun(t, p.Net, "octet %d changed, the right answer %v later: the first attempt failed", at, late)
			}
			if at >= length {
				break
			}
		}
	}
}

// TestForgedInitAnswers: somebody on the path answers IKE_SA_INIT first, with a key exchange of its own, and the peer after it.
func TestForgedInitAnswers(t *testing.T) {
	for copies := 1; copies <= 3; copies++ {
		p := NewPair(1, persist)
		p.Fate = func(m *Message) Fate {
			if m.N != 2 {
				return Fate{}
			}
			msg, err := wire.ParseMessage(m.Data, wire.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range copies {
				h := msg.Header
				h.ResponderSPI += wire.SPI(16 * (i + 1))
				forged, err := wire.AppendMessage(nil, h, msg.Payloads...)
				if err != nil {
					t.Fatal(err)
				}
				p.After(time.Duration(i)*time.Millisecond, func() { p.A.Spoof(netip.AddrPortFrom(EndB.Addr, 500), 500, forged) })
			}
			return Fate{}
		}
		p.initiated()
		agree(t, p)
		if n := p.A.Failures(); len(n) > 0 {
			failRun(t, p.Net, "%d forged answers made the first attempt fail", copies)
		}
	}
}

// initiated lets A set up and all come to rest.
func (p *Pair) initiated() {
	p.A.Initiate()
	p.RunFor(settleTime)
}
