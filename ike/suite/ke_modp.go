package suite

import (
	"encoding/hex"
	"errors"
	"io"
	"sync"

	"filippo.io/bigmod"
)

// modpGroup is a group of integers modulo a safe prime with generator 2 (RFC 2409, RFC 3526).
type modpGroup struct {
	id       uint16
	prime    string // hexadecimal
	exponent int    // length of the private exponent in octets
}

// The exponents are as long as the larger estimate in RFC 3526, 8 asks for (twice the group's strength), which saves most of
// the time of one as long as the prime. 1024 bits, which that table lacks, takes what 1536 bits take.
var modpGroups = map[uint16]modpGroup{
	KEMODP1024: {KEMODP1024, modp1024, 256 / 8},
	KEMODP1536: {KEMODP1536, modp1536, 256 / 8},
	KEMODP2048: {KEMODP2048, modp2048, 320 / 8},
	KEMODP3072: {KEMODP3072, modp3072, 424 / 8},
	KEMODP4096: {KEMODP4096, modp4096, 480 / 8},
	KEMODP6144: {KEMODP6144, modp6144, 544 / 8},
	KEMODP8192: {KEMODP8192, modp8192, 624 / 8},
}

// moduli keeps what is precomputed of a prime, by group.
var moduli sync.Map

func (g modpGroup) modulus() *bigmod.Modulus {
	if m, ok := moduli.Load(g.id); ok {
		return m.(*bigmod.Modulus)
	}
	b, err := hex.DecodeString(g.prime)
	if err != nil {
		panic(err) // the primes are constants
	}
	m, err := bigmod.NewModulus(b)
	if err != nil {
		panic(err)
	}
	moduli.Store(g.id, m)
	return m
}

type modpExchange struct {
	group    modpGroup
	exponent Key
	public   []byte
}

func newMODP(g modpGroup, rand io.Reader) (KeyExchange, error) {
	m := g.modulus()
	x := make([]byte, g.exponent)
	if _, err := io.ReadFull(rand, x); err != nil {
		return nil, err
	}
	two, err := bigmod.NewNat().SetBytes([]byte{2}, m)
	if err != nil {
		return nil, err
	}
	public := bigmod.NewNat().Exp(two, x, m)
	if public.IsOne() == 1 {
		return nil, errors.New("random source returned nothing but zeros")
	}
	return &modpExchange{g, NewKey(x), public.Bytes(m)}, nil
}

func (e *modpExchange) Group() uint16  { return e.group.id }
func (e *modpExchange) Public() []byte { return e.public }

// Shared returns g^ir padded to the length of the modulus (RFC 7296, 2.14).
func (e *modpExchange) Shared(peer []byte) (Key, error) {
	if err := checkLen(e.group.id, peer, PublicLen(e.group.id)); err != nil {
		return Key{}, err
	}
	// RFC 6989, 2.1: 1 < r < p-1, which for safe primes is all there is to check.
	m := e.group.modulus()
	r, err := bigmod.NewNat().SetBytes(peer, m)
	if err != nil {
		return Key{}, unusable(e.group.id, "not below the modulus")
	}
	if r.IsZero()|r.IsOne()|r.IsMinusOne(m) == 1 {
		return Key{}, unusable(e.group.id, "0, 1 or p-1")
	}
	return NewKey(bigmod.NewNat().Exp(r, e.exponent.Bytes(), m).Bytes(m)), nil
}
