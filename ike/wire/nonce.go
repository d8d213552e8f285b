package wire

import (
	"fmt"

	"golang.org/x/crypto/cryptobyte"
)

// Bounds of a nonce in octets (RFC 7296 section 3.9).
const (
	MinNonce = 16
	MaxNonce = 256
)

// Nonce is a Nonce payload, Ni or Nr (RFC 7296 section 3.9).
type Nonce struct {
	Data []byte // MinNonce to MaxNonce octets
}

// Type returns PayloadNonce.
func (p *Nonce) Type() PayloadType { return PayloadNonce }

func (p *Nonce) appendBody(dst []byte) ([]byte, error) {
	if len(p.Data) < MinNonce || len(p.Data) > MaxNonce {
		return dst, fmt.Errorf("nonce of %d octets, want %d to %d", len(p.Data), MinNonce, MaxNonce)
	}
	return append(dst, p.Data...), nil
}

func parseNonce(s cryptobyte.String) (*Nonce, error) {
	if len(s) < MinNonce || len(s) > MaxNonce {
		return nil, malformed("nonce of %d octets, want %d to %d", len(s), MinNonce, MaxNonce)
	}
	return &Nonce{Data: s}, nil
}
