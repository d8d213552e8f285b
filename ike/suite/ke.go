package suite

import (
	"fmt"
	"io"
)

// KeyExchange is our half of one key exchange: an ephemeral key pair of a Diffie-Hellman group or of a KEM. Creating one and
// calling Shared is the heavy work of IKE: both are safe to do on another goroutine, one at a time.
type KeyExchange interface {
	// Group returns the transform ID.
	Group() uint16
	// Public returns the Key Exchange Data to send (RFC 7296, 3.4). The caller must not change it.
	Public() []byte
	// Shared computes the shared secret from the peer's Key Exchange Data. The data is checked as RFC 6989 asks; an
	// error means that the peer's value is unusable, and says why.
	Shared(peer []byte) (Key, error)
}

// NewKE makes a key pair of the group with randomness from rand. An error means an unknown group or a failing rand.
func NewKE(group uint16, rand io.Reader) (KeyExchange, error) {
	switch group {
	case KEX448:
		return newX448(rand)
	case KEX25519, KEECP256, KEECP384, KEECP521:
		return newECDH(group, rand)
	}
	if g, ok := modpGroups[group]; ok {
		return newMODP(g, rand)
	}
	if _, ok := kems[group]; ok {
		return newKEM(group, rand)
	}
	return nil, fmt.Errorf("%s is not implemented", Transform{Type: KE, ID: group})
}

// AnswerKE is the responder's whole part: from the initiator's Key Exchange Data it makes our half, for its Public, and the shared
// secret. Errors are those of NewKE and Shared.
func AnswerKE(group uint16, rand io.Reader, peer []byte) (KeyExchange, Key, error) {
	if _, ok := kems[group]; ok {
		return answerKEM(group, rand, peer)
	}
	ke, err := NewKE(group, rand)
	if err != nil {
		return nil, Key{}, err
	}
	shared, err := ke.Shared(peer)
	return ke, shared, err
}

// PublicLen returns the length in octets of the initiator's Key Exchange Data, 0 for groups unknown here.
func PublicLen(group uint16) int {
	if c, ok := curves[group]; ok {
		return c.public
	}
	if g, ok := modpGroups[group]; ok {
		return len(g.prime) / 2
	}
	if k, ok := kems[group]; ok {
		return k.public
	}
	if group == KEX448 {
		return x448Len
	}
	return 0
}

// checkLen refuses Key Exchange Data of a wrong length. RFC 7296 3.4 fixes it: leading zeros must be there.
func checkLen(group uint16, peer []byte, want int) error {
	if len(peer) != want {
		return fmt.Errorf("peer's public value for %s has %d octets instead of %d", Transform{Type: KE, ID: group}, len(peer), want)
	}
	return nil
}

func unusable(group uint16, why string) error {
	return fmt.Errorf("peer's public value for %s is unusable: %s", Transform{Type: KE, ID: group}, why)
}
