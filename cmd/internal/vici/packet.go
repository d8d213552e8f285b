package vici

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The packet types.
const (
	cmdRequest      = 0
	cmdResponse     = 1
	cmdUnknown      = 2
	eventRegister   = 3
	eventUnregister = 4
	eventConfirm    = 5
	eventUnknown    = 6
	eventPacket     = 7
)

// maxSegment is the largest packet, as strongSwan's clients have it.
const maxSegment = 512 * 1024

// packet is one packet of the protocol; name is empty where the type has none.
type packet struct {
	kind byte
	name string
	body []byte
}

func named(kind byte) bool {
	switch kind {
	case cmdRequest, eventRegister, eventUnregister, eventPacket:
		return true
	}
	return false
}

// append encodes the packet with its length.
func (p packet) append(b []byte) ([]byte, error) {
	n := 1 + len(p.body)
	if named(p.kind) {
		n += 1 + len(p.name)
	}
	if n > maxSegment {
		return b, fmt.Errorf("vici: packet %q of %d octets, the limit is %d", p.name, n, maxSegment)
	}
	b = append(binary.BigEndian.AppendUint32(b, uint32(n)), p.kind)
	if named(p.kind) {
		b = append(append(b, byte(len(p.name))), p.name...)
	}
	return append(b, p.body...), nil
}

// readPacket reads one segment. An oversized one is an error that ends the
// connection; what cannot be decoded is returned as errPacket.
func readPacket(r io.Reader) (packet, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return packet{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxSegment {
		return packet{}, fmt.Errorf("vici: segment of %d octets, the limit is %d", n, maxSegment)
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return packet{}, err
	}
	if len(data) != int(n) {
		return packet{}, io.ErrUnexpectedEOF
	}
	return parsePacket(data)
}

// packetError is a segment that could not be decoded; the next one may be fine.
type packetError struct{ text string }

func (e packetError) Error() string { return "vici: " + e.text }

func parsePacket(data []byte) (packet, error) {
	if len(data) == 0 {
		return packet{}, packetError{"empty segment"}
	}
	p := packet{kind: data[0]}
	data = data[1:]
	if p.kind > eventPacket {
		return packet{}, packetError{fmt.Sprintf("packet of unknown type %d", p.kind)}
	}
	if named(p.kind) {
		if len(data) == 0 || data[0] == 0 || len(data) < 1+int(data[0]) {
			return packet{}, packetError{"packet ends within its name"}
		}
		end := 1 + int(data[0])
		p.name, data = string(data[1:end]), data[end:]
	}
	p.body = data
	return p, nil
}
