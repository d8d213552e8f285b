package wire

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
)

// Delete is a Delete payload (RFC 7296 section 3.11). For ProtocolIKE, which
// means the SA that the message runs under, there are no SPIs. For ProtocolESP
// and ProtocolAH they are the SPIs that the sender expects in inbound packets.
type Delete struct {
	Protocol ProtocolID
	SPIs     []ChildSPI
}

// Type returns PayloadDelete.
func (p *Delete) Type() PayloadType { return PayloadDelete }

func (p *Delete) appendBody(dst []byte) ([]byte, error) {
	if len(p.SPIs) > 0xffff {
		return dst, ErrTooLong
	}
	size := byte(childSPISize)
	if p.Protocol == ProtocolIKE {
		if len(p.SPIs) != 0 {
			return dst, fmt.Errorf("%d SPIs of IKE SAs, which have none here", len(p.SPIs))
		}
		size = 0
	}
	dst = append(dst, byte(p.Protocol), size)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(p.SPIs)))
	for _, spi := range p.SPIs {
		dst = binary.BigEndian.AppendUint32(dst, uint32(spi))
	}
	return dst, nil
}

func parseDelete(s cryptobyte.String) (*Delete, error) {
	p := new(Delete)
	var (
		size  uint8
		count uint16
	)
	if !s.ReadUint8((*uint8)(&p.Protocol)) || !s.ReadUint8(&size) || !s.ReadUint16(&count) {
		return nil, malformed("no room for the number of SPIs")
	}
	// RFC 7296 section 3.11: SPI size 0 for IKE, 4 for ESP and AH. A count beside
	// size 0 means nothing and is ignored.
	want := childSPISize
	if p.Protocol == ProtocolIKE {
		want, count = 0, 0
	}
	if int(size) != want {
		return nil, malformed("SPI size %d for %v, want %d", size, p.Protocol, want)
	}
	if len(s) != int(count)*childSPISize {
		return nil, malformed("%d SPIs of %d octets in %d octets", count, size, len(s))
	}
	if count > 0 {
		p.SPIs = make([]ChildSPI, count)
	}
	for i := range p.SPIs {
		if !s.ReadUint32((*uint32)(&p.SPIs[i])) {
			return nil, malformed("SPI %d is cut off", i+1)
		}
	}
	return p, nil
}
