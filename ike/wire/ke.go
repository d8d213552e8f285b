package wire

import (
	"encoding/binary"

	"golang.org/x/crypto/cryptobyte"
)

// KeyExchange is a Key Exchange payload (RFC 7296 section 3.4).
type KeyExchange struct {
	Method uint16 // Transform ID of type TransformKE, such as 19 for a 256-bit random ECP group
	Data   []byte // public value, its length not verified
}

// Type returns PayloadKeyExchange.
func (p *KeyExchange) Type() PayloadType { return PayloadKeyExchange }

func (p *KeyExchange) appendBody(dst []byte) ([]byte, error) {
	dst = binary.BigEndian.AppendUint16(dst, p.Method)
	return append(append(dst, 0, 0), p.Data...), nil
}

func parseKeyExchange(s cryptobyte.String) (*KeyExchange, error) {
	p := new(KeyExchange)
	if !s.ReadUint16(&p.Method) || !s.Skip(2) {
		return nil, malformed("no room for the key exchange method")
	}
	p.Data = s
	return p, nil
}
