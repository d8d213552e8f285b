package ike

import (
	"encoding/binary"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// idSource counts what must be unique in an engine.
type idSource struct {
	ike, child, reqid uint32
	mark, ifID        uint32
	job               uint64
}

// Bounds of what we choose.
const (
	indexMask   = 0x0f // low bits of an SPI that name the engine
	minESPSPI   = 256  // below is reserved (RFC 4303 section 2.1)
	nonceLength = 32   // RFC 7296 section 2.10: at least half the key of any PRF here
)

// newIKESPI chooses an SPI for an IKE SA: unpredictable, nonzero, unique.
func (e *Engine) newIKESPI() wire.SPI {
	for {
		var b [8]byte
		e.random(b[:])
		spi := wire.SPI(binary.BigEndian.Uint64(b[:])&^indexMask | uint64(e.index))
		_, used := e.sas[spi]
		if !used && !e.ghosts.has(spi) && spi>>4 != 0 {
			return spi
		}
	}
}

// newChildSPI chooses an inbound SPI for a CHILD_SA.
func (e *Engine) newChildSPI() uint32 {
	for {
		var b [4]byte
		e.random(b[:])
		spi := binary.BigEndian.Uint32(b[:])&^indexMask | uint32(e.index)
		if _, used := e.childSPI[spi]; !used && spi >= minESPSPI {
			return spi
		}
	}
}

func (e *Engine) newNonce() []byte {
	n := make([]byte, nonceLength)
	e.random(n)
	return n
}

// jitter returns a random duration in [0, most).
func (e *Engine) jitter(most time.Duration) time.Duration {
	return time.Duration(e.below(uint64(max(most, 0))))
}

// below returns a random number in [0, n), and 0 for n = 0.
func (e *Engine) below(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	var b [8]byte
	e.random(b[:])
	return binary.BigEndian.Uint64(b[:]) % n
}
