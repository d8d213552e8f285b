package suite

import (
	"io"

	"github.com/cloudflare/circl/dh/x448"
)

const x448Len = x448.Size

type x448Exchange struct {
	secret, public x448.Key
}

func newX448(rand io.Reader) (KeyExchange, error) {
	e := &x448Exchange{}
	if _, err := io.ReadFull(rand, e.secret[:]); err != nil {
		return nil, err
	}
	x448.KeyGen(&e.public, &e.secret)
	return e, nil
}

func (e *x448Exchange) Group() uint16  { return KEX448 }
func (e *x448Exchange) Public() []byte { return e.public[:] }

func (e *x448Exchange) Shared(peer []byte) (Key, error) {
	if err := checkLen(KEX448, peer, PublicLen(KEX448)); err != nil {
		return Key{}, err
	}
	var shared x448.Key
	pub := x448.Key(peer)
	// RFC 8031, 2.3: an all-zero result is refused; Shared reports false for it.
	if !x448.Shared(&shared, &e.secret, &pub) {
		return Key{}, unusable(KEX448, "a point of small order")
	}
	return NewKey(shared[:]), nil
}
