package ike

import (
	"crypto/sha256"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// ghost is what is left of an IKE SA that ended with an answer of ours: that
// answer, for the peer that did not get it and asks again. It has no keys.
type ghost struct {
	spi      wire.SPI
	last     packetHash
	response [][]byte
	until    time.Time
}

// ghosts are kept in the order of their end, all equally long.
type ghosts struct {
	bySPI map[wire.SPI]*ghost
	order []*ghost
	timer timer
}

func (g *ghosts) init() { g.bySPI = map[wire.SPI]*ghost{} }

func (g *ghosts) has(spi wire.SPI) bool { return g.bySPI[spi] != nil }

// keep remembers the last answer of an SA that is about to be destroyed.
func (g *ghosts) keep(e *Engine, sa *ikeSA) {
	if sa.in.response == nil || len(g.order) >= e.cfg.Limits.HalfOpenTotal {
		return
	}
	h := &ghost{
		spi: sa.ourSPI(), last: sa.in.last, response: sa.in.response, until: e.now.Add(ghostTime),
	}
	g.bySPI[h.spi] = h
	g.order = append(g.order, h)
	if len(g.order) == 1 {
		e.timers.set(&g.timer, g, timerGhosts, h.until)
	}
}

// answer repeats the answer to a retransmitted request.
func (g *ghosts) answer(e *Engine, spi wire.SPI, p Packet) bool {
	h := g.bySPI[spi]
	if h == nil || packetHash(sha256.Sum256(p.Data)) != h.last {
		return false
	}
	e.counters.DuplicateRequest++
	for _, data := range h.response {
		e.do(Send{Packet: Packet{Local: p.Local, Remote: p.Remote, NATT: p.NATT, Data: append([]byte(nil), data...)}})
	}
	return true
}

// timeout forgets those that are old enough.
func (g *ghosts) timeout(e *Engine, _ timerKind) {
	for len(g.order) > 0 && !g.order[0].until.After(e.now) {
		delete(g.bySPI, g.order[0].spi)
		g.order[0] = nil
		g.order = g.order[1:]
	}
	if len(g.order) > 0 {
		e.timers.set(&g.timer, g, timerGhosts, g.order[0].until)
	}
}
