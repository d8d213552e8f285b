package suite

import (
	"crypto/ecdh"
	"io"
)

// curve is a group of crypto/ecdh. Lengths are in octets.
type curve struct {
	curve   ecdh.Curve
	private int
	topMask byte // for the first octet of the private key, where the order has no whole number of octets
	public  int
	prefix  []byte // what crypto/ecdh has before the public value and IKE has not
}

// uncompressed is SEC 1's mark of a point x | y; RFC 5903 section 7 has x | y alone.
var uncompressed = []byte{4}

var curves = map[uint16]curve{
	KEECP256: {ecdh.P256(), 32, 0xff, 64, uncompressed},
	KEECP384: {ecdh.P384(), 48, 0xff, 96, uncompressed},
	KEECP521: {ecdh.P521(), 66, 0x01, 132, uncompressed},
	KEX25519: {ecdh.X25519(), 32, 0xff, 32, nil}, // RFC 8031, 2: as RFC 7748 has it
}

type ecdhExchange struct {
	group uint16
	key   *ecdh.PrivateKey
	pub   []byte
}

// maxDraws bounds the search for a private key below the order of the group. One draw fails with a probability of at most
// 2^-32 (P-256), so that only a broken source of randomness needs this many.
const maxDraws = 16

func newECDH(group uint16, rand io.Reader) (KeyExchange, error) {
	c := curves[group]
	// The key is drawn here, not by GenerateKey, which does not take its randomness from rand.
	seed := make([]byte, c.private)
	defer clear(seed)
	var lastErr error
	for range maxDraws {
		if _, err := io.ReadFull(rand, seed); err != nil {
			return nil, err
		}
		seed[0] &= c.topMask
		key, err := c.curve.NewPrivateKey(seed)
		if err == nil {
			return &ecdhExchange{group, key, key.PublicKey().Bytes()[len(c.prefix):]}, nil
		}
		lastErr = err
	}
	return nil, lastErr
}

func (e *ecdhExchange) Group() uint16  { return e.group }
func (e *ecdhExchange) Public() []byte { return e.pub }

// Shared returns the x coordinate (RFC 5903, 7) or the X25519 output (RFC 8031, 2.2).
func (e *ecdhExchange) Shared(peer []byte) (Key, error) {
	if err := checkLen(e.group, peer, PublicLen(e.group)); err != nil {
		return Key{}, err
	}
	c := curves[e.group]
	// RFC 6989, 2.3: the point must lie on the curve, which NewPublicKey checks.
	pub, err := c.curve.NewPublicKey(append(append([]byte(nil), c.prefix...), peer...))
	if err != nil {
		return Key{}, unusable(e.group, "not a point on the curve")
	}
	// RFC 8031, 2.3: an all-zero X25519 result is refused, which ECDH does.
	shared, err := e.key.ECDH(pub)
	if err != nil {
		return Key{}, unusable(e.group, "a point of small order")
	}
	return NewKey(shared), nil
}
