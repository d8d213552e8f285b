package wire

import (
	"encoding/binary"
	"fmt"
)

// SPI is the Security Parameter Index of one side of an IKE SA, eight octets
// (RFC 7296 section 3.1). Zero means "not yet chosen".
type SPI uint64

// String returns 16 hexadecimal digits.
func (s SPI) String() string { return fmt.Sprintf("%016x", uint64(s)) }

// Bytes returns the eight octets as they stand in a Proposal or Notify payload.
func (s SPI) Bytes() []byte { return binary.BigEndian.AppendUint64(nil, uint64(s)) }

// ChildSPI is the Security Parameter Index of an ESP or AH SA, four octets
// (RFC 4303 section 2.1).
type ChildSPI uint32

// String returns eight hexadecimal digits.
func (s ChildSPI) String() string { return fmt.Sprintf("%08x", uint32(s)) }

// Bytes returns the four octets as they stand in a Proposal or Notify payload.
func (s ChildSPI) Bytes() []byte { return binary.BigEndian.AppendUint32(nil, uint32(s)) }

// Sizes of an SPI in octets.
const (
	ikeSPISize   = 8
	childSPISize = 4
)

// parseIKESPI reads an SPI field that names an IKE SA.
func parseIKESPI(b []byte) (SPI, bool) {
	if len(b) != ikeSPISize {
		return 0, false
	}
	return SPI(binary.BigEndian.Uint64(b)), true
}

// parseChildSPI reads an SPI field that names an ESP or AH SA.
func parseChildSPI(b []byte) (ChildSPI, bool) {
	if len(b) != childSPISize {
		return 0, false
	}
	return ChildSPI(binary.BigEndian.Uint32(b)), true
}
